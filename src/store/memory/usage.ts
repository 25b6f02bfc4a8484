import { type Scope, sumUsage, type Usage } from "../../model/index.ts";
import type { UsageRow } from "../../ports/index.ts";
import type { Change, Journal } from "../single-node/backend.ts";

/** What agents have spent, in memory. */
export function createUsages() {
  const rows = new Map<string, UsageRow>();

  function add({ scope, task, day }: Change, usage: Usage): void {
    const { tenant, principal } = scope;
    const place = { tenant, principal, agent: task.agent, day, contextId: task.contextId };
    const key = JSON.stringify(place);
    rows.set(key, { ...place, usage: sumUsage(rows.get(key)?.usage, usage) });
  }

  const spent: Journal["spent"] = (scope: Scope, day) => {
    let caller: Usage = {};
    let tenant: Usage = {};
    for (const row of rows.values()) {
      if (row.day !== day || row.tenant !== scope.tenant) continue;
      tenant = sumUsage(tenant, row.usage);
      if (row.principal === scope.principal) caller = sumUsage(caller, row.usage);
    }
    return { caller, tenant };
  };
  const spentByAll: Journal["spentByAll"] = ({ from, to }) =>
    [...rows.values()].filter(({ day }) => day >= from && day <= to);

  return {
    spent,
    spentByAll,
    keep(change: Change): void {
      for (const { event } of change.steps) if (event?.type === "usage") add(change, event.usage);
    },
  };
}
