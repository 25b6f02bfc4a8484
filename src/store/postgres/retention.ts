import type { AgentName, Retention, Task, TaskId } from "../../model/index.ts";
import type { Maintenance } from "../../ports/index.ts";
import { FIRST_SETTLED, FIRST_TERMINAL } from "../kernel/state-numbers.ts";
import { boundsOf } from "../single-node/maintenance.ts";
import type { Asker, Database } from "./database.ts";
import type { Reader } from "./reader.ts";
import type { Memory } from "./task-cache.ts";

export interface UpkeepParts {
  readonly db: Database;
  readonly memory: Memory;
  readonly reader: Reader;
  readonly wallTime: () => number;
  readonly onCommitted: (taskId: TaskId) => void;
}

interface Found {
  readonly key: number;
  readonly id: TaskId;
  readonly rev: number;
}

/** Those whose calls have names stay a while longer: `$3`. */
const IS_NAMELESS = "(t.status_at <= $3 OR NOT EXISTS (SELECT 1 FROM name n WHERE n.task = t.key))";

/** Settled by then. A task is older than its status, and ids tell when they were minted: only old ones are looked at. */
const BY_AGE = `
SELECT t.key, t.id, t.rev FROM task t JOIN owner o ON o.id = t.owner
WHERE o.agent = $1 AND t.state >= ${FIRST_SETTLED} AND t.status_at <= $2 AND t.id < $5::uuid AND ${IS_NAMELESS}
ORDER BY t.rev LIMIT $4`;

/** Ended, and not among the newest of their caller. */
const BY_COUNT = `
SELECT t.key, t.id, t.rev FROM (
  SELECT t.*, count(*) FILTER (WHERE t.state >= ${FIRST_TERMINAL})
    OVER (PARTITION BY t.owner, t.hidden ORDER BY t.rev DESC) AS ended
  FROM task t JOIN owner o ON o.id = t.owner WHERE o.agent = $1 AND t.state >= ${FIRST_SETTLED}
) AS t
WHERE t.state >= ${FIRST_TERMINAL} AND t.ended > $2 AND ${IS_NAMELESS}
ORDER BY t.rev LIMIT $4`;

/** Ended, with events that are no longer kept. */
const OLD_LOGS = `
SELECT t.key, t.id, t.rev FROM task t JOIN owner o ON o.id = t.owner
WHERE o.agent = $1 AND t.state >= ${FIRST_TERMINAL} AND t.status_at <= $2 AND t.id < $4::uuid AND t.since < t.seq AND NOT t.hidden
ORDER BY t.rev LIMIT $3`;

/** The first id that is minted well after this time: a mint may be a little ahead of its clock. */
function idAfter(ms: number): string {
  const time = (ms + 60_000).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** Takes away what is no longer kept, a little at a time. Several nodes may do so at once: each takes what is free. */
export function createUpkeep(parts: UpkeepParts): Maintenance {
  const { db, memory } = parts;

  function forget(ids: readonly TaskId[]): void {
    for (const id of ids) {
      memory.forget(id);
      parts.onCommitted(id);
    }
  }

  async function outdated(agent: AgentName, retention: Retention): Promise<readonly Found[]> {
    const { settledBy, newest, namedBy, max } = boundsOf(retention, parts.wallTime());
    const old =
      settledBy === undefined
        ? []
        : await db.query<Found>(BY_AGE, [agent, settledBy, namedBy, max, idAfter(settledBy)]);
    if (newest === undefined || old.length > 0) return old;
    return db.query<Found>(BY_COUNT, [agent, newest, namedBy, max]);
  }

  async function remove(agent: AgentName, retention: Retention): Promise<number> {
    const found = await outdated(agent, retention);
    const gone = await db.transact(on => removeTasks(on, found, parts.wallTime()));
    forget(gone);
    return gone.length;
  }

  async function compact(agent: AgentName, retention: Retention): Promise<number> {
    const { eventsBy, max } = boundsOf(retention, parts.wallTime());
    if (eventsBy === undefined) return 0;
    const found = await db.query<Found>(OLD_LOGS, [agent, eventsBy, max, idAfter(eventsBy)]);
    const done: TaskId[] = [];
    for (const { taskId, key, task, seq } of (await parts.reader.findAll(found.map(one => one.id))).values())
      if (await db.transact(on => compactLog(on, key, task, seq))) done.push(taskId);
    forget(done);
    return done.length;
  }

  return {
    async check() {
      await db.query("SELECT nextval('revision')");
    },
    async bytes() {
      const [row] = await db.query<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes");
      return row?.bytes ?? 0;
    },
    sweep: async (agent, retention) => (await remove(agent, retention)) + (await compact(agent, retention)),
  };
}

/** Of these, all that have not moved since they were found. */
async function removeTasks(on: Asker, found: readonly Found[], now: number): Promise<readonly TaskId[]> {
  if (found.length === 0) return [];
  const rows = await on.query<Found & { owner: number; context_id: string }>(
    `SELECT t.key, t.id, t.owner, t.context_id FROM unnest($1::bigint[], $2::bigint[]) AS f(key, rev)
     JOIN task t ON t.key = f.key AND t.rev = f.rev WHERE t.state >= ${FIRST_SETTLED} AND NOT EXISTS (
       SELECT 1 FROM push p WHERE p.task = t.key AND p.worker IS NOT NULL AND p.lease_until > $3
     ) ORDER BY t.rev FOR UPDATE OF t SKIP LOCKED`,
    [found.map(one => one.key), found.map(one => one.rev), now],
  );
  const free = rows.map(row => row.key);
  for (const table of ["segment", "name", "push"])
    await on.query(`DELETE FROM ${table} WHERE task = ANY($1)`, [free]);
  await on.query("DELETE FROM task WHERE key = ANY($1)", [free]);
  // What lies on the shelf of a context goes with its last task.
  await on.query(
    "DELETE FROM shelf s USING unnest($1::int[], $2::text[]) AS c(owner, context_id) " +
      "WHERE s.owner = c.owner AND s.shelf = c.context_id " +
      "AND NOT EXISTS (SELECT 1 FROM task t WHERE t.owner = c.owner AND t.context_id = c.context_id)",
    [rows.map(row => row.owner), rows.map(row => row.context_id)],
  );
  return rows.map(row => row.id);
}

/** Rows where the status moved are where lists find out how tasks stood: they stay, without events. */
async function compactLog(on: Asker, key: number, task: Task, seq: number): Promise<boolean> {
  const held = await on.query(
    "UPDATE task SET snapshot = $2, snapshot_seq = $3, since = $3 WHERE key = $1 AND seq = $3 RETURNING key",
    [key, JSON.stringify(task), seq],
  );
  if (held.length === 0) return false;
  await on.query("DELETE FROM segment WHERE task = $1 AND rev IS NULL", [key]);
  await on.query("UPDATE segment SET events = '[]' WHERE task = $1", [key]);
  return true;
}
