import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStream, type SseEvent, type Stream, until } from "../support/client.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { type Loose, OFFICIAL_DIALECTS, rpcError, rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { idsOf, textOf } from "../support/wire.ts";

/** Streams can be resumed in every dialect, by header and by metadata, and by repeating the call. */

let folder: ReturnType<typeof tempFolder>;
let server: TestServer;
let gate: Gate;
beforeEach(() => {
  folder = tempFolder();
  gate = createGate();
});
afterEach(async () => {
  await server.stop();
  folder.remove();
});

const singer = {
  name: "singer",
  replies: "task" as const,
  async *run(task: Loose, ctx: Loose) {
    for (let i = 0; i < 6; i++) {
      yield ctx.text(`la ${i} `);
      await new Promise(resolve => setImmediate(resolve));
      if (i === 2 && task.text === "slowly") await gate.opened;
      yield ctx.status(`verse ${i}`);
    }
  },
};

interface Manner {
  readonly name: string;
  readonly path: string;
  readonly stream: string;
  readonly subscribe: string;
  readonly headers?: Record<string, string>;
  /** In dialects where callers choose the id of a task. */
  readonly named?: true;
  readonly part: (text: string) => object;
}
const kind = (text: string) => ({ kind: "text", text });
const type = (text: string) => ({ type: "text", text });
const OLD = { stream: "tasks/sendSubscribe", subscribe: "tasks/resubscribe" };
const KIND = { stream: "message/stream", subscribe: "tasks/resubscribe", part: kind };
const HOME = "/agents/singer";

const MANNERS: readonly Manner[] = [
  {
    name: "v1",
    path: HOME,
    stream: "SendStreamingMessage",
    subscribe: "SubscribeToTask",
    part: text => ({ text }),
  },
  { name: "v03", path: HOME, ...KIND },
  { name: "v02", path: HOME, ...KIND, headers: { "a2a-version": "0.2" } },
  { name: "v01", path: HOME, ...OLD, part: type, named: true, headers: { "a2a-version": "0.1" } },
  { name: "langgraph", path: "/a2a/singer", ...KIND },
  { name: "orloj", path: "/v1/agent-systems/singer/a2a", ...OLD, part: type, named: true },
  { name: "arbiter", path: "/v1/a2a/agents/singer", ...KIND },
  { name: "simple", path: HOME, ...OLD, part: kind },
];

const plain = ({ id, event, data }: SseEvent) => ({ id, event, data: { ...data, id: 0 } });

describe.each(MANNERS)("in $name", manner => {
  const params = (text: string): Loose => ({
    ...(manner.named && { id: "my-song" }),
    message: {
      messageId: "m-1",
      role: manner.name === "v1" ? "ROLE_USER" : "user",
      parts: [manner.part(text)],
    },
  });
  const open = (method: string, given: Loose, headers: Record<string, string> = {}): Promise<Stream> =>
    openStream(`${server.url}${manner.path}`, method, given, { ...manner.headers, ...headers });
  const sing = (text: string, headers = {}, metadata?: object) =>
    open(
      manner.stream,
      { ...params(text), ...(metadata && { metadata }) },
      { "idempotency-key": "k", ...headers },
    );
  const start = async (): Promise<void> => {
    server = await serve([singer], { data: folder.path });
  };
  const taskId = async (): Promise<string> => (await rpcResult(server.url, "ListTasks", {})).tasks[0].id;

  test("a reader that returns to an ended stream gets exactly the missed events, from every position", async () => {
    await start();
    const all = (await (await sing("quickly")).all()).map(plain);
    expect(all.length).toBeGreaterThan(5);
    const id = await taskId();
    for (const [i, { id: seen }] of all.slice(0, -1).entries()) {
      const rest = all.slice(i + 1);
      const after = { "last-event-id": seen as string };
      const position = { afterSequence: manner.name === "orloj" ? seen : Number(seen) };
      expect((await (await open(manner.subscribe, { id }, after)).all()).map(plain)).toEqual(rest);
      expect((await (await open(manner.subscribe, { id, metadata: position })).all()).map(plain)).toEqual(
        rest,
      );
      expect((await (await sing("quickly", after)).all()).map(plain)).toEqual(rest);
      expect((await (await sing("quickly", {}, position)).all()).map(plain)).toEqual(rest);
    }
    const end = await sing("quickly", { "last-event-id": all.at(-1)?.id as string });
    expect([end.status, await end.all()]).toEqual([200, []]);
    expect((await rpcResult(server.url, "ListTasks", {})).totalSize).toBe(1);
  });

  test("a reader that returns to a running stream gets the missed events, then the rest", async () => {
    await start();
    const first = await sing("slowly");
    const seen = [(await first.next()) as SseEvent, (await first.next()) as SseEvent];
    const after = { "last-event-id": seen[1]?.id as string };
    const again = await sing("slowly", after);
    const subscribed = await open(manner.subscribe, { id: await taskId() }, after);
    gate.open();
    const rest = (await first.all()).map(plain);
    expect((await again.all()).map(plain)).toEqual(rest);
    expect((await subscribed.all()).map(plain)).toEqual(rest);
  });
});

describe("when the events of a task have been compacted", () => {
  const brief = { ...singer, retention: { eventsAgeMs: 1 } };
  const WHOLE = "la 0 la 1 la 2 la 3 la 4 la 5 ";

  async function compacted(data: string): Promise<{ id: string; params: Loose; task: Loose; seq: number }> {
    server = await serve([brief], { data, sweepMs: 10 });
    const params = V1.sendParams("quickly");
    const events = await (
      await openStream(server.url, "SendStreamingMessage", params, { "idempotency-key": "k" })
    ).all();
    const { id } = (events[0] as SseEvent).data.result.task;
    const task = await rpcResult(server.url, "GetTask", { id });
    const isGone = async (): Promise<boolean> => {
      const stream = await openStream(server.url, "SubscribeToTask", { id }, { "last-event-id": "1" });
      await stream.all();
      return stream.headers.get("dragoman-resumed") === "snapshot";
    };
    await until(isGone);
    return { id, params, task, seq: idsOf(events).at(-1) as number };
  }

  describe.each(["memory", "SQLite"])("on %s", name => {
    const data = (): string => (name === "memory" ? ":memory:" : folder.path);

    test.each(OFFICIAL_DIALECTS)(
      "a reader that returns gets the task as it ended, marked as a snapshot ($name)",
      async dialect => {
        const { id, seq } = await compacted(data());
        for (const after of ["0", "3", String(seq - 1)]) {
          const stream = await openStream(server.url, dialect.subscribe, { id }, { "last-event-id": after });
          expect(stream.headers.get("dragoman-resumed")).toBe("snapshot");
          const events = await stream.all();
          expect(idsOf(events)).toEqual([seq]);
          expect(dialect.toItem(events[0]?.data)).toMatchObject({ kind: "task", state: "completed" });
          expect(textOf(events[0]?.data)).toBe(WHOLE);
        }
      },
    );

    test("the task is read and listed as before, and a repeated call still gets its response", async () => {
      const { id, params, task, seq } = await compacted(data());
      expect(await rpcResult(server.url, "GetTask", { id })).toEqual(task);
      expect((await rpcResult(server.url, "ListTasks", {})).totalSize).toBe(1);
      const key = { "idempotency-key": "k" };
      expect(V1.taskIn(await rpcResult(server.url, "SendMessage", params, key))).toEqual(task);
      const whole = await (await openStream(server.url, "SendStreamingMessage", params, key)).all();
      expect(whole.map(event => V1.toItem(event.data).value)).toEqual([task]);
      const missed = await openStream(server.url, "SendStreamingMessage", params, {
        ...key,
        "last-event-id": "3",
      });
      expect(missed.headers.get("dragoman-resumed")).toBe("snapshot");
      expect((await missed.all()).map(event => V1.toItem(event.data).value)).toEqual([task]);
      const end = await openStream(server.url, "SendStreamingMessage", params, {
        ...key,
        "last-event-id": String(seq),
      });
      expect(await end.all()).toEqual([]);
    });
  });

  test("no event is left on the disk, and a restart changes nothing", async () => {
    const { id, task, seq } = await compacted(folder.path);
    await server.stop();
    const db = new DatabaseSync(join(folder.path, "dragoman.db"), { readOnly: true });
    const { events } = db.prepare("SELECT group_concat(events, '') AS events FROM segment").get() as Loose;
    expect(events?.replaceAll("[]", "") ?? "").toBe("");
    expect(db.prepare("SELECT whole FROM task").get()?.whole).toBeNull();
    db.close();
    server = await serve([brief], { data: folder.path });
    expect(await rpcResult(server.url, "GetTask", { id })).toEqual(task);
    const stream = await openStream(server.url, "SubscribeToTask", { id }, { "last-event-id": "2" });
    expect(idsOf(await stream.all())).toEqual([seq]);
    // A reader that has seen all events is refused, as before.
    const last = await rpcError(server.url, "SubscribeToTask", { id }, { "last-event-id": String(seq) });
    expect(last.code).toBe(-32004);
  });
});

test("a complete stream has no snapshot mark", async () => {
  server = await serve([singer], { data: ":memory:" });
  const stream = await openStream(server.url, "SendStreamingMessage", V1.sendParams("quickly"));
  const [first] = await stream.all();
  const back = await openStream(
    server.url,
    "SubscribeToTask",
    { id: first?.data.result.task.id },
    { "last-event-id": "3" },
  );
  expect(back.headers.get("dragoman-resumed")).toBeNull();
  expect(idsOf(await back.all())[0]).toBe(4);
});
