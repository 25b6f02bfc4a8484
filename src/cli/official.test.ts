import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { appV1, appV03, type Official, startOfficial } from "../../test/support/official.ts";
import * as callFile from "./commands/call.ts";
import * as cancelFile from "./commands/cancel.ts";
import * as cardFile from "./commands/card.ts";
import * as tailFile from "./commands/tail.ts";
import * as tasksFile from "./commands/tasks.ts";
import { run } from "./program.ts";
import { createMemoryTerminal, type MemoryTerminal } from "./terminal/memory-terminal.ts";

const COMMANDS = [callFile, tailFile, tasksFile, cancelFile, cardFile];

async function runCommand(
  args: readonly string[],
  parts: { tty?: boolean; answers?: readonly string[] } = {},
) {
  const terminal = createMemoryTerminal({
    tty: parts.tty === true,
    answers: parts.answers ?? [],
    input: "",
    cwd: "/",
    fetch,
    now: () => Date.UTC(2026, 10, 15, 12, 5),
  });
  const code = await run(args, COMMANDS, terminal);
  return { code, ...terminal.written, terminal };
}

const findTaskId = (err: string): string => /task (\S+) /.exec(err)?.[1] ?? "";

describe.each([
  ["1.3.0, which speaks v1", appV1],
  ["0.3.14, which speaks v0.3", appV03],
] as const)("against the official server %s", (_name, createApp) => {
  let official: Official;
  let url: string;

  beforeAll(async () => {
    official = await startOfficial(createApp);
    ({ url } = official);
  });
  afterAll(() => official.close());

  test("a response is streamed to standard output, and notes go to standard error", async () => {
    const { code, out, err } = await runCommand(["call", url, "good", "morning"]);
    expect(err).toMatch(/^thinking\ntask \S+ completed; read it again: dragoman tail \S+ \S+\n$/);
    expect({ code, out }).toEqual({ code: 0, out: "You said: good morning\n" });
  });

  test("without streaming the response is the same", async () => {
    const { code, out } = await runCommand(["call", url, "hi", "--no-stream"]);
    expect({ code, out }).toEqual({ code: 0, out: "You said: hi\n" });
  });

  test("data is printed as JSON and a file is described", async () => {
    const { out, err } = await runCommand(["call", url, "report"]);
    expect(out).toBe('You said: report\n{\n  "total": 3\n}\n[table.csv, text/csv, 8 bytes]\n');
    expect(err).toContain("thinking\nname of a2\nname of a3\ntask ");
  });

  test("a response may be a message without a task", async () => {
    const { code, out, err } = await runCommand(["call", url, "reply"]);
    expect({ code, out }).toEqual({ code: 0, out: "just a message\n" });
    expect(err).toMatch(/^a message, no task; context \S+\n$/);
  });

  test("a failed task prints its message and has exit code 3", async () => {
    const { code, out, err } = await runCommand(["call", url, "fail"]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/It did not work\ntask \S+ failed/);
  });

  test("with --json every response is one line, unchanged", async () => {
    const { out, err } = await runCommand(["call", url, "hi", "--json"]);
    const kinds = out
      .trimEnd()
      .split("\n")
      .map(line => JSON.parse(line) as Record<string, unknown>);
    expect(kinds.length).toBe(5);
    expect(err).toBe("");
    expect(JSON.stringify(kinds[4])).toMatch(/completed/i);
  });

  test("a question is asked on a terminal and the answer goes to the same task", async () => {
    const { code, out, terminal } = await runCommand(["call", url, "ask"], { tty: true, answers: ["four"] });
    expect(terminal.prompts).toEqual(["> "]);
    expect({ code, out }).toEqual({ code: 0, out: "For how many?\nYou said: four\n" });
  });

  test("without a terminal the question is printed with the command that answers it", async () => {
    const { code, out, err } = await runCommand(["call", url, "ask"]);
    expect({ code, out }).toEqual({ code: 4, out: "For how many?\n" });
    const [, task, context] = /--task (\S+) --context (\S+)/.exec(err) ?? [];
    expect(err).toContain(`dragoman call ${url} 'your answer' --task `);
    const answered = await runCommand([
      "call",
      url,
      "four",
      "--task",
      task ?? "",
      "--context",
      context ?? "",
    ]);
    expect(answered.out).toBe("You said: four\n");
  });

  test("the first Ctrl-C detaches, and the task can be followed and canceled", async () => {
    const [terminal, code] = await callAndDetach(url);
    expect(code).toBe(130);
    const task = /Detached: task (\S+) is still running/.exec(terminal.written.err)?.[1] ?? "";
    expect(terminal.written.err).toContain(`dragoman cancel ${url} ${task}`);
    const tail = runCommand(["tail", url, task]);
    const canceled = await runCommand(["cancel", url, task]);
    expect(canceled.out).toBe(`task ${task} canceled\n`);
    expect((await tail).code).toBe(3);
  });

  test("tail prints a task that has ended whole", async () => {
    const task = findTaskId((await runCommand(["call", url, "once more"])).err);
    const { code, out, err } = await runCommand(["tail", url, task]);
    expect({ code, out }).toEqual({ code: 0, out: "You said: once more\n" });
    expect(err).toMatch(/^user: once more\n/);
  });

  test("an unknown task is one error message", async () => {
    const { code, out, err } = await runCommand(["tail", url, "nope"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^error: http:\S+ refused \S+: .*nope.* \[-32001\]\n$/);
  });

  test("the card is printed as text or JSON", async () => {
    const { out } = await runCommand(["card", url]);
    expect(out).toMatch(/^official 1\.2\.3\nDoes what it is told\n\n {2}card +http:/);
    expect(out).toMatch(/JSONRPC +http:\S+ \((1\.0|0\.3\.0)\)/);
    expect(out).toContain("Obey: Does it\n  tags          test\n  example       report\n");
    expect(JSON.parse((await runCommand(["card", url, "--json"])).out)).toMatchObject({ name: "official" });
  });
});

/** Calls the slow agent and sends SIGINT after its first status. */
async function callAndDetach(url: string): Promise<readonly [MemoryTerminal, number]> {
  const terminal = createMemoryTerminal({
    tty: false,
    answers: [],
    input: "",
    cwd: "/",
    fetch,
    now: () => 0,
  });
  const code = run(["call", url, "slow"], COMMANDS, terminal);
  while (!terminal.written.err.includes("thinking")) await new Promise(resolve => setTimeout(resolve, 5));
  terminal.sendSignal("SIGINT");
  return [terminal, await code];
}

describe("listing tasks of the official server 1.3.0", () => {
  let official: Official;
  let url: string;

  beforeAll(async () => {
    official = await startOfficial(appV1);
    ({ url } = official);
    for (const words of ["one", "two", "ask"]) await runCommand(["call", url, words]);
  });
  afterAll(() => official.close());

  test("tasks are printed as a table", async () => {
    const { code, out } = await runCommand(["tasks", url]);
    expect(code).toBe(0);
    expect(out).toMatch(/^ID +STATE +CONTEXT +WHEN +FIRST WORDS\n/);
    expect(out).toMatch(/completed +\S+ {2}5 min ago {2}two\n/);
    expect(out.trimEnd().split("\n")).toHaveLength(4);
  });

  test("pages are read up to the limit, and the remaining tasks are counted", async () => {
    const { out, err } = await runCommand(["tasks", url, "--limit", "2"]);
    expect(out.trimEnd().split("\n")).toHaveLength(3);
    expect(err).toBe("1 more; show them with --limit 3\n");
  });

  test("tasks can be filtered by state", async () => {
    const { out } = await runCommand(["tasks", url, "--state", "input-required", "--json"]);
    expect(JSON.parse(out)).toMatchObject({ status: { state: "TASK_STATE_INPUT_REQUIRED" } });
  });
});

test("a server with only v0.3 cannot list tasks, and the error says so", async () => {
  const { url, close } = await startOfficial(appV03);
  const { code, err } = await runCommand(["tasks", url]);
  expect({ code, err }).toEqual({
    code: 1,
    err: `error: The agent at ${url}/ uses A2A 0.3, which cannot list tasks\n`,
  });
  close();
});
