/** Opens one node on a Postgres database, for tests with several nodes. */
import { LoopBudget } from "../../src/lib/loop-budget.ts";
import { createPostgresStore, type PostgresStore } from "../../src/store/postgres/index.ts";
import type { StoreHarness } from "../../src/testing/contracts/store-harness.ts";
import { createTestLog } from "../support/server.ts";

type NodeParts = Parameters<typeof createPostgresStore>[0];

/** `harness`: has the clock. `more`: the database, the name of the node, and overrides. */
export const openNode = (
  harness: () => Pick<StoreHarness, "now">,
  more: Pick<NodeParts, "url" | "node"> & Partial<NodeParts>,
): Promise<PostgresStore> =>
  createPostgresStore({
    loop: new LoopBudget(2_048),
    now: () => harness().now,
    wallTime: () => harness().now,
    ticks: () => harness().now,
    leaseMs: 1_000,
    pushLeaseMs: 1_000,
    runQuota: () => ({ caller: Infinity, tenant: Infinity }),
    tailEventsMax: 1_024,
    tailCacheTasksMax: 100,
    tailCacheBytesMax: 1_000_000,
    onCommitted() {},
    onCreated() {},
    onDue() {},
    onPushDue() {},
    durability: "power",
    version: "test",
    connectionsMax: 4,
    statementMs: 10_000,
    log: createTestLog(),
    ...more,
  });
