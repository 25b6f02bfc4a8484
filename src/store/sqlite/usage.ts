import type { DatabaseSync } from "node:sqlite";
import { sumUsage, type Usage } from "../../model/index.ts";
import type { UsageQuery, UsageRow } from "../../ports/index.ts";
import type { Backend, TaskChange } from "../single-node/backend.ts";
import { openReadOnly, requireSchema } from "./open.ts";

interface CounterRow {
  readonly counter: string;
  readonly total: number;
}

/** Usage counters. */
export function createUsageTable(db: DatabaseSync) {
  const upsert = db.prepare(
    "INSERT INTO usage (owner, day, context_id, counter, total) VALUES (?, ?, ?, ?, ?) " +
      "ON CONFLICT (owner, day, context_id, counter) DO UPDATE SET total = total + excluded.total",
  );
  const sums = "SELECT counter, sum(total) AS total FROM usage JOIN owner ON owner.id = usage.owner";
  const selectTenant = db.prepare(`${sums} WHERE tenant = ? AND day = ? GROUP BY counter`);
  const selectCaller = db.prepare(`${sums} WHERE tenant = ? AND principal = ? AND day = ? GROUP BY counter`);

  const spent: Backend["spent"] = ({ tenant, principal }, day) => ({
    tenant: toUsage(selectTenant.all(tenant, day) as unknown as readonly CounterRow[]),
    caller: toUsage(selectCaller.all(tenant, principal, day) as unknown as readonly CounterRow[]),
  });

  return {
    spent,
    report: (query: UsageQuery) => readUsage(db, query),
    /** Only inside a transaction. */
    write({ task, steps, day }: TaskChange, ownerOf: () => number): void {
      for (const { event } of steps)
        if (event?.type === "usage" && event.of === undefined)
          for (const [counter, amount] of Object.entries(event.usage))
            upsert.run(ownerOf(), day, task.contextId, counter, amount);
    },
  };
}

const toUsage = (rows: readonly CounterRow[]): Usage =>
  Object.fromEntries(rows.map(({ counter, total }) => [counter, total]));

/** The usage in the store of a folder; a server may be running. */
export function readStoreUsage(folder: string, query: UsageQuery): readonly UsageRow[] {
  const opened = openReadOnly(folder);
  try {
    requireSchema(opened);
    return readUsage(opened.db, query);
  } finally {
    opened.db.close();
  }
}

export function readUsage(db: DatabaseSync, { from, to }: UsageQuery): readonly UsageRow[] {
  const rows = db
    .prepare(
      "SELECT tenant, principal, agent, day, context_id AS contextId, counter, total " +
        "FROM usage JOIN owner ON owner.id = usage.owner WHERE day BETWEEN ? AND ? ORDER BY day, owner, context_id",
    )
    .all(from, to) as unknown as readonly (Omit<UsageRow, "usage"> & CounterRow)[];
  const found = new Map<string, UsageRow>();
  for (const { counter, total, ...dimensions } of rows) {
    const key = JSON.stringify(dimensions);
    found.set(key, { ...dimensions, usage: sumUsage(found.get(key)?.usage, { [counter]: total }) });
  }
  return [...found.values()];
}
