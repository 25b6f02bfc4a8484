import type { DatabaseSync } from "node:sqlite";
import type { ScheduleRow } from "../kernel/schedule-row.ts";
import { toStoredScope } from "../kernel/stored-scope.ts";
import type { ScheduleBackend } from "../single-node/backend.ts";
import { BOUND_LIMIT } from "./bound-limit.ts";

const COLUMNS = "id, next_at, created_at, updated_at, body";
const OWNED = "tenant = ? AND principal = ?";

interface DueRow extends ScheduleRow {
  readonly tenant: string;
  readonly principal: string;
}

export function createScheduleTable(db: DatabaseSync): ScheduleBackend {
  const select = db.prepare(`SELECT ${COLUMNS} FROM schedule WHERE ${OWNED} AND id = ?`);
  const selectAll = db.prepare(
    `SELECT ${COLUMNS} FROM schedule WHERE ${OWNED} ORDER BY created_at DESC, id ${BOUND_LIMIT}`,
  );
  // The id of another caller's schedule changes nothing.
  const upsert = db.prepare(
    "INSERT INTO schedule (tenant, principal, id, next_at, created_at, updated_at, body) VALUES (?, ?, ?, ?, ?, ?, ?) " +
      "ON CONFLICT (id) DO UPDATE SET next_at = excluded.next_at, updated_at = excluded.updated_at, body = excluded.body " +
      "WHERE schedule.tenant = excluded.tenant AND schedule.principal = excluded.principal",
  );
  const remove = db.prepare(`DELETE FROM schedule WHERE ${OWNED} AND id = ?`);
  const selectDue = db.prepare(
    `SELECT ${COLUMNS}, tenant, principal FROM schedule WHERE next_at <= ? ORDER BY next_at, id ${BOUND_LIMIT}`,
  );
  const selectEarliest = db.prepare(
    "SELECT next_at FROM schedule WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1",
  );

  return {
    get: ({ tenant, principal }, id) => select.get(tenant, principal, id) as ScheduleRow | undefined,
    list: ({ tenant, principal }, max) => selectAll.all(tenant, principal, max) as unknown as ScheduleRow[],
    write({ tenant, principal }, { id, next_at, created_at, updated_at, body }) {
      upsert.run(tenant, principal, id, next_at, created_at, updated_at, body);
    },
    delete({ tenant, principal }, id) {
      remove.run(tenant, principal, id);
    },
    due: (now, max) =>
      (selectDue.all(now, max) as unknown as DueRow[]).map(({ tenant, principal, ...row }) => ({
        ...row,
        scope: toStoredScope({ tenant, principal }),
      })),
    earliest: () => selectEarliest.get()?.next_at as number | undefined,
  };
}
