import { Fault, LIMITS } from "../../model/index.ts";
import type { Schedule } from "../../ports/index.ts";

/** A row of the table `schedule`, without its owner. */
export interface ScheduleRow {
  readonly id: string;
  readonly next_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** The other members, as JSON. */
  readonly body: string;
}

export function encodeSchedule(schedule: Schedule): ScheduleRow {
  const { id, nextAt, createdAt, updatedAt, ...others } = schedule;
  const body = JSON.stringify(others);
  if (body.length > LIMITS.scheduleCharsMax)
    throw new Fault("too-large", `A schedule has at most ${LIMITS.scheduleCharsMax} characters of JSON`);
  return { id, next_at: nextAt ?? null, created_at: createdAt, updated_at: updatedAt, body };
}

export function decodeSchedule(row: ScheduleRow): Schedule {
  const others = JSON.parse(row.body) as Omit<Schedule, "id" | "nextAt" | "createdAt" | "updatedAt">;
  return {
    ...others,
    // Members that are undefined are absent in JSON.
    contextId: others.contextId,
    endAt: others.endAt,
    id: row.id,
    nextAt: row.next_at ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export const tooManySchedules = (): Fault =>
  new Fault(
    "rate-limited",
    `A caller has at most ${LIMITS.schedulesPerCallerMax} schedules; delete one first`,
  );
