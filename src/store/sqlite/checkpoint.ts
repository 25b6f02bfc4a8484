import type { DatabaseSync } from "node:sqlite";

/** The write-ahead log is moved into the database when it has this many pages, about 16 MiB. */
const WAL_PAGES_MIN = 4_000;

/** Moves the write-ahead log into the database, if it has grown. */
export function checkpointIfLong(db: DatabaseSync): void {
  // NOOP only tells; a SQLite too old to know the word does a PASSIVE one, which is what follows anyway.
  if (checkpoint(db, "NOOP").log < WAL_PAGES_MIN) return;
  const { log, moved } = checkpoint(db, "PASSIVE");
  // Nearly caught up: let the next commit begin the file anew, so that it does not grow for ever.
  if (log - moved < 100) checkpoint(db, "RESTART");
}

function checkpoint(db: DatabaseSync, mode: "NOOP" | "PASSIVE" | "RESTART"): { log: number; moved: number } {
  const row = db.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as { log: number; checkpointed: number };
  return { log: row.log, moved: row.checkpointed };
}
