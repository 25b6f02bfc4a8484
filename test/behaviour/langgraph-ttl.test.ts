import { afterEach, beforeEach, expect, test } from "vitest";
import { createThreadExpiry } from "../../src/langgraph-api/thread-expiry.ts";
import { createThreadRecords, type ThreadTtl } from "../../src/langgraph-api/thread-records.ts";
import { createThreadState } from "../../src/langgraph-api/thread-state.ts";
import { systemTimers } from "../../src/lib/timers.ts";
import type { ContextId } from "../../src/model/index.ts";
import type { Agent, Catalog } from "../../src/ports/index.ts";
import { createMemoryStore } from "../../src/store/memory/index.ts";
import { alice, bob, ECHO, StoreHarness } from "../../src/testing/contracts/store-harness.ts";
import { createTestLog } from "../support/server.ts";

/** Threads whose time to live is over, by a clock of the test. */

const MINUTE = 60_000;
let on: StoreHarness;
let kept: string[];
let expiry: ReturnType<typeof createThreadExpiry>;
let threads: ReturnType<typeof createThreadRecords>;

beforeEach(() => {
  on = new StoreHarness({ open: createMemoryStore, isPersistent: false, remove() {} });
  on.start();
  kept = [];
  const graph = { keepLatest: async ({ contextId }: { contextId: string }) => void kept.push(contextId) };
  const agent = { name: ECHO, graph } as unknown as Agent;
  const visible = { find: () => agent, all: () => [agent], defaultAgent: ECHO };
  const catalog: Catalog = { ...visible, names: () => new Set([ECHO]), visibleTo: () => visible };
  const clock = { now: () => on.wallTime, wallTime: () => on.wallTime };
  const parts = { store: on.store, catalog, idOf: (name: string) => name, ...clock, log: createTestLog() };
  threads = createThreadRecords(parts);
  const states = createThreadState({ ...parts, threads });
  // Swept by the test only.
  expiry = createThreadExpiry({ ...parts, threads, states, timers: systemTimers, sweepMs: 1_000_000_000 });
});
afterEach(async () => {
  await expiry.close();
  await on.close();
});

const create = (id: string, ttl?: ThreadTtl, scope = alice) =>
  threads.create(scope, id, { metadata: {}, config: {}, ...(ttl && { ttl }) });
const isThere = async (id: string, scope = alice): Promise<boolean> =>
  (await on.store.resources.find(scope, "context", id)) !== null;

test("a thread is deleted with its runs and its state when its time is over, for each caller", async () => {
  const ttl = { strategy: "delete", ttl: 10 } as const;
  await create("short", ttl);
  await create("short", ttl, bob);
  await create("forever");
  const task = await on.completeTask({ contextId: "short" as ContextId });
  const area = { scope: alice, agent: ECHO, area: "short" };
  await on.store.storage.put(area as never, [{ key: "k", value: 1 }]);
  on.now += 9 * MINUTE;
  await expiry.sweep();
  expect(await isThere("short")).toBe(true);
  on.now += 2 * MINUTE;
  await expiry.sweep();
  expect([await isThere("short"), await isThere("short", bob), await isThere("forever")]).toEqual([
    false,
    false,
    true,
  ]);
  expect(await on.store.tasks.get(alice, task)).toBeNull();
  expect(await on.store.storage.get(area as never, "k")).toBeUndefined();
});

test("a change of the thread counts its time anew", async () => {
  await create("used", { strategy: "delete", ttl: 10 });
  on.now += 9 * MINUTE;
  await threads.change(alice, "used", ({ metadata, config, ttl }) => ({
    metadata,
    config,
    ...(ttl && { ttl }),
  }));
  on.now += 9 * MINUTE;
  await expiry.sweep();
  expect(await isThere("used")).toBe(true);
});

test("keep_latest deletes checkpoints and keeps the thread", async () => {
  await create("long", { strategy: "keep_latest", ttl: 10 });
  await on.completeTask({ contextId: "long" as ContextId });
  on.now += 11 * MINUTE;
  await expiry.sweep();
  expect([kept, await isThere("long")]).toEqual([["long"], true]);
  await expiry.sweep();
  expect(kept).toEqual(["long"]);
});

test("a thread with an active run is left alone until the run has ended", async () => {
  await create("busy", { strategy: "delete", ttl: 10 });
  const task = await on.createTask({ contextId: "busy" as ContextId });
  on.now += 11 * MINUTE;
  await expiry.sweep();
  expect(await isThere("busy")).toBe(true);
  await on.complete(await on.claimRun(task));
  on.now += 11 * MINUTE;
  await expiry.sweep();
  expect(await isThere("busy")).toBe(false);
});
