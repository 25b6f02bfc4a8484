import { type Seq, type TaskId, taskNotFound } from "../../model/index.ts";
import type { CommitObserver, Log, Store } from "../../ports/index.ts";
import { FIRST_SETTLED } from "../kernel/state-numbers.ts";
import type { HotParts } from "../single-node/store.ts";
import { watchSetBack } from "./clock-set-back.ts";
import { type Database, openDatabase } from "./database.ts";
import { sharedRing } from "./keyring.ts";
import { createLister, createNewest } from "./list.ts";
import { migrate } from "./migrate.ts";
import { findNamed } from "./names.ts";
import { Owners } from "./owners.ts";
import { createPresence } from "./presence.ts";
import { PushBook } from "./pushes.ts";
import { Reader } from "./reader.ts";
import { createUpkeep } from "./retention.ts";
import { Runs } from "./runs.ts";
import { createShelf } from "./storage.ts";
import { Memory } from "./task-cache.ts";
import { createUsageBook } from "./usage.ts";
import { Writer } from "./writer.ts";

export { PostgresRefusal } from "./database.ts";
export { examinePostgres } from "./maintenance/check.ts";
export { readStoryIn, usageIn } from "./maintenance/history.ts";
export { enterStore } from "./maintenance/import.ts";
export { createPostgresTokenBook } from "./tokens.ts";

export interface PostgresParts
  extends Pick<
    HotParts,
    | "now"
    | "wallTime"
    | "ticks"
    | "leaseMs"
    | "loop"
    | "runsShared"
    | "ticks"
    | "runQuota"
    | "onCommitted"
    | "onDue"
    | "onPushDue"
    | "hotTasksMax"
    | "hotEventsMax"
    | "hotBytesMax"
  > {
  readonly url: string;
  /** This node, like no other. */
  readonly node: string;
  readonly durability: "power" | "process";
  readonly connectionsMax: number;
  readonly statementMs: number;
  /** How long a delivery to a webhook is held without a sign of life. */
  readonly pushLeaseMs: number;
  /** undefined: nobody watches. */
  readonly commits?: CommitObserver | undefined;
  readonly log: Log;
}

/** A store that many nodes share. */
export interface PostgresStore extends Store {
  /** The nodes that share it, as a name like no other. */
  readonly cluster: string;
  /** See `Database`. */
  readonly pooled: boolean;
  /** Another node may have written to this task; undefined: to any. */
  doubt(taskId: TaskId | undefined): void;
  /** What time it is for the database. */
  time(): Promise<number>;
  /** Shortens leases and retries that last too long since the clock was set back; done now and then in any case. */
  lookAtTime(): Promise<void>;
  /** See `sharedRing`. */
  sharedKeys(make: () => string): Promise<string>;
}

/**
 * The newest time, as far as the newest tasks tell it: of a status, or of what one that is at work said since. All events
 * of a row have one time.
 */
const NEWEST = `SELECT max(at) AS at FROM (
  (SELECT status_at AS at FROM task ORDER BY key DESC LIMIT 1000) UNION ALL
  SELECT (SELECT substring(s.events FROM '^\\[\\[(\\d+)')::bigint FROM segment s WHERE s.task = t.key ORDER BY s.last DESC LIMIT 1)
  FROM (SELECT key FROM task WHERE state < ${FIRST_SETTLED} ORDER BY key DESC LIMIT 1000) AS t
) AS newest`;

export async function createPostgresStore(parts: PostgresParts): Promise<PostgresStore> {
  await migrate(parts);
  const db = await openDatabase(parts);
  const { newest, cluster, presence } = await begin(db, parts).catch(async error => {
    await db.close();
    throw error;
  });
  const owners = new Owners(db);
  const memory = new Memory(parts);
  const reader = new Reader({ ...parts, db, owners, memory });
  const inner = { ...parts, db, owners, memory, reader };
  const writer = new Writer(inner);
  const runs = new Runs({ ...inner, writer, nodes: presence.count });
  const book = new PushBook(inner);
  const setBack = watchSetBack(inner);
  let closed: Promise<void> | undefined;

  return {
    lastAt: newest?.at ?? 0,
    cluster: cluster?.id as string,
    pooled: db.pooled,
    nodes: presence.count,
    log: {
      append: writer.append,
      async read(scope, taskId, after, max) {
        const known = await reader.find(scope, taskId, false);
        if (!known) throw taskNotFound(taskId);
        return reader.read(known, after, max);
      },
    },
    tasks: {
      findByName: (scope, agent, name) => findNamed(db, owners, scope, agent, name),
      async get(scope, taskId) {
        const known = await reader.find(scope, taskId, true);
        return known && { task: known.task, seq: known.seq as Seq, since: known.since as Seq };
      },
      list: createLister(db, owners, reader),
      newest: createNewest(db, owners),
      async count(scope) {
        const [row] = await db.query<{ caller: number; tenant: number }>(
          "SELECT count(*) AS tenant, count(*) FILTER (WHERE o.principal = $2) AS caller " +
            "FROM task t JOIN owner o ON o.id = t.owner WHERE o.tenant = $1",
          [scope.tenant, scope.principal],
        );
        return row ?? { caller: 0, tenant: 0 };
      },
    },
    runs: runs.queue,
    maintenance: createUpkeep(inner),
    pushes: book.pushes,
    deliveries: book.deliveries,
    storage: createShelf(db, owners),
    usage: createUsageBook(db),
    async time() {
      const [row] = await db.query<{ now: number }>(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now",
      );
      return row?.now as number;
    },
    lookAtTime: setBack.look,
    sharedKeys: make => sharedRing(db, make),
    doubt: taskId => (taskId === undefined ? memory.doubtAll() : memory.doubt(taskId)),
    close: () =>
      (closed ??= (async () => {
        runs.close();
        book.close();
        setBack.close();
        await writer.close();
        await presence.close();
        await db.close();
      })()),
  };
}

async function begin(db: Database, { node, log }: PostgresParts) {
  const [newest] = await db.query<{ at: number | null }>(NEWEST);
  const [cluster] = await db.query<{ id: string }>("SELECT id FROM cluster");
  return { newest, cluster, presence: await createPresence(db, node, log) };
}
