import type { DatabaseSync } from "node:sqlite";
import type { Scope } from "../../model/index.ts";
import type { Backend } from "../single-node/backend.ts";

/** The number of tasks of each caller and tenant: counted on first use, then updated after each commit. */
export function createTaskCounts(db: DatabaseSync) {
  let counts: Map<string, number> | undefined;

  function load(): Map<string, number> {
    const rows = db
      .prepare(
        "SELECT tenant, principal, count(*) AS tasks FROM task JOIN owner ON owner.id = task.owner GROUP BY tenant, principal",
      )
      .all() as unknown as readonly { tenant: string; principal: string; tasks: number }[];
    const loaded = new Map<string, number>();
    for (const { tasks, ...scope } of rows) add(loaded, scope, tasks);
    return loaded;
  }

  const count: Backend["count"] = scope => {
    counts ??= load();
    const [caller, tenant] = toKeys(scope);
    return { caller: counts.get(caller) ?? 0, tenant: counts.get(tenant) ?? 0 };
  };

  return {
    count,
    /** To be called after a commit. */
    change(scope: Scope, by: number): void {
      if (counts) add(counts, scope, by);
    },
  };
}

type CallerIds = Pick<Scope, "tenant" | "principal">;

const toKeys = ({ tenant, principal }: CallerIds): [string, string] => [`${tenant}\n${principal}`, tenant];

function add(counts: Map<string, number>, scope: CallerIds, by: number): void {
  for (const key of toKeys(scope)) counts.set(key, (counts.get(key) ?? 0) + by);
}
