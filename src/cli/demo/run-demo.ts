/** The demonstration: a task streams, its server is killed and started again, and the stream continues. Checked as it goes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { updateProgress } from "../../client/progress.ts";
import { textOf } from "../../model/index.ts";
import { EXIT } from "../command.ts";
import { runInterruptible } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { openRemote, resumeStream } from "../terminal/session.ts";
import { toRemote } from "../terminal/target.ts";
import { paint, type Terminal } from "../terminal/terminal.ts";
import { formatDuration, formatTable } from "../terminal/text.ts";
import { type DemoServer, startDemoServer } from "./demo-server.ts";
import { type DialectReading, readInDialects } from "./dialects.ts";

/** Words after which the server is killed. */
const WORDS_BEFORE_KILL = 16;

interface Check {
  readonly text: string;
  readonly passed: boolean;
}

export function runDemo(terminal: Terminal, json: boolean): Promise<number> {
  const data = mkdtempSync(join(tmpdir(), "dragoman-demo-"));
  const servers: DemoServer[] = [];
  return runInterruptible(terminal, async ({ output, signal }) => {
    const shown = json ? silent(output) : output;
    const start = async (port: number): Promise<DemoServer> => {
      const server = await startDemoServer(terminal.root, data, port);
      servers.push(server);
      return server;
    };
    const story = await streamOverKill(terminal, shown, signal, start);
    const readings = await readInDialects(terminal.fetch, story.url, story);
    showReadings(terminal, shown, readings);
    const checks = check(story, readings);
    for (const { text, passed } of checks)
      shown.paintedLine(
        `  ${passed ? paint(terminal.out, "green", "✓") : paint(terminal.out, "red", "✗")} ${text}`,
      );
    const passed = checks.every(one => one.passed);
    if (json)
      output.json({ passed, taskId: story.taskId, words: story.words.length, checks: [...checks] as never });
    return passed ? EXIT.ok : EXIT.error;
  }).finally(async () => {
    for (const server of servers) await server.kill();
    rmSync(data, { recursive: true, force: true });
  });
}

interface Story {
  readonly url: string;
  readonly taskId: string;
  readonly contextId: string;
  /** In the order in which they arrived. */
  readonly words: readonly string[];
  /** The number of words before the kill. */
  readonly before: number;
}

async function streamOverKill(
  terminal: Terminal,
  output: Output,
  signal: AbortSignal,
  start: (port: number) => Promise<DemoServer>,
): Promise<Story> {
  const heading = (text: string) => output.paintedLine(paint(terminal.out, "bold", text));
  let server = await start(0);
  const { url } = server;
  heading(`1. A server (process ${server.pid}) streams an answer to a client`);
  const agent = await openRemote(terminal, toRemote(terminal, url, { agent: "story" }), output, signal);
  const message = { messageId: terminal.newId(), parts: [{ kind: "text" as const, text: "Tell me" }] };
  const session = { agent, signal, output: { ...output, note: () => undefined } };
  let progress = {} as ReturnType<typeof updateProgress>;
  let words: string[] = [];
  let before = 0;
  let restarted: Promise<void> | undefined;
  const restart = async (): Promise<void> => {
    const { pid } = server;
    await server.kill();
    output.end();
    heading(`2. kill -9 ${pid}: the process is gone, in the middle of the sentence`);
    const startedMs = terminal.sinceStartMs();
    server = await start(Number(new URL(url).port));
    const took = formatDuration(terminal.sinceStartMs() - startedMs);
    heading(`3. A new process (${server.pid}) is ready after ${took}; the client reconnects by itself`);
  };
  for await (const received of resumeStream(session, agent.stream(message, signal), "settled", {})) {
    await restarted;
    progress = updateProgress(progress, received);
    if (received.item.kind !== "artifact") continue;
    const text = textOf(received.item.artifact.parts);
    words = [...words, ...text.split(" ").filter(word => word !== "")];
    output.text(text);
    if (words.length >= WORDS_BEFORE_KILL && restarted === undefined) {
      before = words.length;
      restarted = restart();
    }
  }
  await restarted;
  output.end();
  agent.close();
  return { url, taskId: progress.taskId ?? "", contextId: progress.contextId ?? "", words, before };
}

function showReadings(terminal: Terminal, output: Output, readings: readonly DialectReading[]): void {
  output.paintedLine(paint(terminal.out, "bold", "4. The same task, read in four dialects"));
  const rows = readings.map(({ dialect, call, state, text }) => [
    dialect,
    call,
    state,
    `${text.slice(0, 24)}…`,
  ]);
  for (const line of formatTable(rows, terminal.out.tty ? terminal.out.columns - 2 : undefined))
    output.line(`  ${line}`);
}

function check({ words, before }: Story, readings: readonly DialectReading[]): readonly Check[] {
  const answer = words.join(" ");
  const expected = readings[0]?.text.trim() ?? "";
  return [
    {
      text: `the stream has all ${words.length} words, each once: ${before} before the kill, ${words.length - before} after it`,
      passed: words.length > before && before >= WORDS_BEFORE_KILL && answer === expected,
    },
    {
      text: "the task is completed, with the same text in every dialect",
      passed: readings.every(({ text, state }) => text.trim() === answer && /completed/i.test(state)),
    },
  ];
}

/** With --json only the result is printed. */
const silent = (output: Output): Output => ({ ...output, text() {}, line() {}, paintedLine() {}, note() {} });
