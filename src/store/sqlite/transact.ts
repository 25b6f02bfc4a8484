import type { DatabaseSync } from "node:sqlite";

/** Does work in one transaction: all of it or nothing. */
export type Transact = <T>(work: () => T) => T;

/** How long a transaction waits for another writer, such as the checkpoint of the write-ahead log. */
export const BUSY_MS = 5_000;

const SQLITE_BUSY = 5;

/**
 * SQLite waits for the write lock by itself (`busy_timeout`), but it counts the sleeps that it asked for and not the time
 * that passed. Signals cut sleeps short: under a CPU profiler, which sends thousands in a second, its five seconds are over
 * after twenty milliseconds. So the wait is repeated until the time has really passed.
 *
 * `ticks`: milliseconds for durations.
 */
export function createTransact(db: DatabaseSync, ticks: () => number): Transact {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");

  function beginWhenFree(): void {
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
    beginWhenFree();
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
