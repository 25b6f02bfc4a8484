import type { Command } from "commander";
import { type AgentUpdate, type FinalUpdate, dedupe } from "../../client/dedupe.ts";
import { RemoteError } from "../../client/errors.ts";
import { CLIENT_LIMITS } from "../../client/limits.ts";
import type { RemoteAgent } from "../../client/open.ts";
import { readResumable } from "../../client/resume.ts";
import type { OutgoingMessage, ReceivedResponse } from "../../client/types.ts";
import { defined, type Json } from "../../lib/json.ts";
import { type Part, textOf } from "../../model/index.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { ClientError } from "../terminal/errors.ts";
import { createInterrupt } from "../terminal/interrupt.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { openRemote, sleep } from "../terminal/session.ts";
import { summarizeParts } from "../terminal/task-printer.ts";
import { oneLine, type Terminal } from "../terminal/terminal.ts";
import { serverOptions, toCount, toRemote, toSeconds } from "./remote-options.ts";

interface ConverseFlags {
  readonly opening: string;
  readonly rounds: number;
  readonly header?: Readonly<Record<string, string>>;
  readonly json?: boolean;
  readonly timeout?: number;
}

const EXAMPLES = `
Examples:
  dragoman converse http://127.0.0.1:2024 http://127.0.0.1:2025
  dragoman converse http://127.0.0.1:2024/a2a/alpha http://127.0.0.1:2025/a2a/beta --rounds 5
  dragoman converse agents.example/agents/poet agents.example/agents/critic --opening "A haiku about rain"

Each agent hears what the other said. The exit code is 0, or 3 if one of them failed, rejected or canceled.`;

export function define(program: Command, session: CommandContext): void {
  const command = program
    .command("converse <url> <other>")
    .description("Let two agents talk to each other, and show what they say as it arrives")
    .option("--opening <text>", "what the first one is told", "Hello! Let's have a conversation.")
    .option("--rounds <count>", "how often each of them speaks", toCount, 3);
  serverOptions(command)
    .option("--timeout <seconds>", "stop after this time", toSeconds)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, other: string, flags: ConverseFlags) => {
      session.exitCode = await converse(session.terminal, [url, other], flags);
    });
}

/** One of the two. */
interface Speaker {
  readonly agent: RemoteAgent;
  contextId?: string;
  /** Its last task. */
  taskId?: string;
  /** That task asked something: what is said next is the answer. */
  asked?: boolean;
}

interface Stage {
  readonly terminal: Terminal;
  readonly output: Output;
  readonly json: boolean;
  readonly signal: AbortSignal;
  /** Under which traces of both are grouped: the first context, as soon as there is one. */
  thread: string;
  contextId?: string;
}

async function converse(terminal: Terminal, urls: readonly string[], flags: ConverseFlags): Promise<number> {
  const { rounds, timeout, json = false } = flags;
  const interrupt = createInterrupt(terminal, timeout === undefined ? undefined : timeout * 1000);
  const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
  const { signal } = interrupt;
  const stage: Stage = { terminal, output, json, signal, thread: terminal.newId() };
  const speakers: Speaker[] = [];
  try {
    for (const url of urls)
      speakers.push({ agent: await openRemote(terminal, toRemote(url, flags), output, signal) });
    let words = flags.opening;
    for (let round = 1; round <= rounds; round++) {
      if (!json) output.note(`--- round ${round} ---`);
      for (const speaker of speakers) {
        const spoken = await speak(stage, speaker, words, round);
        if (spoken === null) return EXIT.taskFailed;
        words = spoken;
      }
    }
    return EXIT.ok;
  } catch (error) {
    if (interrupt.reason === undefined) throw error;
    return interrupt.reason === "time" ? EXIT.error : EXIT.interrupted;
  } finally {
    for (const { agent } of speakers) agent.close();
    output.end();
    interrupt.close();
  }
}

/** One turn of one speaker: what it said in words; null: it did not come to a good end. */
async function speak(stage: Stage, speaker: Speaker, words: string, round: number): Promise<string | null> {
  const { output, json } = stage;
  const name = oneLine(speaker.agent.name);
  if (!json) output.text(`${name}: `);
  output.startWaiting(`waiting for ${name}`);
  const { end, texts } = await listen(stage, speaker, words);
  const spoken = texts || textOf(end.message?.parts ?? []);
  const failed = end.state === "failed" || end.state === "rejected" || end.state === "canceled";
  if (json) output.json(toLine(speaker, round, spoken, end.state));
  else {
    if (texts === "" && end.message && !failed) output.text(spoken);
    output.end();
    if (failed) output.alert(`${name} ${end.state}${end.message ? `: ${summarizeParts(end.message.parts)}` : ""}`);
  }
  if (failed) return null;
  if (spoken === "")
    throw new ClientError(`${name} said nothing in words, so there is nothing for the other to hear`);
  return spoken;
}

const toLine = ({ agent, contextId, taskId }: Speaker, round: number, text: string, state: string): Json =>
  defined<{ [name: string]: Json }>({
    round,
    agent: agent.name,
    url: agent.endpoint.url,
    text,
    state,
    contextId,
    taskId,
  });

async function listen(
  stage: Stage,
  speaker: Speaker,
  words: string,
): Promise<{ readonly end: FinalUpdate; readonly texts: string }> {
  let texts = "";
  let end: FinalUpdate = { kind: "end", state: "unknown" };
  const { dialect } = speaker.agent.endpoint;
  for await (const heard of dedupe(remembering(stage, speaker, say(stage, speaker, words)), dialect)) {
    if (heard.kind === "end") end = heard;
    else if (heard.kind === "artifact") {
      texts += textOf(heard.artifact.parts);
      if (!stage.json) show(stage.output, heard);
    } else if (!stage.json) stage.output.note(summarizeParts(heard.message.parts));
  }
  speaker.asked = end.state === "input-required";
  return { end, texts };
}

function show(output: Output, { artifact }: AgentUpdate & { kind: "artifact" }): void {
  for (const part of artifact.parts)
    if (part.kind === "text") output.text(part.text);
    else output.note(summarizeParts([part as Part]));
}

/** What is said to the words. The context of the first speaker is offered to the second; who does not take it has its own. */
async function* say(stage: Stage, speaker: Speaker, words: string): AsyncGenerator<ReceivedResponse> {
  const offered = speaker.contextId ?? stage.contextId;
  try {
    yield* answer(stage, speaker, words, offered);
  } catch (error) {
    const isStrange = error instanceof RemoteError && speaker.contextId === undefined && offered !== undefined;
    if (!isStrange || error.kind === "unauthenticated") throw error;
    yield* answer(stage, speaker, words, undefined);
  }
}

function answer(
  { terminal, output, signal, thread }: Stage,
  { agent, taskId, asked }: Speaker,
  text: string,
  contextId: string | undefined,
): AsyncIterable<ReceivedResponse> {
  const draft = defined<Pick<OutgoingMessage, "messageId" | "parts" | "taskId" | "contextId" | "thread">>({
    messageId: terminal.newId(),
    parts: [{ kind: "text" as const, text }],
    taskId: asked ? taskId : undefined,
    contextId,
    thread,
  });
  const begin = agent.streaming ? agent.stream(draft, signal) : once(agent.send(draft, signal));
  const waitsMs = CLIENT_LIMITS.retryDelaysMs;
  return readResumable({ agent, until: "settled", delaysMs: waitsMs, signal, sleep, onRetry: output.note }, begin, {});
}

async function* once(received: Promise<ReceivedResponse>): AsyncGenerator<ReceivedResponse> {
  yield await received;
}

/** Keeps the ids by which the conversation goes on. */
async function* remembering(
  stage: Stage,
  speaker: Speaker,
  items: AsyncIterable<ReceivedResponse>,
): AsyncGenerator<ReceivedResponse> {
  for await (const received of items) {
    const { item } = received;
    const contextId =
      item.kind === "task"
        ? item.task.contextId
        : item.kind === "message"
          ? item.message.contextId
          : item.contextId;
    if (contextId) {
      speaker.contextId = contextId;
      stage.contextId ??= contextId;
      stage.thread = stage.contextId;
    }
    if (item.kind === "task") speaker.taskId = item.task.id;
    else if (item.kind !== "message") speaker.taskId = item.taskId;
    yield received;
  }
}
