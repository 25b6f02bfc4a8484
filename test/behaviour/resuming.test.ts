import { connect } from "node:net";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { asker, createScriptedAgent, echo } from "../support/agents.ts";
import { openStream, type SseEvent, until } from "../support/client.ts";
import {
  getTask,
  type Loose,
  OFFICIAL_DIALECTS,
  rpcResult,
  startTask,
  type TestDialect,
  untilState,
  V1,
  V03,
} from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** docs/dialects/README.md B-S5, B-S6, B-S10, B-S12: readers that join late, reconnect, or fall behind. */

const folder = tempFolder();
afterAll(() => folder.remove());
const STORES = [
  ["memory", ":memory:"],
  ["SQLite", folder.path],
] as const;

/** An event without the id of the call, which differs from call to call. */
const plain = (event: SseEvent) => ({ seq: event.id, data: { ...event.data, id: 0 } });
const rest = async (url: string, dialect: TestDialect, id: string, after?: string): Promise<Loose[]> => {
  const headers: Record<string, string> = after === undefined ? {} : { "last-event-id": after };
  const stream = await openStream(url, dialect.subscribe, { id }, headers);
  return (await stream.all()).map(plain);
};

describe.each(STORES)("on %s", (name, data) => {
  let server: TestServer;
  afterEach(() => server.stop());

  it("B-S5: readers that join a busy task at any moment miss nothing and get nothing twice", async () => {
    const chunks = 600;
    let messages = 0;
    const busy = {
      name: "busy",
      replies: "task" as const,
      async *run(_task: unknown, ctx: Loose) {
        for (messages = 0; messages < chunks; messages++) {
          yield ctx.text(`${messages},`);
          if (messages % 7 === 0) await new Promise(resolve => setImmediate(resolve));
        }
      },
    };
    server = await serve([busy], { data });
    const { id } = await startTask(server.url, V1, "go");
    const readers: Promise<string>[] = [];
    while (messages < chunks) {
      const dialect = OFFICIAL_DIALECTS[readers.length % 2] as TestDialect;
      // A reader after the end is refused by v1 and does not count.
      const stream = await openStream(server.url, dialect.subscribe, { id });
      if (stream.headers.get("content-type") === "text/event-stream")
        readers.push(stream.all().then(events => retold(events, dialect)));
    }
    const whole = Array.from({ length: chunks }, (_, i) => `${i},`).join("");
    expect(readers.length).toBeGreaterThan(1);
    for (const text of await Promise.all(readers)) expect(text).toBe(whole);
  });

  it.each(OFFICIAL_DIALECTS)(
    "B-S10: a reader that reconnects gets exactly the rest, from every position, of an ended task ($name)",
    async dialect => {
      server = await serve([echo, chorus], { data });
      const url = `${server.url}/agents/chorus`;
      const stream = await openStream(url, dialect.stream, dialect.sendParams("sing"));
      const all = (await stream.all()).map(plain);
      const { id } = dialect.toItem(all[0]?.data).value;
      for (const [i, { seq }] of all.slice(0, -1).entries())
        expect(await rest(url, dialect, id, seq)).toEqual(all.slice(i + 1));
    },
  );

  it.each(OFFICIAL_DIALECTS)(
    "B-S10: a reader that reconnects gets exactly the rest, from every position, of a running task ($name)",
    async dialect => {
      const puppet = createScriptedAgent();
      server = await serve([puppet.definition], { data });
      const sent = await openStream(server.url, dialect.stream, dialect.sendParams("go"));
      const first = (await sent.next()) as SseEvent;
      const { id } = dialect.toItem(first.data).value;
      for (let i = 0; i < 10; i++) puppet.send(id, ctx => (i % 3 ? ctx.text(`${i}`) : ctx.status(`${i}`)));
      const seen = [plain(first)];
      while (seen.length < 11) seen.push(plain((await sent.next()) as SseEvent));
      const late = seen.map(({ seq }) => rest(server.url, dialect, id, seq));
      puppet.send(id, ctx => ctx.text("the end"));
      puppet.end(id);
      const all = [...seen, ...(await sent.all()).map(plain)];
      for (const [i, events] of (await Promise.all(late)).entries()) expect(events).toEqual(all.slice(i + 1));
    },
  );

  it("B-S10: a long log is replayed from any position, however far back", async () => {
    const long = {
      name: "long",
      async *run(_task: unknown, ctx: Loose) {
        for (let i = 0; i < 3_000; i++) yield ctx.text(`${i},`);
      },
    };
    server = await serve([long], { data });
    const stream = await openStream(server.url, "SendStreamingMessage", V1.sendParams("go"));
    const all = (await stream.all()).map(plain);
    expect(all.length).toBeGreaterThan(3_000);
    const { id } = (all[0] as Loose).data.result.task;
    for (let i = 0; i < all.length - 1; i += 499)
      expect(await rest(server.url, V1, id, all[i]?.seq)).toEqual(all.slice(i + 1));
  });

  it("B-S10: a snapshot has an id from which a reader can continue", async () => {
    const puppet = createScriptedAgent();
    server = await serve([puppet.definition], { data });
    const { id } = await startTask(server.url, V1, "go");
    puppet.send(id, ctx => ctx.text("before"));
    await until(async () => (await getTask(server.url, id)).artifacts !== undefined);
    const stream = await openStream(server.url, "SubscribeToTask", { id });
    const snapshot = (await stream.next()) as SseEvent;
    stream.close();
    puppet.send(id, ctx => ctx.text(" after"));
    puppet.end(id);
    await untilState(server.url, id, "completed");
    const events = await rest(server.url, V1, id, snapshot.id);
    expect(events.map(one => V1.toItem(one.data).kind)).toEqual(["artifact", "status"]);
    expect(events[0]?.data.result.artifactUpdate.artifact.parts[0].text).toBe(" after");
  });

  it.each(["", "nonsense", "-1", "1.5", "999999", "9".repeat(40)])(
    "B-S10: with the Last-Event-ID %j, which the server did not create, a reader gets the task as it is",
    async after => {
      server = await serve([asker], { data });
      const { task } = await rpcResult(server.url, "SendMessage", V1.sendParams("book"));
      const stream = await openStream(
        server.url,
        "SubscribeToTask",
        { id: task.id },
        { "last-event-id": after },
      );
      expect(V1.toItem((await stream.next())?.data)).toMatchObject({ kind: "task", state: "input-required" });
      stream.close();
    },
  );

  it("B-S10: a reader of a task over several turns can return to any of them", async () => {
    server = await serve([asker], { data });
    const { task } = await rpcResult(server.url, "SendMessage", V1.sendParams("book"));
    const stream = await openStream(server.url, "SubscribeToTask", { id: task.id });
    const events = [plain((await stream.next()) as SseEvent)];
    await rpcResult(server.url, "SendMessage", V1.sendParams("red", { taskId: task.id }));
    events.push(...(await stream.all()).map(plain));
    for (const [i, { seq }] of events.slice(0, -1).entries())
      expect(await rest(server.url, V1, task.id, seq)).toEqual(events.slice(i + 1));
  });

  it("B-S12: a reader that does not read blocks neither the task nor other readers, and can reconnect", async () => {
    const piece = "x".repeat(100_000);
    const puppet = createScriptedAgent();
    server = await serve([puppet.definition], { data });
    const { id } = await startTask(server.url, V1, "go");
    const stuck = await openAndStop(server.url, id);
    const reader = await openStream(server.url, "SubscribeToTask", { id });
    for (let i = 0; i < 200; i++) puppet.send(id, ctx => ctx.text(piece));
    puppet.end(id);
    const events = await reader.all();
    expect(events.filter(event => V1.toItem(event.data).kind === "artifact")).toHaveLength(200);
    await untilState(server.url, id, "completed");
    stuck.destroy();
    const last = events.at(-3)?.id;
    expect(await rest(server.url, V1, id, last)).toEqual(events.slice(-2).map(plain));
  });

  it(`B-S6: ${name === "memory" ? "after a stop a stream ends cleanly" : "subscriptions continue after a restart"}`, async () => {
    const puppet = createScriptedAgent();
    server = await serve([puppet.definition, asker], { data, drainMs: 20 });
    const sent = await openStream(server.url, "SendStreamingMessage", V1.sendParams("go"));
    const first = (await sent.next()) as SseEvent;
    const { id } = first.data.result.task;
    puppet.send(id, ctx => ctx.text("before the stop"));
    await until(async () => (await getTask(server.url, id)).artifacts !== undefined);
    const asked = (await rpcResult(`${server.url}/agents/asker`, "SendMessage", V1.sendParams("book"))).task;
    const [before] = await Promise.all([sent.all(), server.stop()]);
    const last = before.at(-1)?.id;
    expect(last).toMatch(/^\d+$/);
    server = await serve([puppet.definition, asker], { data });
    if (name === "memory") return;
    const back = openStream(server.url, "SubscribeToTask", { id }, { "last-event-id": `${last}` });
    puppet.send(id, ctx => ctx.text("after the start"));
    puppet.end(id);
    const events = await (await back).all();
    expect(Number(events[0]?.id)).toBeGreaterThan(Number(last));
    expect(V1.toItem(events.at(-1)?.data).state).toBe("completed");
    const ended = await getTask(server.url, id);
    expect(ended.artifacts[0].parts[0].text).toContain("after the start");
    const waiting = await openStream(`${server.url}/agents/asker`, "SubscribeToTask", { id: asked.id });
    expect(V1.toItem((await waiting.next())?.data)).toMatchObject({ kind: "task", state: "input-required" });
    await rpcResult(`${server.url}/agents/asker`, V03.send, V03.sendParams("red", { taskId: asked.id }));
    expect(V1.toItem((await waiting.all()).at(-1)?.data).state).toBe("completed");
  });
});

it("B-S10: after a restart a log is replayed from every position, unchanged", async () => {
  const other = tempFolder();
  let server = await serve([chorus], { data: other.path });
  try {
    const stream = await openStream(server.url, "SendStreamingMessage", V1.sendParams("sing"));
    const all = (await stream.all()).map(plain);
    await server.stop();
    server = await serve([chorus], { data: other.path });
    const { id } = (all[0] as Loose).data.result.task;
    for (const [i, { seq }] of all.slice(0, -1).entries())
      expect(await rest(server.url, V1, id, seq)).toEqual(all.slice(i + 1));
  } finally {
    await server.stop();
    other.remove();
  }
});

/** Sends events of every kind. */
const chorus = {
  name: "chorus",
  async *run(_task: unknown, ctx: Loose) {
    for (let i = 0; i < 4; i++) {
      yield ctx.status(`verse ${i}`);
      ctx.usage({ verses: 1 });
      yield ctx.text(`la ${i} `);
      await new Promise(resolve => setImmediate(resolve));
      yield ctx.text("la la ", { last: i === 3 });
      yield ctx.data({ i }, { name: `score ${i}` });
      yield ctx.file({ name: `${i}.txt`, bytes: "aGk=" });
    }
  },
};

/** The text that a subscriber assembles: the snapshot, and the chunks after it. */
function retold(events: readonly SseEvent[], dialect: TestDialect): string {
  let text = "";
  let seq = 0;
  for (const event of events) {
    const { kind, value } = dialect.toItem(event.data);
    if (kind === "task") text = value.artifacts?.[0].parts[0].text ?? "";
    if (kind === "artifact")
      text = value.append ? text + value.artifact.parts[0].text : value.artifact.parts[0].text;
    if (seq > 0) expect(Number(event.id)).toBe(seq + 1);
    seq = Number(event.id);
  }
  return text;
}

/** A subscriber on a bare socket that reads nothing after the response head. */
async function openAndStop(url: string, id: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } });
  socket.write(
    `POST / HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await new Promise<void>((resolve, reject) => {
    socket.once("data", () => resolve());
    socket.once("error", reject);
  });
  socket.pause();
  return socket;
}
