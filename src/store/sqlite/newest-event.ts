import type { DatabaseSync } from "node:sqlite";
import { timeOfKey } from "../../model/index.ts";
import { FIRST_TERMINAL } from "../kernel/state-numbers.ts";

/** All events of a row have one time, and the row begins with it: see `pack`. */
const LAST_SAID =
  "SELECT CAST(substr(events, 3, 20) AS INTEGER) FROM segment WHERE task = key ORDER BY last DESC LIMIT 1";

const NEWEST =
  "SELECT max(key) AS key, max(rev) AS rev, max(status_at) AS at, " +
  `max(CASE WHEN state < ${FIRST_TERMINAL} THEN (${LAST_SAID}) END) AS said FROM task`;

/**
 * The newest revision and the newest time: of a status, of what a task that has not ended said since then, or of an id,
 * which may be minted a moment after the commit has got its time.
 */
export function newestIn(db: DatabaseSync): { readonly rev: number; readonly at: number } {
  const row = db.prepare(NEWEST).get() as Record<"key" | "rev" | "at" | "said", number | null>;
  if (row.key === null) return { rev: 0, at: 0 };
  return { rev: row.rev ?? 0, at: Math.max(timeOfKey(row.key), row.at ?? 0, row.said ?? 0) };
}
