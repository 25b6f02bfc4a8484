import { type AgentName, sumUsage, type Usage } from "../../model/index.ts";
import type { UsageRow, UsageStore } from "../../ports/index.ts";
import type { Asker } from "./database.ts";

interface Sum {
  readonly counter: string;
  readonly total: number;
}
interface Found extends Sum {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: AgentName;
  readonly day: number;
  readonly context_id: string;
}

const SUMS =
  "SELECT u.counter, sum(u.total) AS total FROM usage u JOIN owner o ON o.id = u.owner WHERE u.day = $1 AND o.tenant = $2";

export function createUsageBook(db: Asker): UsageStore {
  const sum = async (sql: string, values: readonly unknown[]): Promise<Usage> =>
    Object.fromEntries(
      (await db.query<Sum>(`${sql} GROUP BY 1`, values)).map(one => [one.counter, one.total]),
    );
  return {
    async spent({ tenant, principal }, day) {
      const [all, own] = await Promise.all([
        sum(SUMS, [day, tenant]),
        sum(`${SUMS} AND o.principal = $3`, [day, tenant, principal]),
      ]);
      return { tenant: all, caller: own };
    },
    async report({ from, to }) {
      const rows = await db.query<Found>(
        "SELECT o.tenant, o.principal, o.agent, u.day, u.context_id, u.counter, u.total FROM usage u " +
          "JOIN owner o ON o.id = u.owner WHERE u.day BETWEEN $1 AND $2 ORDER BY u.day, u.owner, u.context_id",
        [from, to],
      );
      const found = new Map<string, UsageRow>();
      for (const { counter, total, context_id: contextId, ...place } of rows) {
        const key = JSON.stringify([place, contextId]);
        found.set(key, { ...place, contextId, usage: sumUsage(found.get(key)?.usage, { [counter]: total }) });
      }
      return [...found.values()];
    },
  };
}
