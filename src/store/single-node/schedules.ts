import { LIMITS } from "../../model/index.ts";
import type { DueSchedule, ScheduleStore } from "../../ports/index.ts";
import { decodeSchedule, encodeSchedule, tooManySchedules } from "../kernel/schedule-row.ts";
import type { Backend } from "./backend.ts";
import type { BatchWriter } from "./writer.ts";

export interface SingleNodeSchedulesParts {
  readonly backend: Backend;
  readonly writer: BatchWriter;
  readonly wallTime: () => number;
  readonly ticks: () => number;
}

/** Schedules: written with the next commit, read from the backend. Claims are in memory: there is one process. */
export function createSingleNodeSchedules(parts: SingleNodeSchedulesParts): ScheduleStore {
  const { writer, wallTime, ticks } = parts;
  const { schedules } = parts.backend;
  /** Claimed schedules, and the end of their lease in ticks. */
  const leases = new Map<string, number>();

  const isFree = (id: string): boolean => (leases.get(id) ?? Number.NEGATIVE_INFINITY) <= ticks();

  return {
    async put(scope, schedule) {
      const row = encodeSchedule(schedule);
      const isNew = schedules.get(scope, row.id) === undefined;
      if (isNew && schedules.list(scope, LIMITS.schedulesPerCallerMax).length >= LIMITS.schedulesPerCallerMax)
        throw tooManySchedules();
      await writer.write(() => schedules.write(scope, row));
    },
    async get(scope, id) {
      const row = schedules.get(scope, id);
      return row && decodeSchedule(row);
    },
    async list(scope) {
      return schedules.list(scope, LIMITS.schedulesPerCallerMax).map(decodeSchedule);
    },
    async delete(scope, id) {
      if (!schedules.get(scope, id)) return false;
      await writer.write(() => schedules.delete(scope, id));
      leases.delete(id);
      return true;
    },
    async claim(max, leaseMs) {
      // Those that are claimed already may be the first ones.
      const rows = schedules.due(wallTime(), max + leases.size).filter(({ id }) => isFree(id));
      const claimed = rows.slice(0, max);
      for (const { id } of claimed) leases.set(id, ticks() + leaseMs);
      return claimed.map(row => ({ scope: row.scope, schedule: decodeSchedule(row) }) as DueSchedule);
    },
    async settle({ scope, schedule }, nextAt) {
      await writer.write(() => {
        const row = schedules.get(scope, schedule.id);
        if (row && row.next_at === schedule.nextAt && row.updated_at === schedule.updatedAt)
          schedules.write(scope, { ...row, next_at: nextAt ?? null });
      });
      leases.delete(schedule.id);
    },
    async nextInMs() {
      const at = schedules.earliest();
      return at === undefined ? undefined : Math.max(0, at - wallTime());
    },
  };
}
