import { type Scope, sumUsage, type Usage } from "../../model/index.ts";
import type { UsageRow } from "../../ports/index.ts";
import type { Backend, TaskChange } from "../single-node/backend.ts";

/** Usage counters in memory. */
export function createMemoryUsage() {
  const rows = new Map<string, UsageRow>();

  const spent: Backend["spent"] = (scope: Scope, day) => {
    let caller: Usage = {};
    let tenant: Usage = {};
    for (const row of rows.values()) {
      if (row.day !== day || row.tenant !== scope.tenant) continue;
      tenant = sumUsage(tenant, row.usage);
      if (row.principal === scope.principal) caller = sumUsage(caller, row.usage);
    }
    return { caller, tenant };
  };
  const report: Backend["reportUsage"] = ({ from, to }) =>
    [...rows.values()].filter(({ day }) => day >= from && day <= to);

  return {
    spent,
    report,
    write({ scope: { tenant, principal }, task, day, steps }: TaskChange): void {
      for (const { event } of steps) {
        if (event?.type !== "usage" || event.of !== undefined) continue;
        const dimensions = { tenant, principal, agent: task.agent, day, contextId: task.contextId };
        const key = JSON.stringify(dimensions);
        rows.set(key, { ...dimensions, usage: sumUsage(rows.get(key)?.usage, event.usage) });
      }
    },
  };
}
