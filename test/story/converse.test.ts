import { afterEach, beforeEach, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import * as converseFile from "../../src/cli/commands/converse.ts";
import { run } from "../../src/cli/program.ts";
import { createMemoryTerminal } from "../../src/cli/terminal/memory-terminal.ts";
import { appV03, type Official, startOfficial } from "../support/official.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * The example of LangSmith "A2A endpoint in Agent Server": two agents talk to each other
 * (docs/dialects/langgraph.md L13).
 */

let received: { agent: string; taskId: string; contextId: string; thread: string; text: string }[];
let servers: readonly [TestServer, TestServer];
let official: Official | undefined;

const talker = (name: string): AgentDefinition => ({
  name,
  async *run({ id: taskId, contextId, thread, text, turn }, ctx) {
    received.push({ agent: name, taskId, contextId, thread, text });
    if (text.includes("ask") && turn === 1) return yield ctx.ask("What shall I ask?");
    if (text.includes("break")) return yield ctx.fail("It broke");
    if (text.includes("silence")) return;
    const count = received.filter(one => one.agent === name).length;
    yield ctx.text(`${name} `);
    yield ctx.text(`${count}`);
  },
});

beforeEach(async () => {
  received = [];
  servers = [await serve([talker("alpha")]), await serve([talker("beta")])];
});
afterEach(async () => {
  await Promise.all(servers.map(server => server.stop()));
  official?.close();
  official = undefined;
});

async function type(args: readonly string[]) {
  const terminal = createMemoryTerminal({
    tty: false,
    answers: [],
    input: "",
    cwd: "/",
    fetch,
    now: () => 0,
  });
  const code = await run(["converse", ...args], [converseFile], terminal);
  return { code, ...terminal.written };
}
const urls = (path = ""): readonly string[] =>
  servers.map((server, i) => server.url + path.replace("NAME", ["alpha", "beta"][i] as string));

it("two agents get the replies of each other, three times by default", async () => {
  const { code, out, err } = await type(urls());
  expect(code).toBe(0);
  expect(out).toBe(
    "alpha: alpha 1\nbeta: beta 1\nalpha: alpha 2\nbeta: beta 2\nalpha: alpha 3\nbeta: beta 3\n",
  );
  expect(err).toBe("--- round 1 ---\n--- round 2 ---\n--- round 3 ---\n");
  expect(received.map(({ text }) => text)).toEqual([
    "Hello! Let's have a conversation.",
    "alpha 1",
    "beta 1",
    "alpha 2",
    "beta 2",
    "alpha 3",
  ]);
});

it("a conversation has one thread, and each turn is a separate task", async () => {
  await type([...urls(), "--rounds", "2", "--opening", "Hi"]);
  expect(new Set(received.map(({ contextId }) => contextId)).size).toBe(1);
  expect(new Set(received.map(({ taskId }) => taskId)).size).toBe(4);
  const [first, ...later] = received;
  expect(first?.text).toBe("Hi");
  expect(new Set(later.map(({ thread }) => thread))).toEqual(new Set([first?.contextId]));
});

it("each agent can have another dialect", async () => {
  const [alpha] = urls("/a2a/NAME") as [string];
  official = await startOfficial(appV03);
  const { code, out } = await type([alpha, official.url, "--rounds", "1"]);
  expect({ code, out }).toEqual({ code: 0, out: "alpha: alpha 1\nofficial: You said: alpha 1\n" });
});

it("each turn is printed as a line of JSON for programs", async () => {
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

it("a question of one agent is answered by the other, in the same task", async () => {
  const { out } = await type([...urls(), "--rounds", "2", "--opening", "ask"]);
  expect(out).toBe("alpha: What shall I ask?\nbeta: What shall I ask?\nalpha: alpha 2\nbeta: beta 2\n");
  expect([received[2]?.taskId, received[3]?.taskId]).toEqual([received[0]?.taskId, received[1]?.taskId]);
});

it("a conversation ends when one agent fails, or replies without text", async () => {
  const failed = await type([...urls(), "--opening", "break"]);
  expect([failed.code, failed.err]).toEqual([3, "--- round 1 ---\nalpha failed: It broke\n"]);
  const silent = await type([...urls(), "--opening", "silence"]);
  expect([silent.code, silent.err]).toEqual([
    1,
    "--- round 1 ---\nerror: The response of alpha has no text for the other agent\n",
  ]);
});
