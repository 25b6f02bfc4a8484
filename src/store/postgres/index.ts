import { type TaskId, taskNotFound } from "../../model/index.ts";
import type { Log, Store } from "../../ports/index.ts";
import { FIRST_SETTLED } from "../kernel/state-numbers.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import { watchSetBack } from "./clock-set-back.ts";
import { type Database, openDatabase } from "./database.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { createItemStore } from "./items.ts";
import { migrate } from "./migrate.ts";
import { NewRuns } from "./new-runs.ts";
import { createOverview } from "./overview.ts";
import { OwnerIds } from "./owners.ts";
import { PostgresPushes } from "./pushes.ts";
import { TaskReader } from "./reader.ts";
import { createResources } from "./resources.ts";
import { createMaintenance } from "./retention.ts";
import { RunLimits } from "./run-limits.ts";
import { PostgresRunQueue } from "./run-queue.ts";
import { createScheduleStore } from "./schedules.ts";
import { createAgentStorage } from "./storage.ts";
import { TaskCache } from "./task-cache.ts";
import { createTaskIndex } from "./task-index.ts";
import { createUsageStore } from "./usage.ts";
import { LogWriter } from "./writer.ts";

export { createPostgresTokenStore } from "./tokens.ts";

export interface PostgresStoreParts extends Omit<StoreParts, "tailIdleMs" | "onDamaged"> {
  readonly url: string;
  /** The unique id of this node. */
  readonly node: string;
  /** Of this server, for the list of nodes. */
  readonly version: string;
  readonly durability: "power" | "process";
  readonly connectionsMax: number;
  readonly statementMs: number;
  /** Called instead of `onCommitted` for a task that no reader can have known before the commit. */
  readonly onCreated: (taskId: TaskId) => void;
  /** How long a push subscription stays claimed without progress. */
  readonly pushLeaseMs: number;
  readonly log: Log;
}

/** A store that many nodes share. */
export interface PostgresStore extends Store {
  /** The unique id of the database. */
  readonly cluster: string;
  /** See `Database`. */
  readonly isPooled: boolean;
  /** Another node may have written to this task; undefined: to any. */
  invalidate(taskId: TaskId | undefined): void;
  /** The time of the database's clock. */
  readTime(): Promise<number>;
  /** Shortens leases and retries that last too long because the clock was set back; also done regularly. */
  shortenLongLeases(): Promise<void>;
  /** The encryption keys of a cluster that is configured without keys: the first node creates them, all nodes use them. */
  sharedKeys(create: () => string): Promise<string>;
}

/**
 * The newest time of an event, judged by the newest tasks: by their status, and for unfinished ones by the newest segment
 * of the log. All events of a segment have the same time.
 */
const NEWEST = `SELECT max(at) AS at FROM (
  (SELECT status_at AS at FROM task ORDER BY key DESC LIMIT 1000) UNION ALL
  SELECT (SELECT substring(s.events FROM '^\\[\\[(\\d+)')::bigint FROM segment s WHERE s.task = t.key ORDER BY s.last DESC LIMIT 1)
  FROM (SELECT key FROM task WHERE state < ${FIRST_SETTLED} ORDER BY key DESC LIMIT 1000) AS t
) AS newest`;

export async function createPostgresStore(parts: PostgresStoreParts): Promise<PostgresStore> {
  await migrate(parts);
  const db = await openDatabase(parts);
  // Commits are one after another, and reads of what other nodes have committed are small: each have a connection.
  const kept = { ...parts, connectionsMax: 1, keepsPlans: true };
  const [writes, updates] = await Promise.all([openDatabase(kept), openDatabase(kept)]);
  const closeDatabases = async (): Promise<void> =>
    void (await Promise.all([db, writes, updates].map(one => one.close())));
  const { newest, cluster, heartbeat } = await start(db, parts).catch(async error => {
    await closeDatabases();
    throw error;
  });
  const owners = new OwnerIds(db);
  const cache = new TaskCache(parts);
  const reader = new TaskReader({ ...parts, db, updates, owners, cache });
  const limits = new RunLimits(parts);
  const newRuns = new NewRuns({ ...parts, limits });
  const inner = { ...parts, db, owners, cache, reader, limits, newRuns };
  const writer = new LogWriter({ ...inner, writes });
  const runs = new PostgresRunQueue({ ...inner, writer, countNodes: heartbeat.countNodes });
  const pushes = new PostgresPushes(inner);
  const setBack = watchSetBack(inner);
  let closed: Promise<void> | undefined;

  return {
    lastAt: newest?.at ?? 0,
    cluster: cluster?.id as string,
    isPooled: db.isPooled,
    nodes: heartbeat.countNodes,
    log: {
      append: writer.append,
      async read(scope, taskId, after, max) {
        const cached = await reader.find(scope, taskId, false);
        if (!cached) throw taskNotFound(taskId);
        return reader.read(cached, after, max);
      },
    },
    tasks: createTaskIndex(db, owners, reader),
    overview: createOverview({ db, owners, reader, readNodes: heartbeat.readNodes }),
    runs: runs.queue,
    maintenance: createMaintenance(inner),
    pushes: pushes.configs,
    deliveries: pushes.queue,
    storage: createAgentStorage(db, owners),
    resources: createResources(db),
    items: createItemStore({ ...parts, db }),
    schedules: createScheduleStore({ ...parts, db }),
    usage: createUsageStore(db),
    async readTime() {
      const [row] = await db.query<{ now: number }>(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now",
      );
      return row?.now as number;
    },
    shortenLongLeases: setBack.check,
    async sharedKeys(create) {
      await db.query("INSERT INTO keyring (place, ring) VALUES (1, $1) ON CONFLICT DO NOTHING", [create()]);
      const [row] = await db.query<{ ring: string }>("SELECT ring FROM keyring WHERE place = 1");
      return row?.ring as string;
    },
    invalidate: taskId => (taskId === undefined ? cache.invalidateAll() : cache.invalidate(taskId)),
    close: () =>
      (closed ??= (async () => {
        runs.close();
        pushes.close();
        setBack.close();
        await writer.close();
        await heartbeat.close();
        await closeDatabases();
      })()),
  };
}

async function start(db: Database, parts: PostgresStoreParts) {
  const [newest] = await db.query<{ at: number | null }>(NEWEST);
  const [cluster] = await db.query<{ id: string }>("SELECT id FROM cluster");
  return { newest, cluster, heartbeat: await startHeartbeat(db, parts) };
}
