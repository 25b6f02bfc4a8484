import { afterEach, beforeEach, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import * as converseFile from "../../src/cli/commands/converse.ts";
import { run } from "../../src/cli/program.ts";
import { createMemoryTerminal } from "../../src/cli/terminal/memory-terminal.ts";
import { appV03, type Official, startOfficial } from "../support/official.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The example of LangSmith "A2A endpoint in Agent Server": two agents talk to each other (docs/dialects/langgraph.md L13). */

let heard: { agent: string; taskId: string; contextId: string; thread: string; text: string }[];
let servers: readonly [TestServer, TestServer];
let official: Official | undefined;

const talker = (name: string): AgentDefinition => ({
  name,
  async *run({ id: taskId, contextId, thread, text, turn }, ctx) {
    heard.push({ agent: name, taskId, contextId, thread, text });
    if (text.includes("ask") && turn === 1) return yield ctx.ask("What shall I ask?");
    if (text.includes("break")) return yield ctx.fail("It broke");
    if (text.includes("silence")) return;
    const count = heard.filter(one => one.agent === name).length;
    yield ctx.text(`${name} `);
    yield ctx.text(`${count}`);
  },
});

beforeEach(async () => {
  heard = [];
  servers = [await serve([talker("alpha")]), await serve([talker("beta")])];
});
afterEach(async () => {
  await Promise.all(servers.map(server => server.stop()));
  official?.close();
  official = undefined;
});

async function type(words: readonly string[]) {
  const terminal = createMemoryTerminal({
    tty: false,
    answers: [],
    input: "",
    cwd: "/",
    fetch,
    now: () => 0,
  });
  const code = await run(["converse", ...words], [converseFile], terminal);
  return { code, ...terminal.written };
}
const urls = (path = ""): readonly string[] =>
  servers.map((server, i) => server.url + path.replace("NAME", ["alpha", "beta"][i] as string));

it("each hears what the other said, three times by default", async () => {
  const { code, out, err } = await type(urls());
  expect(code).toBe(0);
  expect(out).toBe(
    "alpha: alpha 1\nbeta: beta 1\nalpha: alpha 2\nbeta: beta 2\nalpha: alpha 3\nbeta: beta 3\n",
  );
  expect(err).toBe("--- round 1 ---\n--- round 2 ---\n--- round 3 ---\n");
  expect(heard.map(({ text }) => text)).toEqual([
    "Hello! Let's have a conversation.",
    "alpha 1",
    "beta 1",
    "alpha 2",
    "beta 2",
    "alpha 3",
  ]);
});

it("it is one conversation with one thread, each turn a task of its own", async () => {
  await type([...urls(), "--rounds", "2", "--opening", "Hi"]);
  expect(new Set(heard.map(({ contextId }) => contextId)).size).toBe(1);
  expect(new Set(heard.map(({ taskId }) => taskId)).size).toBe(4);
  const [first, ...later] = heard;
  expect(first?.text).toBe("Hi");
  expect(new Set(later.map(({ thread }) => thread))).toEqual(new Set([first?.contextId]));
});

it("any dialect on either side", async () => {
  const [alpha] = urls("/a2a/NAME") as [string];
  official = await startOfficial(appV03);
  const { code, out } = await type([alpha, official.url, "--rounds", "1"]);
  expect({ code, out }).toEqual({ code: 0, out: "alpha: alpha 1\nofficial: You said: alpha 1\n" });
});

it("for programs each turn is a line of JSON", async () => {
  const { out } = await type([...urls(), "--rounds", "1", "--json"]);
  const lines = out
    .trimEnd()
    .split("\n")
    .map(line => JSON.parse(line));
  expect(lines).toMatchObject([
    { round: 1, agent: "alpha", text: "alpha 1", state: "completed" },
    { round: 1, agent: "beta", text: "beta 1", state: "completed", contextId: lines[0].contextId },
  ]);
});

it("what one asks, the other answers, in the same task", async () => {
  const { out } = await type([...urls(), "--rounds", "2", "--opening", "ask"]);
  expect(out).toBe("alpha: What shall I ask?\nbeta: What shall I ask?\nalpha: alpha 2\nbeta: beta 2\n");
  expect([heard[2]?.taskId, heard[3]?.taskId]).toEqual([heard[0]?.taskId, heard[1]?.taskId]);
});

it("ends when one fails, or has no words", async () => {
  const failed = await type([...urls(), "--opening", "break"]);
  expect([failed.code, failed.err]).toEqual([3, "--- round 1 ---\nalpha failed: It broke\n"]);
  const silent = await type([...urls(), "--opening", "silence"]);
  expect([silent.code, silent.err]).toEqual([
    1,
    "--- round 1 ---\nerror: alpha said nothing in words, so there is nothing for the other to hear\n",
  ]);
});
