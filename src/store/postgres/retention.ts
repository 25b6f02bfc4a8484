import type { AgentName, Retention, Task, TaskId } from "../../model/index.ts";
import type { Maintenance } from "../../ports/index.ts";
import { toRetentionBounds } from "../kernel/retention.ts";
import { FIRST_SETTLED, FIRST_TERMINAL } from "../kernel/state-numbers.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import type { Database, Queryable } from "./database.ts";
import type { TaskReader } from "./reader.ts";
import type { TaskCache } from "./task-cache.ts";

export interface RetentionParts extends Pick<StoreParts, "wallTime" | "onCommitted"> {
  readonly db: Database;
  readonly cache: TaskCache;
  readonly reader: TaskReader;
}

interface OutdatedTask {
  readonly key: number;
  readonly id: TaskId;
  readonly rev: number;
}

/** Tasks with idempotency keys or message ids are kept until `$3`, so that repeated calls are recognized. */
const IS_NAMELESS = "(t.status_at <= $3 OR NOT EXISTS (SELECT 1 FROM name n WHERE n.task = t.key))";

/** Tasks that settled by `$2`. A task is older than its status, and ids contain their time: newer ids are not examined. */
const BY_AGE = `
SELECT t.key, t.id, t.rev FROM task t JOIN owner o ON o.id = t.owner
WHERE o.agent = $1 AND t.state >= ${FIRST_SETTLED} AND t.status_at <= $2 AND t.id < $5::uuid AND ${IS_NAMELESS}
ORDER BY t.rev LIMIT $4`;

/** Terminal tasks that are not among the newest `$2` of their caller. */
const BY_COUNT = `
SELECT t.key, t.id, t.rev FROM (
  SELECT t.*, count(*) FILTER (WHERE t.state >= ${FIRST_TERMINAL})
    OVER (PARTITION BY t.owner, t.hidden ORDER BY t.rev DESC) AS ended
  FROM task t JOIN owner o ON o.id = t.owner WHERE o.agent = $1 AND t.state >= ${FIRST_SETTLED}
) AS t
WHERE t.state >= ${FIRST_TERMINAL} AND t.ended > $2 AND ${IS_NAMELESS}
ORDER BY t.rev LIMIT $4`;

/** Terminal tasks whose events have outlived the retention. */
const OLD_LOGS = `
SELECT t.key, t.id, t.rev FROM task t JOIN owner o ON o.id = t.owner
WHERE o.agent = $1 AND t.state >= ${FIRST_TERMINAL} AND t.status_at <= $2 AND t.id < $4::uuid AND t.since < t.seq AND NOT t.hidden
ORDER BY t.rev LIMIT $3`;

/** An id that is created well after this time: the time in an id may be a little ahead of the clock. */
function idAfter(ms: number): string {
  const time = (ms + 60_000).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** Deletes outdated tasks and events in small steps. Several nodes may do so concurrently: each skips locked rows. */
export function createMaintenance(parts: RetentionParts): Maintenance {
  const { db, cache } = parts;

  function evict(ids: readonly TaskId[]): void {
    for (const id of ids) {
      cache.evict(id);
      parts.onCommitted(id);
    }
  }

  async function findOutdated(agent: AgentName, retention: Retention): Promise<readonly OutdatedTask[]> {
    const { settledBy, newest, namedBy, max } = toRetentionBounds(retention, parts.wallTime());
    const old =
      settledBy === undefined
        ? []
        : await db.query<OutdatedTask>(BY_AGE, [agent, settledBy, namedBy, max, idAfter(settledBy)]);
    if (newest === undefined || old.length > 0) return old;
    return db.query<OutdatedTask>(BY_COUNT, [agent, newest, namedBy, max]);
  }

  async function deleteOutdated(agent: AgentName, retention: Retention): Promise<number> {
    const found = await findOutdated(agent, retention);
    const deleted = await db.transact(tx => deleteTasks(tx, found, parts.wallTime(), "delete"));
    evict(deleted);
    return deleted.length;
  }

  async function compact(agent: AgentName, retention: Retention): Promise<number> {
    const { eventsBy, max } = toRetentionBounds(retention, parts.wallTime());
    if (eventsBy === undefined) return 0;
    const found = await db.query<OutdatedTask>(OLD_LOGS, [agent, eventsBy, max, idAfter(eventsBy)]);
    const tasks = await parts.reader.readAll(found.map(({ id }) => id));
    const compacted: TaskId[] = [];
    for (const { taskId, key, task, seq } of tasks.values())
      if (await db.transact(tx => compactLog(tx, key, task, seq))) compacted.push(taskId);
    evict(compacted);
    return compacted.length;
  }

  return {
    async check() {
      await db.query("SELECT nextval('revision')");
    },
    async bytes() {
      const [row] = await db.query<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes");
      return row?.bytes ?? 0;
    },
    async remove({ tenant, principal }, taskId, storage) {
      const found = await db.query<OutdatedTask>(
        "SELECT t.key, t.id, t.rev FROM task t JOIN owner o ON o.id = t.owner " +
          "WHERE t.id = $1 AND o.tenant = $2 AND o.principal = $3",
        [taskId, tenant, principal],
      );
      const deleted = await db.transact(tx => deleteTasks(tx, found, parts.wallTime(), storage));
      evict(deleted);
      return deleted.length > 0;
    },
    sweep: async (agent, retention) =>
      (await deleteOutdated(agent, retention)) + (await compact(agent, retention)),
  };
}

/** Skips tasks that have changed since they were found. */
async function deleteTasks(
  tx: Queryable,
  found: readonly OutdatedTask[],
  now: number,
  storage: "delete" | "keep",
): Promise<readonly TaskId[]> {
  if (found.length === 0) return [];
  const rows = await tx.query<OutdatedTask & { owner: number; context_id: string }>(
    `SELECT t.key, t.id, t.owner, t.context_id FROM unnest($1::bigint[], $2::bigint[]) AS f(key, rev)
     JOIN task t ON t.key = f.key AND t.rev = f.rev WHERE t.state >= ${FIRST_SETTLED} AND NOT EXISTS (
       SELECT 1 FROM push p WHERE p.task = t.key AND p.worker IS NOT NULL AND p.lease_until > $3
     ) ORDER BY t.rev FOR UPDATE OF t SKIP LOCKED`,
    [found.map(({ key }) => key), found.map(({ rev }) => rev), now],
  );
  const keys = rows.map(row => row.key);
  for (const table of ["segment", "name", "push"])
    await tx.query(`DELETE FROM ${table} WHERE task = ANY($1)`, [keys]);
  await tx.query("DELETE FROM task WHERE key = ANY($1)", [keys]);
  // The storage of a context is deleted with its last task.
  if (storage === "delete")
    await tx.query(
      "DELETE FROM shelf s USING unnest($1::int[], $2::text[]) AS c(owner, context_id) " +
        "WHERE s.owner = c.owner AND s.shelf = c.context_id " +
        "AND NOT EXISTS (SELECT 1 FROM task t WHERE t.owner = c.owner AND t.context_id = c.context_id)",
      [rows.map(row => row.owner), rows.map(row => row.context_id)],
    );
  return rows.map(row => row.id);
}

/** Segments with a revision are kept without events: lists read earlier revisions from them. */
async function compactLog(tx: Queryable, key: number, task: Task, seq: number): Promise<boolean> {
  const updated = await tx.query(
    "UPDATE task SET snapshot = $2, snapshot_seq = $3, since = $3 WHERE key = $1 AND seq = $3 RETURNING key",
    [key, JSON.stringify(task), seq],
  );
  if (updated.length === 0) return false;
  await tx.query("DELETE FROM segment WHERE task = $1 AND rev IS NULL", [key]);
  await tx.query("UPDATE segment SET events = '[]' WHERE task = $1", [key]);
  return true;
}
