import { execFile, execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { langgraph } from "../../src/runtime/langgraph/index.ts";
import { toUuid } from "../../src/server/catalog.ts";
import { langgraphParams, langgraphResult } from "../support/langgraph.ts";
import { serve, type TestServer } from "../support/server.ts";
import { partsText } from "../support/wire.ts";

/** The programs of LangSmith "A2A endpoint in Agent Server": two agents on two servers talk to each other. */

interface ReceivedMessage {
  readonly agent: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly thread: string;
}

let received: ReceivedMessage[];
let servers: readonly [TestServer, TestServer];
const IDS = [toUuid("alpha"), toUuid("beta")] as const;

/** Sends the number of its turn in the context, and the message that it received. */
const talker = (name: string): AgentDefinition => ({
  name,
  async run({ id: taskId, contextId, thread, text }, ctx) {
    received.push({ agent: name, taskId, contextId, thread });
    const turn = 1 + (await ctx.history).filter(one => one.role === "user").length;
    return `${name} ${turn} after ${text.split(" ").slice(0, 2).join(" ")}`;
  },
});

/** The same as a graph, with the state of the agent in the document: a list of plain messages. */
function graphTalker(name: string): AgentDefinition {
  type Plain = { readonly role: string; readonly content: string };
  const graph = new StateGraph(
    Annotation.Root({ messages: Annotation<Plain[]>({ reducer: (a, b) => [...a, ...b] }) }),
  )
    .addNode("call_model", ({ messages }, { configurable, metadata }: RunnableConfig) => {
      const { a2a_task_id: taskId, thread_id: thread } = metadata as Record<string, string>;
      received.push({ agent: name, taskId, contextId: configurable?.thread_id, thread } as ReceivedMessage);
      const userMessages = messages.filter(one => one.role === "user");
      const content = `${name} ${userMessages.length} after ${userMessages.at(-1)?.content.split(" ").slice(0, 2).join(" ")}`;
      return { messages: [{ role: "assistant", content }] };
    })
    .addEdge(START, "call_model")
    .compile();
  return langgraph(graph, { name });
}

const KINDS = [
  ["functions", talker],
  ["LangGraph graphs", graphTalker],
] as const;
let make: (name: string) => AgentDefinition;

beforeEach(async () => {
  received = [];
  servers = [await serve([make("alpha")]), await serve([make("beta")])];
});
afterEach(() => Promise.all(servers.map(server => server.stop())));

const expectedTexts = (opening: string): readonly string[] => [
  `alpha 1 after ${opening}`,
  "beta 1 after alpha 1",
  "alpha 2 after beta 1",
  "beta 2 after alpha 2",
  "alpha 3 after beta 2",
  "beta 3 after alpha 3",
];

/** Six turns in one context, each a separate task, although every call named the previous task. */
function expectOneConversation(): void {
  expect(received.map(({ agent }) => agent)).toEqual(["alpha", "beta", "alpha", "beta", "alpha", "beta"]);
  expect(new Set(received.map(({ contextId }) => contextId)).size).toBe(1);
  expect(new Set(received.map(({ taskId }) => taskId)).size).toBe(6);
}

/** The thread of the first turn names the context of both agents (L26). */
function expectSharedThread(): void {
  const [first] = received as [ReceivedMessage, ...ReceivedMessage[]];
  expect(first.thread).toMatch(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/);
  expect(first.thread).toBe(first.contextId);
  expect(new Set(received.map(({ thread }) => thread))).toEqual(new Set([first.contextId]));
}

// ---- in TypeScript -------------------------------------------------------------------------------------------

const urlOf = (at: 0 | 1): string => `${servers[at].url}/a2a/${IDS[at]}`;

async function converse(opening: string, beside: (contextId: string | undefined) => Record<string, unknown>) {
  const lines: string[] = [];
  let message = opening;
  let ids: { contextId?: string; taskId?: string } = {};
  for (const at of [0, 1, 0, 1, 0, 1] as const) {
    const task = await langgraphResult(
      urlOf(at),
      "message/send",
      langgraphParams(message, ids),
      beside(ids.contextId),
    );
    ids = { contextId: task.contextId, taskId: task.id };
    message = partsText(task.artifacts[0].parts);
    lines.push(message);
  }
  return lines;
}

describe.each(KINDS)("%s, called from TypeScript", (_what, kind) => {
  beforeAll(() => {
    make = kind;
  });

  it("two agents talk for three rounds, each with the contextId and taskId that the other one returned", async () => {
    expect(await converse("Hello! Let's have a conversation.", () => ({}))).toEqual(
      expectedTexts("Hello! Let's"),
    );
    expectOneConversation();
  });

  it("two agents share a thread_id, which is the contextId as soon as there is one", async () => {
    const thread = randomUUID();
    const beside = (contextId: string | undefined) => ({ metadata: { thread_id: contextId ?? thread } });
    expect(await converse("Hello! Let's collaborate.", beside)).toEqual(expectedTexts("Hello! Let's"));
    expectOneConversation();
    expectSharedThread();
  });
});

// ---- the programs themselves ---------------------------------------------------------------------------------

const NO_PYTHON =
  "no python3 here knows aiohttp (apt-get install python3-aiohttp): the programs of the document were not run";

const python = ["python3", "/usr/bin/python3"].find(command => {
  try {
    execFileSync(command, ["-c", "import aiohttp"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
});

/** Runs a program of the document, unchanged except for ports and ids, and returns its output. */
async function run(name: string): Promise<string> {
  const program = readFileSync(new URL(`../support/python/${name}.py`, import.meta.url), "utf8")
    // In one pass: a port of ours may have the digits of another one.
    .replace(/2024|2025/g, port => new URL(servers[port === "2024" ? 0 : 1].url).port)
    .replace("<agent_a_assistant_id>", IDS[0])
    .replace("<agent_b_assistant_id>", IDS[1]);
  const env = { ...process.env, AGENT_A_ID: IDS[0], AGENT_B_ID: IDS[1], PYTHONIOENCODING: "utf-8" };
  const { stdout } = await promisify(execFile)(python as string, ["-c", program], { env, timeout: 120_000 });
  return stdout;
}

describe.each(KINDS)("%s, called from Python", (_what, kind) => {
  beforeAll(() => {
    make = kind;
  });

  it("the program with two agents runs as it is printed", async ({ skip }) => {
    if (!python) skip(NO_PYTHON);
    const lines = (await run("two_agents"))
      .split("\n")
      .filter(line => line.startsWith("🔵") || line.startsWith("🔴"));
    expect(lines.map(line => line.slice("🔵 Agent A: ".length))).toEqual(expectedTexts("Hello! Let's"));
    expectOneConversation();
  });

  it("the program that shares a thread_id runs as it is printed", async ({ skip }) => {
    if (!python) skip(NO_PYTHON);
    expect(await run("shared_thread")).toBe("");
    expectOneConversation();
    expectSharedThread();
  });
});
