import { type AgentName, sumUsage, type Usage } from "../../model/index.ts";
import type { UsageRow, UsageStore } from "../../ports/index.ts";
import type { Queryable } from "./database.ts";

interface CounterRow {
  readonly counter: string;
  readonly total: number;
}
interface ReportRow extends CounterRow {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: AgentName;
  readonly day: number;
  readonly context_id: string;
}

const SUMS =
  "SELECT u.counter, sum(u.total) AS total FROM usage u JOIN owner o ON o.id = u.owner WHERE u.day = $1 AND o.tenant = $2";

export function createUsageStore(db: Queryable): UsageStore {
  const sum = async (sql: string, values: readonly unknown[]): Promise<Usage> =>
    Object.fromEntries(
      (await db.query<CounterRow>(`${sql} GROUP BY 1`, values)).map(({ counter, total }) => [counter, total]),
    );
  return {
    async spent({ tenant, principal }, day) {
      const [ofTenant, ofCaller] = await Promise.all([
        sum(SUMS, [day, tenant]),
        sum(`${SUMS} AND o.principal = $3`, [day, tenant, principal]),
      ]);
      return { tenant: ofTenant, caller: ofCaller };
    },
    async report({ from, to }) {
      const rows = await db.query<ReportRow>(
        "SELECT o.tenant, o.principal, o.agent, u.day, u.context_id, u.counter, u.total FROM usage u " +
          "JOIN owner o ON o.id = u.owner WHERE u.day BETWEEN $1 AND $2 ORDER BY u.day, u.owner, u.context_id",
        [from, to],
      );
      const found = new Map<string, UsageRow>();
      for (const { counter, total, context_id: contextId, ...group } of rows) {
        const key = JSON.stringify([group, contextId]);
        found.set(key, { ...group, contextId, usage: sumUsage(found.get(key)?.usage, { [counter]: total }) });
      }
      return [...found.values()];
    },
  };
}
