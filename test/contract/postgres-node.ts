/** One node on a Postgres database, as the contracts of several nodes open it. */
import { LoopBudget } from "../../src/lib/loop-budget.ts";
import { createPostgresStore, type PostgresStore } from "../../src/store/postgres/index.ts";
import { createTestLog } from "../support/server.ts";
import type { Stage } from "./stage.ts";

type NodeParts = Parameters<typeof createPostgresStore>[0];

/** `stage`: has the clocks. `more`: the database, the name of the node, and all that is not as usual. */
export const openNode = (
  stage: () => Pick<Stage, "now">,
  more: Pick<NodeParts, "url" | "node"> & Partial<NodeParts>,
): Promise<PostgresStore> =>
  createPostgresStore({
    loop: new LoopBudget(2_048),
    now: () => stage().now,
    wallTime: () => stage().now,
    ticks: () => stage().now,
    leaseMs: 1_000,
    pushLeaseMs: 1_000,
    runQuota: () => ({ caller: Infinity, tenant: Infinity }),
    hotEventsMax: 1_024,
    hotTasksMax: 100,
    hotBytesMax: 1_000_000,
    onCommitted() {},
    onDue() {},
    onPushDue() {},
    durability: "power",
    connectionsMax: 4,
    statementMs: 10_000,
    log: createTestLog(),
    ...more,
  });
