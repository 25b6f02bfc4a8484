import { DatabaseSync } from "node:sqlite";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** The write-ahead log is moved into the database when it has this many pages, about 16 MiB. */
const WAL_PAGES_MIN = 4_000;
const LOOK_MS = 200;

/**
 * Moves the write-ahead log into the database from a thread of its own: done between two commits it would stall
 * every caller for milliseconds (measured: half the p99).
 */
export function startCheckpoints(file: string): { stop(): Promise<void> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: { checkpointFile: file } });
  const gone = new Promise<void>(resolve => worker.once("exit", () => resolve()));
  worker.unref();
  return {
    stop() {
      worker.ref();
      worker.postMessage("stop");
      return gone;
    },
  };
}

function look(db: DatabaseSync): void {
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

function work(file: string): void {
  const db = new DatabaseSync(file, { timeout: 50 });
  const timer = setInterval(() => {
    try {
      look(db);
    } catch {
      // Busy: the writer has the file; the next look comes soon.
    }
  }, LOOK_MS);
  parentPort?.on("message", () => {
    clearInterval(timer);
    db.close();
    parentPort?.close();
  });
}

if (!isMainThread && (workerData as { checkpointFile?: string } | null)?.checkpointFile)
  work((workerData as { checkpointFile: string }).checkpointFile);
