import type { DatabaseSync } from "node:sqlite";

/** Runs `work` in one transaction. */
export type Transact = <T>(work: () => T) => T;

/** How long a transaction waits for another writer, such as the checkpoint of the write-ahead log. */
export const BUSY_MS = 5_000;

/**
 * How often it looks again, which is what SQLite waits by itself (`busy_timeout`): with a longer time SQLite doubles its
 * sleeps, and a commit waits 18 ms for a lock that was held for 3.
 */
export const BUSY_POLL_MS = 1;

const SQLITE_BUSY = 5;

/**
 * SQLite waits for the write lock (`busy_timeout`), but counts the requested sleeps instead of the elapsed time. Signals
 * interrupt sleeps: under a CPU profiler, which sends thousands of signals per second, five seconds end after twenty
 * milliseconds. So the wait is repeated until the time has elapsed.
 *
 * `ticks`: milliseconds for durations.
 */
export function createTransact(db: DatabaseSync, ticks: () => number): Transact {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");

  function beginWhenUnlocked(): void {
    const until = ticks() + BUSY_MS;
    for (;;) {
      try {
        begin.run();
        return;
      } catch (error) {
        if (!isBusy(error) || ticks() >= until) throw error;
      }
    }
  }

  return work => {
    beginWhenUnlocked();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      if (db.isTransaction) rollback.run();
      throw error;
    }
  };
}

const isBusy = (error: unknown): boolean =>
  ((error as { readonly errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;
