import { closeSync, fdatasyncSync, openSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";
import type { AgentName } from "../../model/index.ts";
import type { RetentionBounds } from "../kernel/retention.ts";
import type { Backend, ExpiredData } from "../single-node/backend.ts";
import { createRetentionQuery, type RetentionQuery } from "./retention-query.ts";
import { serveJob, startThread } from "./thread.ts";

const JOB = { name: "maintain", url: import.meta.url } as const;

const CHECKPOINT_CHECK_MS = 200;
/** The write-ahead log is checkpointed when it has this many pages. */
const WAL_PAGES_MIN = 4_000;
/** About as many pages, with their headers. */
const WAL_BYTES_MIN = 16 * 1024 * 1024;
/** Of the log that may be left when it is restarted: meanwhile no commit can begin. */
const RESTART_PAGES_MAX = 100;
/** How long a restart waits for the commit under way, and for readers of the file, such as a backup. */
const RESTART_WAIT_MS = 50;

/** null: stop. */
type ThreadRequest = {
  readonly id: number;
  readonly agent: AgentName;
  readonly bounds: RetentionBounds;
} | null;
type ThreadReply =
  | { readonly id: number; readonly found: ExpiredData }
  | { readonly id: number; readonly error: unknown };

interface RunningThread {
  readonly findExpired: Backend["findExpired"];
  stop(): Promise<void>;
}

export interface MaintenanceThread extends RunningThread {
  /**
   * To be called after the store has closed the file: when a process closes any handle of a file, the system releases all
   * locks that the process has on it, and with them those of SQLite.
   */
  closeHandle(): void;
}

/**
 * Checkpoints and retention queries run in a thread of their own: between two commits, a checkpoint would delay every call
 * by milliseconds (measured: half the p99), and a search for expired tasks by more than that. The thread takes 8 MiB of memory,
 * so it starts when it has something to do (docs/decisions/0041).
 */
export function createMaintenanceThread(file: string): MaintenanceThread {
  // Opened at once: later the process may have no handle left.
  let handle: number | undefined = openSync(file, "r+");
  let running: RunningThread | undefined;
  const start = (): RunningThread => {
    running ??= startMaintenanceThread({ file, handle: handle as number }, () => {
      if (running !== STOPPED) running = undefined;
    });
    return running;
  };
  const timer = setInterval(() => {
    if (!running && walBytes(file) >= WAL_BYTES_MIN) start();
  }, CHECKPOINT_CHECK_MS);
  timer.unref();
  return {
    findExpired: (agent, bounds) => start().findExpired(agent, bounds),
    async stop() {
      clearInterval(timer);
      const thread = running;
      running = STOPPED;
      await thread?.stop();
    },
    closeHandle() {
      if (handle !== undefined) closeSync(handle);
      handle = undefined;
    },
  };
}

const walBytes = (file: string): number => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;

const STOPPED: RunningThread = {
  findExpired: async () => ({ tasks: [], logs: [] }),
  stop: async () => undefined,
};

interface ThreadInput {
  readonly file: string;
  /** Of the same file, to sync it. */
  readonly handle: number;
}

/** `onExit`: another thread can be started. */
function startMaintenanceThread(input: ThreadInput, onExit: () => void): RunningThread {
  const thread = startThread(JOB, input);
  thread.on("error", error => {
    // The process has no memory or handle for it now: the next check starts another one.
    if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_INIT_FAILED") throw error;
  });
  const pending = new Map<number, PromiseWithResolvers<ExpiredData>>();
  let lastId = 0;
  const exited = new Promise<void>(resolve => thread.once("exit", () => resolve()));
  // The store is closing, or the thread could not start: pending sweeps end without a result.
  exited.then(() => {
    onExit();
    for (const { resolve } of pending.values()) resolve({ tasks: [], logs: [] });
  });
  thread.on("message", (reply: ThreadReply) => {
    const { resolve, reject } = pending.get(reply.id) as PromiseWithResolvers<ExpiredData>;
    pending.delete(reply.id);
    if ("found" in reply) resolve(reply.found);
    else reject(reply.error);
  });
  thread.unref();
  const post = (request: ThreadRequest): void => thread.postMessage(request);
  return {
    findExpired(agent, bounds) {
      const result = Promise.withResolvers<ExpiredData>();
      pending.set(++lastId, result);
      post({ id: lastId, agent, bounds });
      return result.promise;
    },
    stop() {
      thread.ref();
      post(null);
      return exited;
    },
  };
}

/** Runs in the thread. */
function work({ file, handle }: ThreadInput, port: MessagePort): void {
  const db = new DatabaseSync(file, { timeout: RESTART_WAIT_MS });
  let query: RetentionQuery | undefined;
  const timer = setInterval(() => {
    try {
      checkpointIfLarge(db, handle);
    } catch {
      // The writer has locked the file: the next check comes soon.
    }
  }, CHECKPOINT_CHECK_MS);
  port.on("message", (request: ThreadRequest) => {
    if (request) return port.postMessage(findExpired(request, (query ??= createRetentionQuery(db))));
    clearInterval(timer);
    db.close();
    port.close();
  });
}

function findExpired(
  { id, agent, bounds }: Exclude<ThreadRequest, null>,
  query: RetentionQuery,
): ThreadReply {
  try {
    return { id, found: query(agent, bounds) };
  } catch (error) {
    return { id, error };
  }
}

function checkpointIfLarge(db: DatabaseSync, handle: number): void {
  // NOOP only reports the size; an older SQLite does a PASSIVE checkpoint instead, which would follow anyway.
  const before = checkpoint(db, "NOOP");
  // A log that was moved to the end is restarted by the next commit: until then there is nothing to do.
  if (before.log < WAL_PAGES_MIN || before.moved === before.log) return;
  checkpoint(db, "PASSIVE");
  // A restart syncs the file while commits wait for it: what is synced before takes none of their time.
  fdatasyncSync(handle);
  const { log, moved } = checkpoint(db, "PASSIVE");
  fdatasyncSync(handle);
  // Nearly done: let the next commit restart the log, so that it does not grow without limit.
  if (log - moved < RESTART_PAGES_MAX) checkpoint(db, "RESTART");
}

function checkpoint(db: DatabaseSync, mode: "NOOP" | "PASSIVE" | "RESTART"): { log: number; moved: number } {
  const row = db.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as { log: number; checkpointed: number };
  return { log: row.log, moved: row.checkpointed };
}

serveJob(JOB, work);
