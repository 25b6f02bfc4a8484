import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import {
  openStream,
  rpc,
  type SseEvent,
  type Stream,
  sendParams,
  sendParamsV03,
  until,
} from "../support/client.ts";
import { collect } from "../support/restartable-server.ts";
import { tempFolder } from "../support/server.ts";
import { isOnPostgres } from "../support/test-store.ts";
import {
  foldText,
  idsOf,
  isAscending,
  partsText,
  stateOf,
  summaryOf,
  taskOf,
  textOf,
} from "../support/wire.ts";

let folder: ReturnType<typeof tempFolder>;
let agent: string;

/** Its first attempt counts without end, so that a kill always interrupts it; the next one counts to 40. */
const COUNTER = `
    if (task.text === "late poison") yield ctx.text("so far so good");
    if (task.text === "late poison") await sleep(20);
    if (task.text.endsWith("poison")) process.kill(process.pid, "SIGKILL");
    if (task.text === "ask" && task.turn === 1) yield ctx.ask("Go on?");
    if (task.text !== "count") return yield ctx.text("heard " + task.text);
    const end = ctx.attempt === 1 ? Infinity : 40;
    for (let i = 1; i <= end; i++) {
      yield ctx.text(i + " ");
      if (i % 3 === 0) await sleep(2, undefined, { signal: ctx.signal });
    }`;
const WHOLE = Array.from({ length: 40 }, (_, i) => `${i + 1} `).join("");

beforeEach(() => {
  folder = tempFolder();
  agent = writeAgent(folder.path, "counter", COUNTER);
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

const start = (durability: "power" | "process", port = 0): Promise<Child> =>
  startChild({
    agents: [agent],
    data: join(folder.path, "data"),
    port,
    flags: ["--durability", durability, "--log-level", "warn"],
  });

const resume = (url: string, method: string, id: string, after: string): Promise<Stream> =>
  openStream(url, method, { id }, { "last-event-id": after });

/** The content of an event, without the id of the call. */
const contents = (events: readonly SseEvent[]): unknown[] => events.map(({ id, data }) => [id, data.result]);

const atOnce = { configuration: { returnImmediately: true } };
async function begin(url: string, text: string, message: object = {}): Promise<string> {
  return taskOf((await rpc(url, "SendMessage", { ...sendParams(text, message), ...atOnce })).body).id;
}
const get = async (url: string, id: string) => (await rpc(url, "GetTask", { id })).body;
/** Chunks of a run are committed, and so is its attempt. */
const speaks = (url: string, id: string): Promise<void> =>
  until(async () => textOf(await get(url, id)) !== "");

describe("a server that is killed in the middle of a stream", () => {
  for (const durability of ["process", "power"] as const)
    test(`is resumed: no seen event is lost or repeated (durability ${durability})`, async () => {
      const first = await start(durability);
      const { url, port } = first;
      const stream = await openStream(url, "SendStreamingMessage", sendParams("count"));
      const task = (await stream.next()) as SseEvent;
      const { id } = task.data.result.task;
      const v1 = collect(stream);
      const v03 = collect(await openStream(url, "tasks/resubscribe", { id }));
      await until(() => v1.events.length >= 60 && v03.events.length >= 30);
      expect((await first.kill()).signal).toBe("SIGKILL");
      expect([await v1.broken, await v03.broken]).toEqual([true, true]);

      const second = await start(durability, port);
      expect(second.url).toBe(url);
      expect(second.banner.unfinished).toEqual({ counter: 1 });
      const lastV1 = v1.events.at(-1)?.id as string;
      const lastV03 = v03.events.at(-1)?.id as string;
      const restV1 = await (await resume(url, "SubscribeToTask", id, lastV1)).all();
      const restV03 = await (await resume(url, "tasks/resubscribe", id, lastV03)).all();

      const done = await get(url, id);
      expect([stateOf(done), textOf(done)]).toEqual(["completed", WHOLE]);
      expect(taskOf(done).artifacts).toHaveLength(1);

      // The log, from its first event on, is what each reader got before and after the kill.
      const log = await (await resume(url, "SubscribeToTask", id, task.id as string)).all();
      expect(isAscending(idsOf(log))).toBe(true);
      expect(contents([...v1.events, ...restV1])).toEqual(contents(log));
      const [snapshot, ...seen] = v03.events as [SseEvent, ...SseEvent[]];
      const from = Number(snapshot.id);
      expect(idsOf([...seen, ...restV03])).toEqual(idsOf(log).filter(one => one > from));
      const both = [foldText([task, ...v1.events, ...restV1]), foldText([...v03.events, ...restV03])];
      expect(both).toEqual([WHOLE, WHOLE]);

      // The second attempt sends everything again, replacing the output of the first.
      const again = restV1.map(summaryOf).filter(event => event.what === "artifact" && !event.append);
      expect(again.map(event => event.text)).toEqual(["1 "]);
      expect(summaryOf(restV1.at(-1) as SseEvent).what).toBe("status completed");
      expect(restV03.at(-1)?.data.result).toMatchObject({ final: true, status: { state: "completed" } });
    });

  test("gives a reader without an id the task as it is, and then the rest", async () => {
    const first = await start("process");
    const { url, port } = first;
    const stream = await openStream(url, "message/stream", sendParamsV03("count"));
    const { id } = ((await stream.next()) as SseEvent).data.result;
    const seen = collect(stream);
    await until(() => seen.events.length >= 10);
    await first.kill();
    await seen.broken;
    await start("process", port);
    const late = await openStream(url, "tasks/resubscribe", { id });
    const events = await late.all();
    expect(events[0]?.data.result).toMatchObject({ kind: "task", id });
    expect(foldText(events)).toBe(WHOLE);
  });

  test("keeps everything that it acknowledged: every task of a burst exists and ends", async () => {
    const first = await start("power");
    const { url, port } = first;
    const acknowledged: string[] = [];
    let stopped = false;
    const flood = Array.from({ length: 8 }, async (_, worker) => {
      for (let i = 0; !stopped; i++)
        try {
          acknowledged.push(await begin(url, `${worker}.${i}`));
        } catch {
          return;
        }
    });
    await until(() => acknowledged.length >= 100);
    await first.kill();
    stopped = true;
    await Promise.all(flood);
    await start("power", port);
    for (const id of acknowledged) await until(async () => stateOf(await get(url, id)) === "completed");
  });
});

test("tasks in every other state survive a kill: queued, asked, canceled, ended", async () => {
  const first = await start("process");
  const { url, port } = first;
  const contextId = "line";
  const running = await begin(url, "count", { contextId });
  const queued = await begin(url, "next", { contextId });
  const asked = taskOf((await rpc(url, "SendMessage", sendParams("ask"))).body).id;
  const ended = taskOf((await rpc(url, "SendMessage", sendParams("hello"))).body).id;
  const canceled = await begin(url, "count");
  await speaks(url, running);
  await speaks(url, canceled);
  await rpc(url, "CancelTask", { id: canceled });
  expect(stateOf(await get(url, queued))).toBe("submitted");
  await first.kill();

  const second = await start("process", port);
  expect(second.banner.unfinished).toEqual({ counter: 2 });
  await until(async () => stateOf(await get(url, queued)) === "completed");
  expect(textOf(await get(url, queued))).toBe("heard next");
  expect(textOf(await get(url, running))).toBe(WHOLE);
  expect(stateOf(await get(url, canceled))).toBe("canceled");
  expect(stateOf(await get(url, asked))).toBe("input-required");
  expect(textOf(await get(url, ended))).toBe("heard hello");

  const { body } = await rpc(url, "SendMessage", sendParams("yes", { taskId: asked }));
  expect([stateOf(body), textOf(body)]).toEqual(["completed", "heard yes"]);
  const list = (await rpc(url, "ListTasks", {})).body.result;
  expect(list.totalSize).toBe(5);
  const ids = list.tasks.map((task: { id: string }) => task.id);
  expect(ids.toSorted()).toEqual([running, queued, asked, ended, canceled].toSorted());
});

test.skipIf(isOnPostgres)(
  "a task whose record was damaged meanwhile fails alone: the server starts and the others run",
  async () => {
    const first = await start("process");
    const { url, port } = first;
    const damaged = await begin(url, "count");
    const other = await begin(url, "count");
    await speaks(url, damaged);
    await speaks(url, other);
    await first.kill();
    const db = new DatabaseSync(join(folder.path, "data", "dragoman.db"));
    const key = "(SELECT key FROM task WHERE id = ?)";
    db.prepare(`UPDATE segment SET events = '[[1,{"type":"cre' WHERE task = ${key}`).run(damaged);
    db.close();

    const second = await start("process", port);
    const fresh = await begin(url, "still here?");
    await until(async () => textOf(await get(url, fresh)) === "heard still here?");
    await until(async () => stateOf(await get(url, other)) === "completed");
    expect(textOf(await get(url, other))).toBe(WHOLE);
    expect((await get(url, damaged)).error.code).toBe(-32603);
    expect(second.stderr()).toContain(damaged);
  },
);

for (const poison of ["late poison", "poison"])
  test(`a task that crashes the server in every run is given up after three attempts (${poison})`, async () => {
    const first = await start("process");
    const { url, port } = first;
    const contextId = "line";
    const before = await begin(url, "count", { contextId });
    const id = await begin(url, poison, { contextId });
    // Without its first attempt on record, the next one would count without end.
    await speaks(url, before);
    await first.kill();

    let deaths = 0;
    let server: Child | undefined;
    for (let starts = 0; starts < 6; starts++) {
      server = await start("process", port).catch(() => undefined);
      const end = server?.exited.then(() => "dead");
      // A busy machine is slow; only a server that has ended is dead.
      const isGivenUp = () =>
        get(url, id).then(
          reply => stateOf(reply) === "failed",
          () => false,
        );
      const settled = until(isGivenUp).then(() => "failed");
      // The process has ended, so there is nothing to wait for.
      settled.catch(() => {});
      if (end && (await Promise.race([end, settled])) === "failed") break;
      deaths += 1;
    }
    expect(deaths).toBe(3);
    expect(partsText(taskOf(await get(url, id)).status.message.parts)).toMatch(/3 times/);
    expect(textOf((await rpc(url, "SendMessage", sendParams("still here?"))).body)).toBe("heard still here?");
  });
