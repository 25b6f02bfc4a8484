import { statSync } from "node:fs";
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

/** null: stop. */
type ThreadRequest = {
  readonly id: number;
  readonly agent: AgentName;
  readonly bounds: RetentionBounds;
} | null;
type ThreadReply =
  | { readonly id: number; readonly found: ExpiredData }
  | { readonly id: number; readonly error: unknown };

export interface MaintenanceThread {
  readonly findExpired: Backend["findExpired"];
  stop(): Promise<void>;
}

/**
 * Checkpoints and retention queries run in a thread of their own: between two commits, a checkpoint would delay every call
 * by milliseconds (measured: half the p99), and a search for expired tasks by more than that. The thread takes 8 MiB of memory,
 * so it starts when it has something to do (docs/decisions/0041).
 */
export function createMaintenanceThread(file: string): MaintenanceThread {
  let started: MaintenanceThread | undefined;
  const start = (): MaintenanceThread => {
    clearInterval(timer);
    started ??= startMaintenanceThread(file);
    return started;
  };
  const timer = setInterval(() => {
    const { size } = statSync(`${file}-wal`, { throwIfNoEntry: false }) ?? { size: 0 };
    if (size >= WAL_BYTES_MIN) start();
  }, CHECKPOINT_CHECK_MS);
  timer.unref();
  return {
    findExpired: (agent, bounds) => start().findExpired(agent, bounds),
    async stop() {
      clearInterval(timer);
      const thread = started;
      started = STOPPED;
      await thread?.stop();
    },
  };
}

const STOPPED: MaintenanceThread = {
  findExpired: async () => ({ tasks: [], logs: [] }),
  stop: async () => undefined,
};

function startMaintenanceThread(file: string): MaintenanceThread {
  const thread = startThread(JOB, { file });
  const pending = new Map<number, PromiseWithResolvers<ExpiredData>>();
  let lastId = 0;
  const exited = new Promise<void>(resolve => thread.once("exit", () => resolve()));
  // The store is closing: pending sweeps end without a result.
  exited.then(() => {
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
function work({ file }: { readonly file: string }, port: MessagePort): void {
  const db = new DatabaseSync(file, { timeout: 50 });
  let query: RetentionQuery | undefined;
  const timer = setInterval(() => {
    try {
      checkpointIfLarge(db);
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

function checkpointIfLarge(db: DatabaseSync): void {
  // NOOP only reports the size; an older SQLite does a PASSIVE checkpoint instead, which would follow anyway.
  if (checkpoint(db, "NOOP").log < WAL_PAGES_MIN) return;
  const { log, moved } = checkpoint(db, "PASSIVE");
  // Nearly done: let the next commit restart the file, so that it does not grow without limit.
  if (log - moved < 100) checkpoint(db, "RESTART");
}

function checkpoint(db: DatabaseSync, mode: "NOOP" | "PASSIVE" | "RESTART"): { log: number; moved: number } {
  const row = db.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as { log: number; checkpointed: number };
  return { log: row.log, moved: row.checkpointed };
}

serveJob(JOB, work);
