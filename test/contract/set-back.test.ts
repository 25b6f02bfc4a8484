import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Seq, TaskId } from "../../src/model/index.ts";
import type { PushSubscription, Run, Store } from "../../src/ports/index.ts";
import { createMemoryStore } from "../../src/store/memory/index.ts";
import type { PostgresStore } from "../../src/store/postgres/index.ts";
import { createSqliteStore } from "../../src/store/sqlite/index.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { tempFolder } from "../support/server.ts";
import { openNode } from "./postgres-node.ts";
import { AGENTS, alice, ECHO, Stage } from "./stage.ts";

/** The clock that a store goes by is set back by an hour: leases end and retries come as if nothing had happened. */

const HOUR = 3_600_000;
const LEASE_MS = 1_000;
const push = (id: string) => ({
  config: { id, url: `https://${id}.example/`, origin: "v1", events: "all" as const },
  key: `key-${id}`,
  opening: "task" as const,
});

const claimPushes = (store: Store): Promise<readonly PushSubscription[]> =>
  store.deliveries.claim(new Set(), 10);

/** One attempt that failed; it is to be tried again so much later. */
async function failPush(on: Stage, store: Store, id: TaskId, waitMs: number): Promise<void> {
  await store.pushes.set(alice, id, push("a"));
  const [held] = (await claimPushes(store)) as [PushSubscription];
  const at = on.wallTime;
  const nextAt = at + waitMs;
  const progress = {
    cursor: 1 as Seq,
    state: "live" as const,
    failed: { count: 1, since: at },
    nextAt,
  };
  const next = await store.deliveries.record(held, progress, {
    at,
    seq: 2 as Seq,
    ms: 5,
    status: 503,
    nextAt,
  });
  await store.deliveries.release(next as PushSubscription, 1 as Seq, false);
}

describe.each(["memory", "SQLite"])("a store of one process (%s)", kind => {
  let folder: ReturnType<typeof tempFolder>;
  let on: Stage;
  beforeEach(() => {
    folder = tempFolder();
    const open: Stage["under"]["open"] = parts =>
      kind === "memory"
        ? createMemoryStore(parts)
        : createSqliteStore({ ...parts, folder: folder.path, durability: "process" });
    on = new Stage({ open, lasting: kind !== "memory", remove: folder.remove });
    on.start();
  });
  afterEach(() => on.end());

  it("leases end after their time, and are renewed for as long", async () => {
    const id = await on.createTask();
    const run = await on.begin(id);
    on.setBackMs = HOUR;
    on.now += LEASE_MS - 100;
    expect(await on.store.runs.renew(run)).toBe(true);
    on.now += LEASE_MS - 100;
    expect(await on.store.runs.claim("v", AGENTS, 10)).toEqual([]);
    on.now += 200;
    expect((await on.store.runs.claim("v", AGENTS, 10)).map(one => one.task.id)).toEqual([id]);
  });

  it("a retry comes after its time", async () => {
    const id = await on.createTask();
    await failPush(on, on.store, id, 10_000);
    on.setBackMs = HOUR;
    expect([await claimPushes(on.store), await on.store.deliveries.nextInMs()]).toEqual([[], 10_000]);
    on.now += 10_000;
    expect(await claimPushes(on.store)).toMatchObject([{ config: { id: "a" } }]);
  });

  it("what is kept for a week is kept, however far ahead an event was recorded", async () => {
    const id = await on.completeTask();
    on.now += 31 * 24 * HOUR;
    await on.completeTask();
    on.setBackMs = 31 * 24 * HOUR;
    expect(await on.store.maintenance.sweep(ECHO, { ageMs: 7 * 24 * HOUR })).toBe(0);
    expect(await on.store.tasks.get(alice, id)).not.toBeNull();
  });

  it("a clock that is set forward does not make a retry come early", async () => {
    const id = await on.createTask();
    await failPush(on, on.store, id, 10_000);
    on.setBackMs = -HOUR;
    expect(await claimPushes(on.store)).toEqual([]);
  });

  it.skipIf(kind === "memory")("a retry comes no later after a restart than was planned", async () => {
    const id = await on.createTask();
    await failPush(on, on.store, id, 10_000);
    on.setBackMs = HOUR;
    await on.reopen();
    expect(await claimPushes(on.store)).toEqual([]);
    on.now += 10_000;
    expect(await claimPushes(on.store)).toMatchObject([{ config: { id: "a" } }]);
  });
});

describe("nodes on Postgres", () => {
  let postgres: TestPostgres;
  let on: Stage;
  let url: string;
  let a: PostgresStore;
  let b: PostgresStore;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres.stop());
  beforeEach(async () => {
    url = await postgres.createDatabase();
    on = new Stage({ open: () => a, lasting: true, shared: true, remove() {} });
    [a, b] = [await open("a"), await open("b")];
    on.store = a;
    await Promise.all([a.lookAtTime(), b.lookAtTime()]);
  });
  afterEach(() => Promise.all([a.close(), b.close()]));

  let last = 0;
  const open = (node: string): Promise<PostgresStore> =>
    openNode(() => on, {
      now: () => (last = Math.max(last, on.wallTime)),
      wallTime: () => on.wallTime,
      leaseMs: LEASE_MS,
      pushLeaseMs: LEASE_MS,
      url,
      node,
    });
  const claim = (node: PostgresStore): Promise<readonly Run[]> => node.runs.claim("worker", AGENTS, 10);

  it("the lease of a node that is gone ends", async () => {
    const id = await on.createTask();
    expect(await claim(a)).toHaveLength(1);
    on.setBackMs = HOUR;
    await b.lookAtTime();
    expect(await claim(b)).toEqual([]);
    on.now += LEASE_MS;
    expect((await claim(b)).map(run => run.task.id)).toEqual([id]);
  });

  it("the lease of a node that is there is renewed", async () => {
    await on.createTask();
    const [run] = (await claim(a)) as [Run];
    on.setBackMs = HOUR;
    await b.lookAtTime();
    on.now += LEASE_MS - 100;
    expect(await a.runs.renew(run)).toBe(true);
    on.now += LEASE_MS - 100;
    expect(await claim(b)).toEqual([]);
  });

  it("a lease that is somewhat longer than ours is left alone", async () => {
    await on.createTask();
    const [run] = (await claim(a)) as [Run];
    on.setBackMs = HOUR;
    // The other node does not know yet that its clock is an hour ahead.
    await b.lookAtTime();
    on.setBackMs = HOUR - 5 * LEASE_MS;
    expect(await a.runs.renew(run)).toBe(true);
    on.setBackMs = HOUR;
    await b.lookAtTime();
    on.now += 3 * LEASE_MS;
    expect(await claim(b)).toEqual([]);
  });

  it("a retry comes no later than was planned, in time and after a start", async () => {
    const id = await on.createTask();
    await failPush(on, a, id, 10_000);
    on.setBackMs = HOUR;
    expect(await claimPushes(a)).toEqual([]);
    await a.lookAtTime();
    await a.lookAtTime();
    expect([await claimPushes(a), await a.deliveries.nextInMs()]).toEqual([[], 10_000]);
    on.setBackMs = 2 * HOUR;
    await b.close();
    b = await open("c");
    await b.lookAtTime();
    on.now += 10_000;
    expect(await claimPushes(b)).toMatchObject([{ config: { id: "a" } }]);
  });

  it("nothing moves while the clock goes on", async () => {
    const id = await on.createTask();
    await failPush(on, a, id, 10_000);
    expect(await claim(a)).toHaveLength(1);
    for (let i = 0; i < 3; i++) await a.lookAtTime();
    expect(await a.deliveries.nextInMs()).toBe(10_000);
    on.now += LEASE_MS;
    expect(await claim(b)).toHaveLength(1);
  });
});
