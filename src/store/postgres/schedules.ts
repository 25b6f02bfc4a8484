import { LIMITS } from "../../model/index.ts";
import type { DueSchedule, ScheduleStore } from "../../ports/index.ts";
import {
  decodeSchedule,
  encodeSchedule,
  type ScheduleRow,
  tooManySchedules,
} from "../kernel/schedule-row.ts";
import { toStoredScope } from "../kernel/stored-scope.ts";
import type { Database } from "./database.ts";

export interface ScheduleStoreParts {
  readonly db: Database;
  readonly wallTime: () => number;
}

const COLUMNS = "id, next_at, created_at, updated_at, body";

/** Schedules, which all nodes claim. */
export function createScheduleStore({ db, wallTime }: ScheduleStoreParts): ScheduleStore {
  return {
    async put({ tenant, principal }, schedule) {
      const { id, next_at, created_at, updated_at, body } = encodeSchedule(schedule);
      const rows = await db.query(
        `INSERT INTO schedule (tenant, principal, id, next_at, created_at, updated_at, body)
         SELECT $1, $2, $3, $4, $5, $6, $7 WHERE EXISTS (SELECT 1 FROM schedule WHERE id = $3)
           OR (SELECT count(*) FROM schedule WHERE tenant = $1 AND principal = $2) < $8
         ON CONFLICT (id) DO UPDATE SET next_at = excluded.next_at, lease_until = NULL, updated_at = excluded.updated_at,
           body = excluded.body WHERE schedule.tenant = excluded.tenant AND schedule.principal = excluded.principal
         RETURNING 1`,
        [tenant, principal, id, next_at, created_at, updated_at, body, LIMITS.schedulesPerCallerMax],
      );
      if (rows.length === 0) throw tooManySchedules();
    },
    async get({ tenant, principal }, id) {
      const [row] = await db.query<ScheduleRow>(
        `SELECT ${COLUMNS} FROM schedule WHERE tenant = $1 AND principal = $2 AND id = $3`,
        [tenant, principal, id],
      );
      return row && decodeSchedule(row);
    },
    async list({ tenant, principal }) {
      const rows = await db.query<ScheduleRow>(
        `SELECT ${COLUMNS} FROM schedule WHERE tenant = $1 AND principal = $2 ORDER BY created_at DESC, id LIMIT $3`,
        [tenant, principal, LIMITS.schedulesPerCallerMax],
      );
      return rows.map(decodeSchedule);
    },
    async delete({ tenant, principal }, id) {
      const rows = await db.query(
        "DELETE FROM schedule WHERE tenant = $1 AND principal = $2 AND id = $3 RETURNING 1",
        [tenant, principal, id],
      );
      return rows.length > 0;
    },
    async claim(max, leaseMs) {
      const now = wallTime();
      const rows = await db.query<ScheduleRow & { tenant: string; principal: string }>(
        `UPDATE schedule SET lease_until = $2 WHERE id IN (SELECT id FROM schedule WHERE next_at <= $1
           AND (lease_until IS NULL OR lease_until <= $1) ORDER BY next_at, id LIMIT $3 FOR UPDATE SKIP LOCKED)
         RETURNING ${COLUMNS}, tenant, principal`,
        [now, now + leaseMs, max],
      );
      return rows
        .map(row => ({ scope: toStoredScope(row), schedule: decodeSchedule(row) }) as DueSchedule)
        .sort((a, b) => a.schedule.nextAt - b.schedule.nextAt);
    },
    async settle({ schedule: { id, nextAt, updatedAt } }, next) {
      await db.query(
        "UPDATE schedule SET next_at = $4, lease_until = NULL WHERE id = $1 AND next_at = $2 AND updated_at = $3",
        [id, nextAt, updatedAt, next ?? null],
      );
    },
    async nextInMs() {
      const [row] = await db.query<{ at: number | null }>(
        "SELECT min(greatest(next_at, coalesce(lease_until, 0))) AS at FROM schedule WHERE next_at IS NOT NULL",
      );
      return row?.at == null ? undefined : Math.max(0, row.at - wallTime());
    },
  };
}
