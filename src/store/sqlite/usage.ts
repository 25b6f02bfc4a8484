import type { DatabaseSync } from "node:sqlite";
import { type Scope, sumUsage, type Usage } from "../../model/index.ts";
import type { UsageQuery, UsageRow } from "../../ports/index.ts";
import type { Change, Journal } from "../single-node/backend.ts";
import { openToRead, requireSchema } from "./open.ts";

interface Sum {
  readonly counter: string;
  readonly total: number;
}

/** What agents have spent. */
export function createUsageTable(db: DatabaseSync) {
  const upsert = db.prepare(
    "INSERT INTO usage (owner, day, context_id, counter, total) VALUES (?, ?, ?, ?, ?) " +
      "ON CONFLICT (owner, day, context_id, counter) DO UPDATE SET total = total + excluded.total",
  );
  const sums = "SELECT counter, sum(total) AS total FROM usage JOIN owner ON owner.id = usage.owner";
  const ofTenant = db.prepare(`${sums} WHERE tenant = ? AND day = ? GROUP BY counter`);
  const ofCaller = db.prepare(`${sums} WHERE tenant = ? AND principal = ? AND day = ? GROUP BY counter`);

  const spent: Journal["spent"] = ({ tenant, principal }: Scope, day) => ({
    tenant: toUsage(ofTenant.all(tenant, day) as unknown as readonly Sum[]),
    caller: toUsage(ofCaller.all(tenant, principal, day) as unknown as readonly Sum[]),
  });

  return {
    spent,
    spentByAll: (query: UsageQuery) => readUsage(db, query),
    /** Only inside a commit. */
    write({ task, steps, day }: Change, ownerOf: () => number): void {
      for (const { event } of steps)
        if (event?.type === "usage")
          for (const [counter, amount] of Object.entries(event.usage))
            upsert.run(ownerOf(), day, task.contextId, counter, amount);
    },
  };
}

const toUsage = (rows: readonly Sum[]): Usage =>
  Object.fromEntries(rows.map(({ counter, total }) => [counter, total]));

/** What was spent, by the store in a folder; also while a server writes to it. */
export function usageOf(folder: string, query: UsageQuery): readonly UsageRow[] {
  const opened = openToRead(folder);
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
    .all(from, to) as unknown as readonly (Omit<UsageRow, "usage"> & Sum)[];
  const found = new Map<string, UsageRow>();
  for (const { counter, total, ...place } of rows) {
    const key = JSON.stringify(place);
    found.set(key, { ...place, usage: sumUsage(found.get(key)?.usage, { [counter]: total }) });
  }
  return [...found.values()];
}
