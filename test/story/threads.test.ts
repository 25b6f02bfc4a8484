import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { serve, type TestServer } from "../support/server.ts";
import { taskOf, textOf } from "../support/wire.ts";

/** LangSmith, "A2A endpoint in Agent Server", distributed tracing; docs/dialects/langgraph.md. */

const tracer = (name: string): AgentDefinition => ({ name, run: task => task.thread });
const asker: AgentDefinition = {
  name: "asker",
  run: (task, ctx) => (task.turn === 1 ? ctx.ask(task.thread) : task.thread),
};

let first: TestServer;
let second: TestServer;
beforeAll(async () => {
  first = await serve([tracer("a"), asker]);
  second = await serve([tracer("b")]);
});
afterAll(() => Promise.all([first.stop(), second.stop()]));

interface Names {
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly threadId?: string | undefined;
}
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came back.
async function send(url: string, { threadId, ...ids }: Names): Promise<any> {
  const parts = [{ kind: "text", text: "Hello! Let's collaborate." }];
  const message = { role: "user", parts, messageId: randomUUID(), ...ids };
  const call = { jsonrpc: "2.0", id: randomUUID(), method: "message/send", params: { message } };
  const body = JSON.stringify({ ...call, ...(threadId && { metadata: { thread_id: threadId } }) });
  const headers = { accept: "application/json", "content-type": "application/json" };
  return (await fetch(url, { method: "POST", headers, body })).json();
}

it("L26: the second program of the document has all its turns in one thread, on both servers", async () => {
  const threadId = randomUUID();
  let ids: Names = {};
  const threads: string[] = [];
  for (let round = 0; round < 3; round++)
    for (const url of [`${first.url}/a2a/a`, `${second.url}/a2a/b`]) {
      const body = await send(url, { ...ids, threadId: ids.contextId ?? threadId });
      ids = { contextId: taskOf(body).contextId, taskId: taskOf(body).id };
      threads.push(textOf(body));
    }
  expect(threads).toEqual(Array(6).fill(threadId));
  expect(ids.contextId).toBe(threadId);
});

it("the first thread of a context stays its thread, in new tasks and in tasks that continue", async () => {
  const [contextId, threadId] = [randomUUID(), randomUUID()];
  const threadOf = async (more: Names): Promise<string> =>
    textOf(await send(`${first.url}/a2a/a`, { contextId, ...more }));
  expect(await threadOf({ threadId })).toBe(threadId);
  expect(await threadOf({ threadId: "another" })).toBe(threadId);
  expect(await threadOf({})).toBe(threadId);
  const asked = taskOf(await send(`${first.url}/a2a/asker`, { threadId }));
  const ids = { contextId: asked.contextId, taskId: asked.id };
  expect(textOf(await send(`${first.url}/a2a/asker`, { ...ids, threadId: "another" }))).toBe(threadId);
});

it("a context that began without a thread keeps its own id as thread", async () => {
  const { contextId } = taskOf(await send(`${first.url}/a2a/a`, {}));
  expect(textOf(await send(`${first.url}/a2a/a`, { contextId, threadId: "late" }))).toBe(contextId);
});

it("a thread that is a context already does not continue that context", async () => {
  const threadId = randomUUID();
  const one = taskOf(await send(`${first.url}/a2a/a`, { threadId }));
  const two = await send(`${first.url}/a2a/a`, { threadId });
  expect(one.contextId).toBe(threadId);
  expect(taskOf(two).contextId).not.toBe(threadId);
  expect(textOf(two)).toBe(threadId);
});

it("thread_id beside the parameters is read at every JSON-RPC address", async () => {
  for (const path of ["/agents/a", "/", "/v1/a2a/agents/a"]) {
    const threadId = randomUUID();
    const { result } = await send(`${first.url}${path}`, { threadId });
    expect(result.contextId, path).toBe(threadId);
  }
});
