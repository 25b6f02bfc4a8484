import type { DatabaseSync } from "node:sqlite";
import { timeOfKey } from "../../model/index.ts";
import { FIRST_TERMINAL } from "../kernel/state-numbers.ts";

/** The time of the last event of the last row, or of the first one if the row is damaged: see `packEvents`. */
const LAST_EVENT_AT =
  "SELECT CASE WHEN json_valid(events) THEN events ->> '$[#-1][0]' ELSE CAST(substr(events, 3, 20) AS INTEGER) END " +
  "FROM segment WHERE task = key ORDER BY last DESC LIMIT 1";

const NEWEST =
  "SELECT max(key) AS key, max(rev) AS rev, max(status_at) AS at, " +
  `max(CASE WHEN state < ${FIRST_TERMINAL} THEN (${LAST_EVENT_AT}) END) AS event_at FROM task`;

/**
 * The newest revision and the newest time: of a status, of an event of a task that has not ended, or of a task id, which can
 * be generated just after the time of its commit was taken.
 */
export function findNewest(db: DatabaseSync): { readonly rev: number; readonly at: number } {
  const row = db.prepare(NEWEST).get() as Record<"key" | "rev" | "at" | "event_at", number | null>;
  if (row.key === null) return { rev: 0, at: 0 };
  return { rev: row.rev ?? 0, at: Math.max(timeOfKey(row.key), row.at ?? 0, row.event_at ?? 0) };
}
