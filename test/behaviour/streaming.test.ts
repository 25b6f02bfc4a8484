import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, createScriptedAgent, echo, replier } from "../support/agents.ts";
import { openStream, rpc, type Stream } from "../support/client.ts";
import {
  getTask,
  type Loose,
  OFFICIAL_DIALECTS,
  rpcError,
  rpcResult,
  type StreamItem,
  startTask,
  type TestDialect,
  untilState,
  V1,
  V03,
} from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/README.md#streams: the content of a stream, its beginning and its end. */

const UNKNOWN = "01890000-0000-7000-8000-000000000000";
const puppet = createScriptedAgent();
const mutterer = {
  name: "mutterer",
  async *run(task: Loose, ctx: Loose) {
    yield ctx.status("one moment");
    ctx.usage({ words: 3 });
    for (const word of task.text.split(" ")) yield ctx.text(`${word} `);
    yield ctx.data({ words: 3 });
  },
};
const shy = { ...replier, name: "shy", replies: undefined };
const dull = { ...echo, name: "dull", streaming: false };

let server: TestServer;
const at = (name: string): string => `${server.url}/agents/${name}`;
beforeAll(async () => {
  server = await serve([echo, replier, shy, dull, asker, mutterer, puppet.definition]);
});
afterAll(() => server.stop());

const itemsIn = async (stream: Stream, dialect: TestDialect): Promise<StreamItem[]> =>
  (await stream.all()).map(event => dialect.toItem(event.data));
const next = async (stream: Stream, dialect: TestDialect): Promise<StreamItem> =>
  dialect.toItem((await stream.next())?.data);

describe.each(OFFICIAL_DIALECTS)("$name", dialect => {
  it("B-S1: an agent that does not stream refuses streams as UnsupportedOperation, not inside a stream", async () => {
    const reply = await rpc(at("dull"), dialect.stream, dialect.sendParams("hi"));
    expect(reply.body.error.code).toBe(-32004);
    const task = dialect.taskIn(await rpcResult(at("dull"), dialect.send, dialect.sendParams("hi")));
    expect((await rpcError(at("dull"), dialect.subscribe, { id: task.id })).code).toBe(-32004);
  });

  it.each(["replier", "shy"])(
    "B-S2: a message reply is exactly one message, then the stream ends (%s)",
    async name => {
      const items = await itemsIn(
        await openStream(at(name), dialect.stream, dialect.sendParams("hi")),
        dialect,
      );
      expect(items.map(one => one.kind)).toEqual(["message"]);
      expect(items[0]?.value.parts[0].text).toBe("re: hi");
    },
  );

  it("B-S3: a task reply begins with the task, then come updates and no second task", async () => {
    const stream = await openStream(at("mutterer"), dialect.stream, dialect.sendParams("to be or"));
    const items = await itemsIn(stream, dialect);
    expect(items[0]).toMatchObject({ kind: "task", state: "submitted" });
    expect(items.slice(1).map(one => one.kind)).not.toContain("task");
    expect(items.map(one => one.kind)).toEqual([
      "task",
      "status",
      "status",
      "artifact",
      "artifact",
      "artifact",
      "artifact",
      "status",
    ]);
  });

  it("B-S3: a stream that continues a task begins with that task, too", async () => {
    const task = dialect.taskIn(await rpcResult(at("asker"), dialect.send, dialect.sendParams("book")));
    const params = dialect.sendParams("red", { taskId: task.id });
    const items = await itemsIn(await openStream(at("asker"), dialect.stream, params), dialect);
    expect(items[0]).toMatchObject({ kind: "task", value: { id: task.id, contextId: task.contextId } });
    expect(items.slice(1).map(one => one.kind)).not.toContain("task");
    expect(items.at(-1)?.state).toBe("completed");
  });

  it("B-S3: every update names the task and its context", async () => {
    const stream = await openStream(at("mutterer"), dialect.stream, dialect.sendParams("to be"));
    const [first, ...rest] = await itemsIn(stream, dialect);
    const { id: taskId, contextId } = first?.value ?? {};
    for (const { value } of rest) expect(value).toMatchObject({ taskId, contextId });
  });

  it("B-S3: the task in a stream has the requested historyLength", async () => {
    const params = dialect.sendParams("hi", {}, { configuration: { historyLength: 0 } });
    const [first] = await itemsIn(await openStream(at("echo"), dialect.stream, params), dialect);
    expect(first?.value).not.toHaveProperty("history");
  });

  it.each(["completed", "failed", "rejected"])(
    "B-S4: a stream ends with the terminal status (%s), and it is the last event",
    async state => {
      const stream = await openStream(at("puppet"), dialect.stream, dialect.sendParams("go"));
      const { value: task } = await next(stream, dialect);
      if (state === "failed") puppet.send(task.id, ctx => ctx.fail("Sorry."));
      else if (state === "rejected") puppet.send(task.id, ctx => ctx.reject("No."));
      else puppet.end(task.id);
      const items = await itemsIn(stream, dialect);
      expect(items.at(-1)).toMatchObject({ kind: "status", state });
      expect(items.filter(one => one.state === state)).toHaveLength(1);
    },
  );

  it("B-S5: a subscription begins with the task as it is", async () => {
    const task = await startTask(at("puppet"), dialect, "go");
    puppet.send(task.id, ctx => ctx.text("so far"));
    puppet.send(task.id, ctx => ctx.status("halfway"));
    while ((await getTask(at("puppet"), task.id)).status.message === undefined);
    const stream = await openStream(at("puppet"), dialect.subscribe, { id: task.id });
    const first = await next(stream, dialect);
    expect(first).toMatchObject({ kind: "task", state: "working", value: { id: task.id } });
    expect(first.value.artifacts[0].parts[0].text).toBe("so far");
    expect(first.value.status.message.parts[0].text).toBe("halfway");
    puppet.send(task.id, ctx => ctx.text(" and on"));
    puppet.end(task.id);
    const rest = await itemsIn(stream, dialect);
    expect(rest.map(one => one.kind)).toEqual(["artifact", "status"]);
    expect(rest[0]?.value).toMatchObject({ append: true, artifact: { parts: [{ text: " and on" }] } });
  });

  it.each(["send", "stream"] as const)(
    "B-S6: any task that has not ended can be subscribed to, also one created by a %s",
    async how => {
      let id: string;
      if (how === "send") id = (await startTask(at("puppet"), dialect, "go")).id;
      else {
        const made = await openStream(at("puppet"), dialect.stream, dialect.sendParams("go"));
        id = (await next(made, dialect)).value.id;
        made.close();
      }
      const stream = await openStream(at("puppet"), dialect.subscribe, { id });
      expect((await next(stream, dialect)).kind).toBe("task");
      puppet.end(id);
      expect((await itemsIn(stream, dialect)).at(-1)?.state).toBe("completed");
    },
  );

  it("B-S7: a send stream ends at input-required; a subscription stays open there until the end", async () => {
    const sent = await openStream(at("asker"), dialect.stream, dialect.sendParams("book"));
    const items = await itemsIn(sent, dialect);
    expect(items.at(-1)).toMatchObject({ kind: "status", state: "input-required" });
    const { id } = items[0]?.value ?? {};
    const stream = await openStream(at("asker"), dialect.subscribe, { id });
    expect((await next(stream, dialect)).state).toBe("input-required");
    await rpcResult(at("asker"), dialect.send, dialect.sendParams("red", { taskId: id }));
    const rest = await itemsIn(stream, dialect);
    expect(rest.at(-1)).toMatchObject({ kind: "status", state: "completed" });
    expect(rest.some(one => one.kind === "artifact")).toBe(true);
  });

  it("B-S7: streams and subscriptions stay open at auth-required", async () => {
    const sent = await openStream(at("puppet"), dialect.stream, dialect.sendParams("go"));
    const { value: task } = await next(sent, dialect);
    const stream = await openStream(at("puppet"), dialect.subscribe, { id: task.id });
    puppet.send(task.id, ctx => ({ ...ctx.ask("Sign in, please"), state: "auth-required" }) as never);
    await untilState(at("puppet"), task.id, "auth-required");
    puppet.send(task.id, ctx => ctx.text("welcome"));
    puppet.end(task.id);
    await rpcResult(at("puppet"), dialect.send, dialect.sendParams("done", { taskId: task.id }));
    for (const one of [sent, stream]) {
      const states = (await itemsIn(one, dialect)).map(items => items.state).filter(Boolean);
      expect(states).toContain("auth-required");
      expect(states.at(-1)).toBe("completed");
    }
  });

  it("B-S8: all streams of a task get the same events in the same order; closing one affects no other", async () => {
    const sent = await openStream(at("puppet"), dialect.stream, dialect.sendParams("go"));
    const { value: task } = await next(sent, dialect);
    const open = () => openStream(at("puppet"), dialect.subscribe, { id: task.id });
    const watching = await Promise.all([open(), open(), open(), open()]);
    for (const stream of watching) expect((await next(stream, dialect)).kind).toBe("task");
    await untilState(at("puppet"), task.id, "working");
    for (let i = 0; i < 20; i++) puppet.send(task.id, ctx => ctx.text(`${i} `));
    watching[0]?.close();
    for (let i = 20; i < 40; i++) puppet.send(task.id, ctx => ctx.text(`${i} `));
    puppet.end(task.id);
    const [first, ...others] = await Promise.all(
      [sent, ...watching.slice(1)].map(async stream => (await stream.all()).map(without)),
    );
    for (const events of others) expect(events).toEqual(first?.slice(-events.length));
    expect(others[0]?.filter(event => dialect.toItem(event.data).kind === "artifact")).toHaveLength(40);
  });

  it("B-S9: within one turn states never go back", async () => {
    const stream = await openStream(at("mutterer"), dialect.stream, dialect.sendParams("to be or not to be"));
    const order = ["submitted", "working", "completed"];
    const ranks = (await itemsIn(stream, dialect))
      .flatMap(one => one.state ?? [])
      .map(state => order.indexOf(state));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  });

  it("B-S11: a chunk that does not append creates the artifact or replaces it", async () => {
    const task = await made([
      ["a", "old", false],
      ["a", "new", false],
    ]);
    expect(artifacts(task)).toEqual([["a", ["new"]]]);
  });

  it("B-S11: a chunk that appends adds its parts and merges its metadata", async () => {
    const task = await made([
      ["a", "one", false, { x: 1, y: 1 }],
      ["b", "other", false],
      ["a", "two", true, { y: 2 }],
    ]);
    expect(artifacts(task)).toEqual([
      ["a", ["one", "two"]],
      ["b", ["other"]],
    ]);
    expect(task.artifacts[0].metadata).toEqual({ x: 1, y: 2 });
  });

  it("B-S11, D8: a chunk that appends to a missing artifact creates it", async () => {
    expect(artifacts(await made([["late", "first", true]]))).toEqual([["late", ["first"]]]);
  });

  /** A task whose agent sends these chunks; the folded stream equals the result of get. */
  async function made(chunks: [id: string, text: string, append: boolean, metadata?: Loose][]) {
    const stream = await openStream(at("puppet"), dialect.stream, dialect.sendParams("go"));
    const { value: task } = await next(stream, dialect);
    for (const [artifactId, parts, append, metadata] of chunks)
      puppet.send(task.id, ctx => ctx.artifact({ artifactId, parts, append, metadata }));
    puppet.end(task.id);
    const items = (await itemsIn(stream, dialect)).filter(one => one.kind === "artifact");
    expect(items.map(one => one.value.append ?? false)).toEqual(chunks.map(chunk => chunk[2]));
    return getTask(at("puppet"), task.id, dialect);
  }
});

it("B-S5: in v1 a subscription to an unknown or ended task is a plain error, not a stream", async () => {
  const { task } = await rpcResult(at("echo"), "SendMessage", V1.sendParams("hi"));
  const absent = await rpc(at("echo"), "SubscribeToTask", { id: UNKNOWN });
  const ended = await rpc(at("echo"), "SubscribeToTask", { id: task.id });
  expect([absent.body.error.code, ended.body.error.code]).toEqual([-32001, -32004]);
  for (const reply of [absent, ended])
    expect(reply.headers.get("content-type")).toMatch(/^application\/json/);
});

it("B-S5: in v0.3 a resubscription to an ended task returns the task once; to an unknown task, an error in a stream", async () => {
  const task = await rpcResult(at("echo"), V03.send, V03.sendParams("hi"));
  const ended = await openStream(at("echo"), V03.subscribe, { id: task.id });
  const items = await itemsIn(ended, V03);
  expect(items).toMatchObject([{ kind: "task", state: "completed", value: { id: task.id } }]);
  const absent = await openStream(at("echo"), V03.subscribe, { id: UNKNOWN });
  expect(absent.headers.get("content-type")).toMatch(/^text\/event-stream/);
  expect(await itemsIn(absent, V03)).toMatchObject([{ kind: "error", value: { code: -32001 } }]);
});

it("R15: in v0.3 `final` is true exactly on the event after which the stream ends", async () => {
  const finals = (items: StreamItem[]) =>
    items.filter(one => one.kind === "status").map(one => one.value.final);
  const ended = await itemsIn(await openStream(at("mutterer"), V03.stream, V03.sendParams("a b")), V03);
  expect(finals(ended)).toEqual([false, false, true]);
  const asked = await itemsIn(await openStream(at("asker"), V03.stream, V03.sendParams("book")), V03);
  expect(finals(asked)).toEqual([false, true]);
  const { id } = asked[0]?.value ?? {};
  const watching = await openStream(at("asker"), V03.subscribe, { id });
  await watching.next();
  await rpcResult(at("asker"), V03.send, V03.sendParams("red", { taskId: id }));
  const rest = finals(await itemsIn(watching, V03));
  expect(rest.slice(0, -1)).not.toContain(true);
  expect(rest.at(-1)).toBe(true);
});

it("R15: one event is final for the stream that ends with it and not for one that continues", async () => {
  const task = await startTask(at("puppet"), V03, "go");
  const watching = await openStream(at("puppet"), V03.subscribe, { id: task.id });
  await watching.next();
  puppet.send(task.id, ctx => ctx.ask("Well?"));
  await untilState(at("puppet"), task.id, "input-required");
  const sent = await openStream(at("puppet"), V03.stream, V03.sendParams("so", { taskId: task.id }));
  puppet.send(task.id, ctx => ctx.ask("And?"));
  const last = (await itemsIn(sent, V03)).at(-1);
  expect(last?.value).toMatchObject({ final: true, status: { state: "input-required" } });
  puppet.end(task.id);
  await rpcResult(at("puppet"), V03.send, V03.sendParams("and so", { taskId: task.id }));
  const states = (await itemsIn(watching, V03))
    .filter(one => one.kind === "status")
    .map(one => [one.state, one.value.final]);
  expect(states.filter(([state]) => state === "input-required")).toEqual([
    ["input-required", false],
    ["input-required", false],
  ]);
  expect(states.at(-1)).toEqual(["completed", true]);
});

it("a stream has the headers that proxies need, and an id on every event", async () => {
  const stream = await openStream(at("mutterer"), "SendStreamingMessage", V1.sendParams("a b c"));
  expect(Object.fromEntries(stream.headers)).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "a2a-version": "1.0",
  });
  const ids = (await stream.all()).map(event => Number(event.id));
  for (const [i, id] of ids.entries()) expect(id).toBeGreaterThan(ids[i - 1] ?? 0);
});

it("characters that JSON allows and event streams do not are escaped: every event is one line", async () => {
  const text = "a\nb\r\nc\u2028d\u2029e\u0000f";
  const stream = await openStream(at("echo"), "SendStreamingMessage", V1.sendParams(text));
  const items = await itemsIn(stream, V1);
  const chunk = items.find(one => one.kind === "artifact");
  expect(chunk?.value.artifact.parts[0].text).toBe(text);
});

const without = ({ id, data }: Loose) => ({ id, data: { ...data, id: 0 } });
const artifacts = (task: Loose) =>
  task.artifacts.map((one: Loose) => [one.artifactId, one.parts.map((part: Loose) => part.text)]);
