import type { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { toScope } from "../../src/auth/scope.ts";
import { LoopBudget } from "../../src/lib/loop-budget.ts";
import {
  type AgentName,
  BEGINNING,
  type ContextId,
  createIdGenerator,
  type TaskEvent,
  type TaskId,
} from "../../src/model/index.ts";
import { createSingleNodeStore } from "../../src/store/single-node/store.ts";
import { createSqliteBackend } from "../../src/store/sqlite/backend.ts";
import { openDatabase } from "../../src/store/sqlite/open.ts";
import { endChildren, startChild, writeAgent } from "../support/child.ts";
import { openStream, rpc, type SseEvent, sendParams, sendParamsV03, until } from "../support/client.ts";
import { nextTurn } from "../support/gate.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { createTinyDisk, type TinyDisk } from "../support/tiny-disk.ts";
import { foldText, idsOf, isAscending, stateOf, summaryOf, taskOf, textOf } from "../support/wire.ts";

const servers: TestServer[] = [];
const ends: (() => void)[] = [];
afterEach(async () => {
  await endChildren();
  for (const server of servers.splice(0)) await server.stop();
  for (const end of ends.splice(0)) end();
});

describe("a store whose database may grow no further", () => {
  const ALICE = toScope("acme", "alice");
  const ECHO = "echo" as AgentName;
  const mint = createIdGenerator({
    now: Date.now,
    randomHex: n => Buffer.from(crypto.getRandomValues(new Uint8Array(n))).toString("hex"),
  });

  function open() {
    const folder = tempFolder();
    const { db, unlock } = openDatabase({ folder: folder.path, durability: "process" });
    const store = createSingleNodeStore({
      loop: new LoopBudget(2_048),
      backend: createSqliteBackend({
        db,
        findExpired: async () => ({ tasks: [], logs: [] }),
        ticks: () => performance.now(),
        onClose: unlock,
      }),
      now: Date.now,
      wallTime: Date.now,
      ticks: () => performance.now(),
      runQuota: () => ({ caller: Infinity, tenant: Infinity }),
      leaseMs: 30_000,
      tailEventsMax: 1_024,
      tailCacheTasksMax: 100,
      tailIdleMs: 1_000,
      tailCacheBytesMax: 1_000_000,
      onCommitted: id => void committed.push(id),
      onDue: () => {},
      onPushDue: () => {},
      onDamaged: (_taskId, error) => {
        throw error;
      },
    });
    const committed: TaskId[] = [];
    ends.push(() => folder.remove());
    return { db, store, committed };
  }

  function chunks(id: TaskId, chars: number): TaskEvent[] {
    const contextId = mint() as ContextId;
    const message = {
      messageId: "m",
      role: "user",
      parts: [{ kind: "text", text: "x".repeat(chars) }],
    } as const;
    return [
      { type: "created", id, contextId, agent: ECHO, origin: "v1", shown: true },
      { type: "message", message },
    ];
  }

  const pages = (db: DatabaseSync): number =>
    Number(Object.values(db.prepare("PRAGMA page_count").get() ?? {})[0]);

  test("refuses a whole commit, shows nothing of it, and continues when there is space again", async () => {
    const { db, store, committed } = open();
    const [good, small, large, later] = [mint(), mint(), mint(), mint()] as TaskId[] as [
      TaskId,
      TaskId,
      TaskId,
      TaskId,
    ];
    await store.log.append(ALICE, good, chunks(good, 10), { after: BEGINNING });
    db.exec(`PRAGMA max_page_count = ${pages(db) + 2}`);

    const both = await Promise.allSettled([
      store.log.append(ALICE, small, chunks(small, 10), { after: BEGINNING }),
      store.log.append(ALICE, large, chunks(large, 100_000), { after: BEGINNING }),
    ]);
    for (const one of both)
      expect(one).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
    expect(await store.tasks.get(ALICE, small)).toBeNull();
    expect(await store.tasks.get(ALICE, large)).toBeNull();
    await expect(store.log.read(ALICE, large, BEGINNING, 10)).rejects.toMatchObject({
      code: "task-not-found",
    });
    const list = () => store.tasks.list(ALICE, ECHO, { pageSize: 10 });
    expect((await list()).tasks.map(task => task.id)).toEqual([good]);
    expect(committed).toEqual([good]);
    expect((await store.runs.unfinished()).get(ECHO)).toBe(1);
    expect((await store.tasks.get(ALICE, good))?.seq).toBe(2);

    db.exec("PRAGMA max_page_count = 100000");
    await store.log.append(ALICE, later, chunks(later, 100_000), { after: BEGINNING });
    await store.log.append(ALICE, large, chunks(large, 100_000), { after: BEGINNING });
    expect((await list()).totalSize).toBe(3);
    expect((await store.log.read(ALICE, large, BEGINNING, 10)).map(step => step.seq)).toEqual([1, 2]);
    await store.close();
  });

  test("keeps a cached task as it was before the refused commit", async () => {
    const { db, store } = open();
    const id = mint() as TaskId;
    await store.log.append(ALICE, id, chunks(id, 10), { after: BEGINNING });
    const [run] = await store.runs.claim("worker", new Set([ECHO]), 1);
    if (!run) throw new Error("nothing to run");
    await nextTurn();
    const before = await store.tasks.get(ALICE, id);
    db.exec(`PRAGMA max_page_count = ${pages(db) + 2}`);
    const parts = [{ kind: "text", text: "y".repeat(100_000) }] as const;
    const event: TaskEvent = {
      type: "artifact",
      artifact: { artifactId: "a", parts },
      append: false,
      last: false,
      join: false,
    };
    await expect(store.log.append(ALICE, id, [event], { run })).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(await store.tasks.get(ALICE, id)).toEqual(before);
    expect(await store.log.read(ALICE, id, before?.seq ?? BEGINNING, 10)).toEqual([]);
    db.exec("PRAGMA max_page_count = 100000");
    // The run has lost its lease: its later events would not follow the recorded ones.
    await expect(store.log.append(ALICE, id, [event], { run })).rejects.toMatchObject({ code: "conflict" });
    await store.close();
  });
});

describe("an agent that never pauses", () => {
  /** Whether the server still responds; a blocked event loop would not even answer this. */
  const answers = async (url: string): Promise<boolean> =>
    (await fetch(`${url}/agents`, { signal: AbortSignal.timeout(60_000) })).ok;
  const begin = async (url: string, text: string): Promise<string> =>
    taskOf(
      (await rpc(url, "SendMessage", { ...sendParams(text), configuration: { returnImmediately: true } }))
        .body,
    ).id;
  const get = async (url: string, id: string) => (await rpc(url, "GetTask", { id })).body;

  function writeTalker(): string {
    const folder = tempFolder();
    ends.push(folder.remove);
    const body = `
    if (task.text === "short") return yield ctx.text("short");
    const end = task.text === "endless" || ctx.attempt === 1 ? Infinity : 30;
    for (let i = 1; i <= end; i++) yield ctx.text(i + " ");`;
    return writeAgent(folder.path, "talker", body);
  }

  test("does not block the server when its output can no longer be recorded", async ({ skip }) => {
    const disk = createTinyDisk(32);
    if (!disk) return skip("NOT TESTED: a small disk cannot be mounted here (mount -t tmpfs was refused)");
    ends.push(disk.remove);
    const flags = ["--durability", "process", "--log-level", "error"];
    const { url } = await startChild({ agents: [writeTalker()], data: `${disk.path}/data`, flags });
    const id = await begin(url, "talk");
    await until(async () => textOf(await get(url, id)).length > 1_000);
    disk.fill();
    const refused = async (): Promise<boolean> => {
      expect(await answers(url)).toBe(true);
      return (await rpc(url, "SendMessage", sendParams("x".repeat(20_000)))).status === 503;
    };
    await until(refused);
    expect(await answers(url)).toBe(true);
    disk.free();
    await until(async () => stateOf(await get(url, id)) === "completed");
  });

  test("fails when its log is full, and others are not affected", async () => {
    const flags = ["--log-level", "error", "--lease-ms", "1000"];
    const { url } = await startChild({ agents: [writeTalker()], data: ":memory:", flags });
    const id = await begin(url, "endless");
    const failed = async (): Promise<boolean> => {
      expect(await answers(url)).toBe(true);
      // A list omits the artifact, which is large by now.
      const { result } = (await rpc(url, "ListTasks", { status: "TASK_STATE_FAILED" })).body;
      return result.tasks.some((task: { id: string }) => task.id === id);
    };
    await until(failed, 150_000);
    const short = await begin(url, "short");
    await until(async () => textOf(await get(url, short)) === "short");
  });
});

describe("a server whose disk is full", () => {
  async function start(
    skip: (note: string) => void,
    run: AgentDefinition["run"],
  ): Promise<{
    disk: TinyDisk;
    server: TestServer;
    again(): Promise<TestServer>;
  } | null> {
    const disk = createTinyDisk(8);
    if (!disk) {
      skip("NOT TESTED: a small disk cannot be mounted here (mount -t tmpfs was refused)");
      return null;
    }
    ends.push(disk.remove);
    const again = async (): Promise<TestServer> => {
      const server = await serve([{ name: "worker", run }], { data: `${disk.path}/data` });
      servers.push(server);
      return server;
    };
    return { disk, server: await again(), again };
  }

  const echo: AgentDefinition["run"] = async function* (task, ctx) {
    yield ctx.text(task.text.slice(0, 10));
  };
  const list = async (server: TestServer) => (await rpc(server.url, "ListTasks", {})).body.result;

  test("reports it in the caller's dialect, shows nothing half-written, and continues when there is space", async ({
    skip,
  }) => {
    const started = await start(skip, echo);
    if (!started) return;
    const { disk, server, again } = started;
    const { id } = taskOf((await rpc(server.url, "SendMessage", sendParams("before"))).body);
    disk.fill();
    const heavy = "x".repeat(20_000);
    const v1 = await rpc(server.url, "SendMessage", sendParams(heavy));
    expect([v1.status, v1.body.error.code]).toEqual([503, -32053]);
    expect(v1.body.error.data[0]).toMatchObject({ reason: "UNAVAILABLE" });
    const v03 = await rpc(server.url, "message/send", sendParamsV03(heavy));
    expect([v03.status, v03.body.error.code]).toEqual([503, -32053]);
    const stream = await rpc(server.url, "SendStreamingMessage", sendParams(heavy));
    expect([stream.status, stream.body.error.code]).toEqual([503, -32053]);
    const responses = JSON.stringify([v1.body, v03.body, stream.body]);
    expect(responses).not.toMatch(/sqlite|database|disk|errno|\.ts|\bat \//i);
    expect(server.log.lines.some(line => line.level === "error")).toBe(true);

    expect(textOf((await rpc(server.url, "GetTask", { id })).body)).toBe("before");
    expect((await list(server)).tasks.map((task: { id: string }) => task.id)).toEqual([id]);

    disk.free();
    const { body } = await rpc(server.url, "SendMessage", sendParams("after"));
    expect([stateOf(body), textOf(body)]).toEqual(["completed", "after"]);
    expect((await list(server)).totalSize).toBe(2);
    await server.stop();
    servers.length = 0;
    const next = await again();
    expect((await list(next)).totalSize).toBe(2);
    expect(textOf((await rpc(next.url, "GetTask", { id })).body)).toBe("before");
  });

  test("continues a running task when there is space: its readers lose nothing and get nothing twice", async ({
    skip,
  }) => {
    let talking = 0;
    const started = await start(skip, async function* (_task, ctx) {
      const end = ctx.attempt === 1 ? Number.POSITIVE_INFINITY : 30;
      for (let i = 1; i <= end && !ctx.signal.aborted; i++) {
        yield ctx.text(`${i} ${"·".repeat(1_000)}`);
        talking += 1;
        await nextTurn();
      }
    });
    if (!started) return;
    const { disk, server } = started;
    const stream = await openStream(server.url, "SendStreamingMessage", sendParams("talk"));
    const seen: SseEvent[] = [];
    const reading = (async () => {
      for await (const event of stream) seen.push(event);
    })();
    await until(() => seen.length > 20);
    disk.fill();
    const failures = () => server.log.lines.filter(line => /could not be recorded/.test(line.text));
    await until(() => failures().length > 0);
    const { id } = (seen[0] as SseEvent).data.result.task;
    const before = talking;
    expect(stateOf((await rpc(server.url, "GetTask", { id })).body)).toBe("working");
    disk.free();
    await reading;
    expect(talking).toBeGreaterThan(before);

    const done = (await rpc(server.url, "GetTask", { id })).body;
    const whole = Array.from({ length: 30 }, (_, i) => `${i + 1} ${"·".repeat(1_000)}`).join("");
    expect(stateOf(done)).toBe("completed");
    expect(textOf(done) === whole).toBe(true);
    expect(foldText(seen) === whole).toBe(true);
    expect(isAscending(idsOf(seen))).toBe(true);
    expect(summaryOf(seen.at(-1) as SseEvent).what).toBe("status completed");
    const first = (seen[0] as SseEvent).id as string;
    const replay = await openStream(server.url, "SubscribeToTask", { id }, { "last-event-id": first });
    expect(idsOf(await replay.all())).toEqual(idsOf(seen.slice(1)));
  });
});
