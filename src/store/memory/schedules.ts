import type { Scope } from "../../model/index.ts";
import type { ScheduleRow } from "../kernel/schedule-row.ts";
import type { ScheduleBackend } from "../single-node/backend.ts";

interface OwnedRow extends ScheduleRow {
  readonly scope: Scope;
}

/** Schedules in memory. */
export function createMemorySchedules(): ScheduleBackend {
  const rows = new Map<string, OwnedRow>();
  const belongsTo = ({ scope }: OwnedRow, { tenant, principal }: Scope): boolean =>
    scope.tenant === tenant && scope.principal === principal;
  const find = (scope: Scope, id: string): OwnedRow | undefined => {
    const row = rows.get(id);
    return row && belongsTo(row, scope) ? row : undefined;
  };
  const waiting = (): readonly (OwnedRow & { readonly next_at: number })[] =>
    [...rows.values()]
      .filter((row): row is OwnedRow & { next_at: number } => row.next_at !== null)
      .sort((a, b) => a.next_at - b.next_at);

  return {
    get: find,
    list: (scope, max) =>
      [...rows.values()]
        .filter(row => belongsTo(row, scope))
        .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1))
        .slice(0, max),
    write(scope, { id, next_at, created_at, updated_at, body }) {
      if (!rows.has(id) || find(scope, id))
        rows.set(id, { id, next_at, created_at, updated_at, body, scope });
    },
    delete(scope, id) {
      if (find(scope, id)) rows.delete(id);
    },
    due: (now, max) =>
      waiting()
        .filter(row => row.next_at <= now)
        .slice(0, max),
    earliest: () => waiting()[0]?.next_at,
  };
}
