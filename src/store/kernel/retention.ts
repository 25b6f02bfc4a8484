import { LIMITS, type Retention } from "../../model/index.ts";

/** A retention policy at a point in time; undefined: no such limit. */
export interface RetentionBounds {
  /** Remove tasks that settled at this time or earlier. */
  readonly settledBy: number | undefined;
  /** Remove terminal tasks except for this many newest ones of each caller. */
  readonly newest: number | undefined;
  /** Remove the events of tasks that ended at this time or earlier. */
  readonly eventsBy: number | undefined;
  /** Keep tasks with idempotency keys or message ids until they have settled at this time or earlier. */
  readonly namedBy: number;
  /** The maximum number of tasks for one query. */
  readonly max: number;
}

const ago = (now: number, ms: number | undefined): number | undefined => (ms === undefined ? ms : now - ms);

export const toRetentionBounds = (
  { ageMs, count, eventsAgeMs }: Retention,
  now: number,
): RetentionBounds => ({
  settledBy: ago(now, ageMs),
  newest: count,
  eventsBy: ago(now, eventsAgeMs),
  namedBy: now - LIMITS.keyMs,
  max: LIMITS.sweepTasksMax,
});
