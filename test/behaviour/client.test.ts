import { afterEach, describe, expect, it } from "vitest";
import { parseAgentAddress } from "../../src/client/address.ts";
import { type AgentUpdate, dedupe } from "../../src/client/dedupe.ts";
import { createGrpc } from "../../src/client/grpc/index.ts";
import { type AgentAccess, openAgent, type RemoteAgent } from "../../src/client/open.ts";
import {
  CLIENT_BINDINGS,
  DIALECT_NAMES,
  type DialectName,
  type ProtocolBinding,
} from "../../src/client/protocols.ts";
import { readResumable } from "../../src/client/resume.ts";
import type { OutgoingMessage } from "../../src/client/types.ts";
import { textOf } from "../../src/model/index.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The client of this server against this server: each dialect over each of its transports. */

let gate: Gate;
const worker = {
  name: "worker",
  inputModes: ["*/*"],
  // biome-ignore lint/suspicious/noExplicitAny: an agent for every test.
  async *run(task: any, ctx: any): AsyncGenerator<any> {
    if (task.turn > 1) return yield ctx.text(`You chose ${task.text}`);
    if (task.text === "ask") return yield ctx.ask("Which one?");
    if (task.text === "fail") return yield ctx.fail("It is broken");
    yield ctx.text("one ");
    yield ctx.status("half way");
    if (task.text === "wait") await Promise.race([gate.opened, aborted(ctx.signal)]);
    yield ctx.text("two");
    if (task.text === "data") yield ctx.data({ total: 3 });
  },
};
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => signal.addEventListener("abort", () => resolve()));

const ENDPOINTS: Partial<Record<DialectName, string>> = {
  langgraph: "/a2a/worker",
  orloj: "/v1/agent-systems/worker/a2a",
  arbiter: "/v1/a2a/agents/worker",
};
const CASES = DIALECT_NAMES.flatMap(name =>
  CLIENT_BINDINGS[name].map(({ transport }) => [name, transport] as const),
);
const signal = new AbortController().signal;
const access: AgentAccess = { fetch, credentials: async () => ({}), grpc: createGrpc };
let server: TestServer;
let agent: RemoteAgent;

async function open(dialect: DialectName, transport: ProtocolBinding): Promise<RemoteAgent> {
  gate = createGate();
  server = await serve([worker]);
  const path = ENDPOINTS[dialect];
  const isOld = dialect === "v0.2" || dialect === "v0.1" || dialect === "simple";
  const url = path ? `${server.url}${path}` : isOld ? `${server.url}/` : undefined;
  const target = parseAgentAddress(server.url, undefined);
  const known = dialect === "v1" && transport === "JSONRPC" ? {} : { dialect, transport };
  agent = await openAgent({ source: target, access: () => access, url, ...known }, signal);
  return agent;
}

afterEach(async () => {
  agent.close();
  await server.stop();
});

let count = 0;
const draft = (text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  messageId: `message-${++count}`,
  parts: [{ kind: "text", text }],
  ...more,
});

async function collect(
  updates: AsyncIterable<AgentUpdate>,
): Promise<{ text: string; progress: string[]; state: string }> {
  const texts = new Map<string, string>();
  const progress: string[] = [];
  let end: AgentUpdate | undefined;
  for await (const update of updates) {
    if (update.kind === "artifact") {
      const { artifactId, parts } = update.artifact;
      texts.set(artifactId, (update.append ? (texts.get(artifactId) ?? "") : "") + textOf(parts));
    } else if (update.kind === "status") progress.push(textOf(update.message.parts));
    else end = update;
  }
  const last = end?.kind === "end" ? end : undefined;
  const messageText = last?.message ? textOf(last.message.parts) : "";
  return { text: [...texts.values()].join("") || messageText, progress, state: last?.state ?? "" };
}

const resumable = (begin: AsyncIterable<never> | ReturnType<RemoteAgent["stream"]>) =>
  dedupe(
    readResumable(
      { agent, until: "settled", delaysMs: [5, 5, 5], signal, sleep: async () => {}, onRetry: () => {} },
      begin,
      {},
    ),
    agent.endpoint.dialect,
  );

describe.each(CASES)("in %s over %s", (dialect, transport) => {
  it("streams the output of an agent", async () => {
    await open(dialect, transport);
    const { text, progress, state } = await collect(resumable(agent.stream(draft("go"), signal)));
    expect([text, state]).toEqual(["one two", "completed"]);
    // Two dialects cannot express it in a stream.
    if (dialect !== "orloj") expect(progress).toContain("half way");
  });

  it("gets the whole reply at once", async () => {
    await open(dialect, transport);
    const { item } = await agent.send(draft("go"), signal);
    expect(item.kind).toBe("task");
    const task = item.kind === "task" ? item.task : undefined;
    const text = task?.artifacts.map(one => textOf(one.parts)).join("") || textOf(task?.message?.parts ?? []);
    expect([text, task?.state]).toEqual(["one two", "completed"]);
  });

  it("gets the error of a failed call", async () => {
    await open(dialect, transport);
    const { text, state } = await collect(resumable(agent.stream(draft("fail"), signal)));
    expect([text, state]).toEqual(["It is broken", "failed"]);
  });

  it("answers a question in the same task, and finds the task again", async () => {
    await open(dialect, transport);
    const { item } = await agent.send(draft("ask"), signal);
    if (item.kind !== "task") throw new Error("no task");
    const { id: taskId, contextId, state } = item.task;
    expect([state, textOf(item.task.message?.parts ?? [])]).toEqual(["input-required", "Which one?"]);
    // In Arbiter's dialect every message creates a task.
    if (dialect === "arbiter") return;
    const answer = draft("this", { taskId, ...(contextId !== "" && { contextId }) });
    const { text } = await collect(resumable(agent.stream(answer, signal)));
    expect(text).toBe("You chose this");
    const { task } = await agent.get({ taskId, contextId: contextId || undefined }, signal);
    expect([task.id, task.state]).toEqual([taskId, "completed"]);
  });

  it("resumes a lost stream, and cancels", async () => {
    await open(dialect, transport);
    const cut = new AbortController();
    let taskId = "";
    let contextId: string | undefined;
    async function* broken() {
      for await (const received of agent.stream(draft("wait"), cut.signal)) {
        const { item } = received;
        if (item.kind === "task") ({ id: taskId, contextId } = item.task);
        else if (item.kind !== "message") ({ taskId, contextId } = item);
        yield received;
        if (item.kind === "status" && item.message) break;
        if (dialect === "orloj" && item.kind === "task" && item.task.message) break;
      }
      gate.open();
    }
    const { text, state } = await collect(resumable(broken()));
    expect([text, state]).toEqual(["one two", "completed"]);
    gate = createGate();
    const { item } = await agent
      .send(draft("wait", { returnImmediately: true }), AbortSignal.timeout(1_000))
      .catch(() => ({
        item: undefined,
      }));
    if (item?.kind !== "task") return;
    const { task } = await agent.cancel({ taskId: item.task.id, contextId: item.task.contextId }, signal);
    expect([taskId === "", contextId === "never", task.state]).toEqual([false, false, "canceled"]);
  });
});

it.each([
  ["Orloj", "/v1/agent-systems/worker/.well-known/agent-card.json"],
  ["Arbiter", "/v1/a2a/agents/worker/agent-card.json"],
  ["simple_a2a", "/agents/worker/agentCard"],
  ["LangGraph Agent Server", "/.well-known/agent-card.json?assistant_id=worker"],
])("a card of %s is recognised, and its question ends the stream", async (title, path) => {
  gate = createGate();
  server = await serve([worker]);
  const source = parseAgentAddress(`${server.url}${path}`, undefined);
  agent = await openAgent({ source, access: () => access }, signal);
  expect(agent.endpoint.dialect.title).toBe(title);
  const { state } = await collect(resumable(agent.stream(draft("ask"), signal)));
  expect(state).toBe("input-required");
});
