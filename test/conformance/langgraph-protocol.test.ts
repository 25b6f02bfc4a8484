import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lgAgents } from "../support/lg-agents.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Streaming protocol v2, with the official client's `threads.stream`. */

let server: TestServer;
let client: Client;
beforeAll(async () => {
  // A stream must not depend on its heartbeats.
  server = await serve(lgAgents(), { heartbeatMs: 600_000 });
  client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
});
afterAll(() => server.stop());

/** Asks again until the answer is as expected. */
async function until<T>(ask: () => Promise<T>, isDone: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isDone(answer)) return answer;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

const human = (content: string) => ({ messages: [{ type: "human", content }] });

interface WireEvent {
  readonly seq: number;
  readonly method: string;
  readonly params: { readonly namespace: string[]; readonly data: Record<string, unknown> };
}

/** Reads the stream of a thread up to the event that `isLast` names. */
async function read(
  threadId: string,
  filter: object,
  isLast: (event: WireEvent) => boolean,
): Promise<WireEvent[]> {
  const stop = new AbortController();
  const response = await fetch(`${server.url}/threads/${threadId}/stream/events`, {
    method: "POST",
    body: JSON.stringify(filter),
    signal: stop.signal,
  });
  const events: WireEvent[] = [];
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(piece, { stream: true });
    const whole = text.split("\n\n");
    text = whole.pop() as string;
    for (const one of whole) {
      const data = /^data: (.*)$/m.exec(one)?.[1];
      if (data) events.push(JSON.parse(data) as WireEvent);
    }
    if (events.some(isLast)) break;
  }
  stop.abort();
  return events;
}

const command = async (
  threadId: string,
  method: string,
  params: object,
): Promise<Record<string, unknown>> => {
  const response = await fetch(`${server.url}/threads/${threadId}/commands`, {
    method: "POST",
    body: JSON.stringify({ id: 1, method, params }),
  });
  return (await response.json()) as Record<string, unknown>;
};
const isEnd = ({ method, params }: WireEvent): boolean =>
  method === "lifecycle" &&
  params.namespace.length === 0 &&
  ["completed", "failed", "interrupted"].includes(params.data.event as string);
const ALL = { channels: ["values", "updates", "messages", "lifecycle", "input", "tasks", "custom"] };

it("a run is started by a command, and two streams get all its events with ascending numbers", async () => {
  const id = crypto.randomUUID();
  const both = Promise.all([read(id, ALL, isEnd), read(id, { channels: ["lifecycle", "input"] }, isEnd)]);
  expect(await command(id, "run.start", { assistant_id: "chat", input: human("hi") })).toMatchObject({
    type: "success",
    id: 1,
  });
  const [content, watcher] = await both;
  expect(watcher.map(one => [one.params.namespace.length, one.params.data.event])).toEqual([
    [0, "running"],
    [1, "started"],
    [1, "completed"],
    [0, "completed"],
  ]);
  const seqs = content.map(one => one.seq);
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  const words = content.filter(one => one.method === "messages").map(one => one.params.data);
  expect(words[0]).toMatchObject({ event: "message-start", role: "ai" });
  expect(words.at(-1)).toMatchObject({ event: "message-finish" });
  const text = words.flatMap(one => (one.delta as { text?: string } | undefined)?.text ?? []).join("");
  expect(text).toBe("You said hi");
  const middle = content[5] as WireEvent;
  const rest = await read(id, { ...ALL, since: middle.seq }, isEnd);
  expect(rest).toEqual(content.slice(6));
});

it("a stream is open before its thread exists: the headers come without an event", async () => {
  const stop = new AbortController();
  const path = `/threads/${crypto.randomUUID()}/stream/events`;
  const body = JSON.stringify({ channels: ["values"] });
  const response = await fetch(server.url + path, { method: "POST", body, signal: stop.signal });
  const first = await (response.body as ReadableStream<Uint8Array>).getReader().read();
  expect(new TextDecoder().decode(first.value)).toBe(": heartbeat\n\n");
  stop.abort();
});

it("an interrupt is answered on the open stream, as a new run", async () => {
  const id = crypto.randomUUID();
  const stream = read(id, ALL, one => isEnd(one) && one.params.data.event === "completed");
  await command(id, "run.start", { assistant_id: "approval", input: human("do it") });
  const asked = await read(id, { channels: ["input"] }, one => one.method === "input.requested");
  const interrupt_id = asked[0]?.params.data.interrupt_id;
  expect(asked[0]?.params.data.payload).toEqual({ question: "Shall I?" });
  expect(
    await command(id, "input.respond", { namespace: [], interrupt_id: "wrong", response: 1 }),
  ).toMatchObject({ type: "error", error: "no_such_interrupt" });
  expect(await command(id, "input.respond", { namespace: [], interrupt_id, response: "yes" })).toMatchObject({
    type: "success",
  });
  const events = await stream;
  const ofRoot = events.filter(one => one.params.namespace.length === 0);
  const lifecycle = ofRoot.filter(one => one.method === "lifecycle").map(one => one.params.data.event);
  expect(lifecycle).toEqual(["running", "interrupted", "running", "completed"]);
  expect(JSON.stringify(events.findLast(one => one.method === "values"))).toContain("The answer is");
});

it("each state comes after the id of its checkpoint, from which the thread can be forked", async () => {
  const id = crypto.randomUUID();
  const stream = read(id, { channels: ["values", "checkpoints", "lifecycle"] }, isEnd);
  await command(id, "run.start", { assistant_id: "steps", input: { trail: [] } });
  const events = await stream;
  expect(events.map(one => one.method)).toEqual([
    "lifecycle",
    ...["checkpoints", "values", "checkpoints", "values", "checkpoints", "values"],
    "lifecycle",
  ]);
  const history = await client.threads.getHistory(id);
  const [second] = events.filter(one => one.method === "checkpoints").slice(1);
  const state = history.find(one => one.checkpoint.checkpoint_id === second?.params.data.id);
  expect(state?.values).toEqual({ trail: ["one"] });
  expect(state?.parent_checkpoint?.checkpoint_id).toBe(second?.params.data.parent_id);
});

it("commands read the state and list checkpoints, as the protocol spells them, and fork a run from one", async () => {
  const thread = client.threads.stream(crypto.randomUUID(), { assistantId: "steps" });
  await thread.run.start({ input: { trail: [] } });
  await thread.output;
  const { checkpoint } = await client.threads.getState(thread.threadId);
  expect(await thread.state.get({ namespace: [], keys: ["trail"] })).toEqual({
    values: { trail: ["one", "two"] },
    checkpoint: { id: checkpoint.checkpoint_id, ns: "" },
  });
  expect((await thread.state.get({ namespace: [], keys: [] })).values).toEqual({});
  const { checkpoints } = await thread.state.listCheckpoints({ limit: 2 });
  expect(checkpoints.map(one => [one.step, one.metadata?.source])).toEqual([
    [2, "loop"],
    [1, "loop"],
  ]);
  expect(checkpoints[0]).toMatchObject({ id: checkpoint.checkpoint_id, timestamp: expect.any(String) });
  const rest = await thread.state.listCheckpoints({ before: checkpoints[1]?.id as string });
  expect(rest.checkpoints.map(one => one.step)).toEqual([0, -1]);
  const forked = await thread.state.fork({ checkpoint_id: checkpoints[1]?.id as string });
  expect(forked).toEqual({ run_id: expect.any(String), thread_id: thread.threadId });
  expect(await client.runs.join(thread.threadId, forked.run_id)).toEqual({ trail: ["one", "two"] });
  const history = await client.threads.getHistory(thread.threadId);
  const branches = history.filter(one => one.parent_checkpoint?.checkpoint_id === checkpoints[1]?.id);
  expect(branches).toHaveLength(2);
  expect(await command(thread.threadId, "state.fork", {})).toMatchObject({ error: "invalid_argument" });
  expect(await command(thread.threadId, "state.fork", { checkpoint_id: "none" })).toMatchObject({
    error: "no_such_checkpoint",
  });
  await thread.close();
});

it("run.start on a thread that waits answers its interrupt, as in LangGraph's own server", async () => {
  const id = crypto.randomUUID();
  const asked = read(id, { channels: ["lifecycle"] }, isEnd);
  await command(id, "run.start", { assistant_id: "approval", input: human("do it") });
  await asked;
  const stream = read(id, ALL, one => isEnd(one) && one.params.data.event === "completed");
  await command(id, "run.start", { assistant_id: "approval", input: "yes" });
  const events = await stream;
  expect(JSON.stringify(events.findLast(one => one.method === "values"))).toContain("The answer is");
});

it("agent.getTree has the run and its nodes", async () => {
  const id = crypto.randomUUID();
  const stream = read(id, { channels: ["lifecycle"] }, isEnd);
  await command(id, "run.start", { assistant_id: "chat", input: human("hi") });
  await stream;
  expect(await command(id, "agent.getTree", {})).toMatchObject({
    type: "success",
    result: {
      tree: {
        namespace: [],
        status: "completed",
        graph_name: "chat",
        children: [{ status: "completed", graph_name: "model" }],
      },
    },
  });
});

it("agents that are no graphs have the same channels", async () => {
  const id = crypto.randomUUID();
  const stream = read(id, ALL, isEnd);
  await command(id, "run.start", { assistant_id: "echo", input: human("hi") });
  const events = await stream;
  expect(events.map(one => one.method)).toContain("messages");
  expect(JSON.stringify(events.findLast(one => one.method === "values")?.params.data)).toContain(
    "You said hi",
  );
});

it("unknown commands and broken envelopes are refused", async () => {
  const id = crypto.randomUUID();
  expect(await command(id, "run.dance", {})).toMatchObject({ type: "error", error: "unknown_command" });
  expect(await command(id, "run.start", {})).toMatchObject({ type: "error", error: "invalid_argument" });
  const broken = await fetch(`${server.url}/threads/${id}/commands`, { method: "POST", body: "{}" });
  expect(broken.status).toBe(400);
});

it("the official client gets the values, the words and the end of a run", async () => {
  const thread = client.threads.stream(crypto.randomUUID(), { assistantId: "chat" });
  const words = (async () => {
    for await (const message of thread.messages) return await message.text;
  })();
  await thread.run.start({ input: human("hi") });
  expect(JSON.stringify(await thread.output)).toContain("You said hi");
  expect(await words).toBe("You said hi");
  await thread.close();
});

it("the official client answers an interrupt", async () => {
  const thread = client.threads.stream(crypto.randomUUID(), { assistantId: "approval" });
  await thread.run.start({ input: human("do it") });
  await thread.output;
  expect(thread.interrupted).toBe(true);
  const [asked] = thread.interrupts;
  expect(asked?.payload).toEqual({ question: "Shall I?" });
  await thread.respondInput({
    namespace: [],
    interrupt_id: asked?.interruptId as string,
    response: "yes",
  } as never);
  const { status } = await until(
    () => client.threads.get(thread.threadId),
    found => found.status === "idle",
  );
  expect(status).toBe("idle");
  await thread.close();
});
