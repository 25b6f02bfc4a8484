import type { DatabaseSync } from "node:sqlite";
import type { Scope } from "../../model/index.ts";
import type { Journal } from "../single-node/backend.ts";

/** How many tasks are kept for whom. They are counted when somebody first asks, and from then on kept in step. */
export function createCounts(db: DatabaseSync) {
  let counts: Map<string, number> | undefined;

  function load(): Map<string, number> {
    const rows = db
      .prepare(
        "SELECT tenant, principal, count(*) AS tasks FROM task JOIN owner ON owner.id = task.owner GROUP BY tenant, principal",
      )
      .all() as unknown as readonly { tenant: string; principal: string; tasks: number }[];
    const found = new Map<string, number>();
    for (const { tasks, ...scope } of rows) for (const key of keysOf(scope)) add(found, key, tasks);
    return found;
  }

  const count: Journal["count"] = scope => {
    counts ??= load();
    const [caller, tenant] = keysOf(scope);
    return { caller: counts.get(caller) ?? 0, tenant: counts.get(tenant) ?? 0 };
  };

  return {
    count,
    /** After a commit. */
    change(scope: Scope, by: number): void {
      if (counts) for (const key of keysOf(scope)) add(counts, key, by);
    },
  };
}

const keysOf = ({ tenant, principal }: Pick<Scope, "tenant" | "principal">): [string, string] => [
  `${tenant}\n${principal}`,
  tenant,
];

const add = (counts: Map<string, number>, key: string, by: number): void =>
  void counts.set(key, (counts.get(key) ?? 0) + by);
