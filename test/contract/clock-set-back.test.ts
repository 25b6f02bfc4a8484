import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Seq, TaskId } from "../../src/model/index.ts";
import type { PushSubscription, Run, Store } from "../../src/ports/index.ts";
import { createMemoryStore } from "../../src/store/memory/index.ts";
import type { PostgresStore } from "../../src/store/postgres/index.ts";
import { createSqliteStore } from "../../src/store/sqlite/index.ts";
import { AGENTS, alice, ECHO, StoreHarness } from "../../src/testing/contracts/store-harness.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { tempFolder } from "../support/server.ts";
import { openNode } from "./postgres-node.ts";

/** The clock is set back by an hour: leases must expire and retries must come as planned. */

const HOUR = 3_600_000;
const LEASE_MS = 1_000;
const push = (id: string) => ({
  config: { id, url: `https://${id}.example/`, origin: "v1", events: "all" as const },
  key: `key-${id}`,
  opening: "task" as const,
});

const claimPushes = (store: Store): Promise<readonly PushSubscription[]> =>
  store.deliveries.claim(new Set(), 10);

/** A failed attempt whose retry is due after this delay. */
async function failPush(on: StoreHarness, store: Store, id: TaskId, waitMs: number): Promise<void> {
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
  let on: StoreHarness;
  beforeEach(() => {
    folder = tempFolder();
    const open: StoreHarness["under"]["open"] = parts =>
      kind === "memory"
        ? createMemoryStore(parts)
        : createSqliteStore({ ...parts, folder: folder.path, durability: "process" });
    on = new StoreHarness({ open, isPersistent: kind !== "memory", remove: folder.remove });
    on.start();
  });
  afterEach(() => on.close());

  it("leases expire after their duration, and are renewed for as long", async () => {
    const id = await on.createTask();
    const run = await on.claimRun(id);
    on.setBackMs = HOUR;
    on.now += LEASE_MS - 100;
    expect(await on.store.runs.renew(run)).toBe(true);
    on.now += LEASE_MS - 100;
    expect(await on.store.runs.claim("v", AGENTS, 10)).toEqual([]);
    on.now += 200;
    expect((await on.store.runs.claim("v", AGENTS, 10)).map(one => one.task.id)).toEqual([id]);
  });

  it("a retry comes after its delay", async () => {
    const id = await on.createTask();
    await failPush(on, on.store, id, 10_000);
    on.setBackMs = HOUR;
    expect([await claimPushes(on.store), await on.store.deliveries.nextInMs()]).toEqual([[], 10_000]);
    on.now += 10_000;
    expect(await claimPushes(on.store)).toMatchObject([{ config: { id: "a" } }]);
  });

  it("a retention of a week is a week, however far ahead an event was recorded", async () => {
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
  let on: StoreHarness;
  let url: string;
  let a: PostgresStore;
  let b: PostgresStore;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres.stop());
  beforeEach(async () => {
    url = await postgres.createDatabase();
    on = new StoreHarness({ open: () => a, isPersistent: true, isShared: true, remove() {} });
    [a, b] = [await open("a"), await open("b")];
    on.store = a;
    await Promise.all([a.shortenLongLeases(), b.shortenLongLeases()]);
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

  it("the lease of a stopped node expires", async () => {
    const id = await on.createTask();
    expect(await claim(a)).toHaveLength(1);
    on.setBackMs = HOUR;
    await b.shortenLongLeases();
    expect(await claim(b)).toEqual([]);
    on.now += LEASE_MS;
    expect((await claim(b)).map(run => run.task.id)).toEqual([id]);
  });

  it("the lease of a running node is renewed", async () => {
    await on.createTask();
    const [run] = (await claim(a)) as [Run];
    on.setBackMs = HOUR;
    await b.shortenLongLeases();
    on.now += LEASE_MS - 100;
    expect(await a.runs.renew(run)).toBe(true);
    on.now += LEASE_MS - 100;
    expect(await claim(b)).toEqual([]);
  });

  it("a lease that is slightly longer than our own is not changed", async () => {
    await on.createTask();
    const [run] = (await claim(a)) as [Run];
    on.setBackMs = HOUR;
    // The other node has not yet noticed that its clock is an hour ahead.
    await b.shortenLongLeases();
    on.setBackMs = HOUR - 5 * LEASE_MS;
    expect(await a.runs.renew(run)).toBe(true);
    on.setBackMs = HOUR;
    await b.shortenLongLeases();
    on.now += 3 * LEASE_MS;
    expect(await claim(b)).toEqual([]);
  });

  it("a retry comes no later than planned, also after a restart", async () => {
    const id = await on.createTask();
    await failPush(on, a, id, 10_000);
    on.setBackMs = HOUR;
    expect(await claimPushes(a)).toEqual([]);
    await a.shortenLongLeases();
    await a.shortenLongLeases();
    expect([await claimPushes(a), await a.deliveries.nextInMs()]).toEqual([[], 10_000]);
    on.setBackMs = 2 * HOUR;
    await b.close();
    b = await open("c");
    await b.shortenLongLeases();
    on.now += 10_000;
    expect(await claimPushes(b)).toMatchObject([{ config: { id: "a" } }]);
  });

  it("nothing changes while the clock runs normally", async () => {
    const id = await on.createTask();
    await failPush(on, a, id, 10_000);
    expect(await claim(a)).toHaveLength(1);
    for (let i = 0; i < 3; i++) await a.shortenLongLeases();
    expect(await a.deliveries.nextInMs()).toBe(10_000);
    on.now += LEASE_MS;
    expect(await claim(b)).toHaveLength(1);
  });
});
