import type { Scope } from "../../model/index.ts";
import { callerOf } from "../kernel/share.ts";
import type { Asker } from "./database.ts";

const RUNNING = `
SELECT o.tenant, o.principal, count(*)::int AS runs FROM task t JOIN owner o ON o.id = t.owner
WHERE t.state < 2 AND t.worker IS NOT NULL AND t.lease_until > $1 GROUP BY 1, 2`;

/** Runs under way by tenant, and by caller. */
export type RunCounts = Map<string, number>;
type Caller = Pick<Scope, "tenant" | "principal">;

export function addRuns(counts: RunCounts, caller: Caller, runs: number): void {
  for (const key of [caller.tenant, callerOf(caller)]) counts.set(key, (counts.get(key) ?? 0) + runs);
}

export async function countRuns(on: Asker, at: number): Promise<RunCounts> {
  const counts: RunCounts = new Map();
  for (const row of await on.query<Caller & { readonly runs: number }>(RUNNING, [at]))
    addRuns(counts, row, row.runs);
  return counts;
}
