/** Writes one commit: one statement for all new tasks, one for all others. */
import { dayOf, Fault, type TaskId } from "../../model/index.ts";
import { NAME_KINDS } from "../kernel/caller-names.ts";
import { contextKey } from "../kernel/context-key.ts";
import { STATES } from "../kernel/state-numbers.ts";
import type { Database, Queryable } from "./database.ts";
import { markPushesDue, upsertPush } from "./pushes.ts";
import { contextLock } from "./run-sql.ts";
import type { CachedTask } from "./task-cache.ts";
import { needsLock, type WriteSet } from "./write-set.ts";

export interface WriteResult {
  readonly key: number;
  /** A push config of the task is live. */
  readonly hasPush: boolean;
}

/** Write sets without a result were not written: another writer has appended to their tasks first. */
export function commit(
  db: Database,
  writeSets: readonly WriteSet[],
  wallTime: () => number,
): Promise<ReadonlyMap<TaskId, WriteResult>> {
  const created = writeSets.filter(({ pending }) => pending.cached === null);
  const existing = writeSets.filter(({ pending }) => pending.cached !== null);
  const work = async (tx: Queryable): Promise<ReadonlyMap<TaskId, WriteResult>> => {
    for (const writeSet of writeSets)
      if (writeSet.pending.requests.some(needsLock)) await requireFreeContext(tx, writeSet);
    const inserted = created.length > 0 ? await insertTasks(tx, created) : [];
    const updated = existing.length > 0 ? await updateTasks(tx, existing) : [];
    const results = new Map([...inserted, ...updated]);
    const written = writeSets.filter(({ pending }) => results.has(pending.taskId));
    await insertNames(tx, written, results);
    await upsertPushes(tx, written, results, wallTime());
    await addUsage(tx, written, dayOf(wallTime()));
    return results;
  };
  // A single statement needs no BEGIN and COMMIT around it.
  const isSingleStatement = writeSets.every(isTaskOnly) && (created.length === 0 || existing.length === 0);
  return isSingleStatement ? work(db) : db.transact(work);
}

/** Nothing is written but the task and its log. */
const isTaskOnly = ({ pending, steps }: WriteSet): boolean =>
  pending.names.length === 0 &&
  pending.pushes.length === 0 &&
  !pending.requests.some(needsLock) &&
  !steps.some(step => step.event.type === "usage");

const INSERT = `
WITH input AS (
  SELECT * FROM unnest($1::uuid[], $2::int[], $3::bigint[], $4::text[], $5::bool[], $6::smallint[], $7::int[],
    $8::bigint[], $9::bool[], $10::text[], $11::text[])
    AS i(id, owner, context, context_id, alone, state, seq, status_at, hidden, alias, events)
), made AS (
  INSERT INTO task (id, owner, context, context_id, alone, state, seq, rev, xid, status_at, hidden, arrived, alias)
  SELECT id, owner, context, context_id, alone, state, seq, nextval('revision'), pg_current_xact_id(), status_at,
    hidden, nextval('revision'), alias FROM input
  RETURNING key, id, seq, rev
), written AS (
  INSERT INTO segment (task, last, rev, xid, events)
  SELECT made.key, made.seq, made.rev, pg_current_xact_id(), input.events FROM made JOIN input ON input.id = made.id
)
SELECT key, id FROM made`;

type WriteResults = readonly (readonly [TaskId, WriteResult])[];

async function insertTasks(tx: Queryable, writeSets: readonly WriteSet[]): Promise<WriteResults> {
  const tasks = writeSets.map(({ task }) => task);
  const rows = await tx.query<{ key: number; id: string }>(INSERT, [
    writeSets.map(({ pending }) => pending.taskId),
    writeSets.map(({ owner }) => owner),
    tasks.map(task => contextKey(task.contextId)),
    tasks.map(task => task.contextId),
    tasks.map(task => task.alone ?? false),
    tasks.map(task => STATES.indexOf(task.status.state)),
    writeSets.map(({ pending }) => pending.tail.seq),
    tasks.map(task => task.status.at),
    tasks.map(task => task.quiet && !task.shown),
    tasks.map(task => task.alias ?? null),
    writeSets.map(({ events }) => events),
  ]);
  return rows.map(({ key, id }) => [id as TaskId, { key, hasPush: false }]);
}

const UPDATE = `
WITH input AS (
  SELECT * FROM unnest($1::bigint[], $2::int[], $3::int[], $4::smallint[], $5::bool[], $6::bool[], $7::bool[],
    $8::bigint[], $9::bool[], $10::text[], $11::text[])
    AS i(key, old, new, state, moved, arrives, freed, status_at, hidden, snapshot, events)
), locked AS MATERIALIZED (
  SELECT key FROM task WHERE key = ANY($1::bigint[]) ORDER BY key FOR UPDATE
), changed AS (
  UPDATE task t SET
    seq = i.new,
    state = i.state,
    status_at = i.status_at,
    hidden = i.hidden,
    rev = CASE WHEN i.moved THEN nextval('revision') ELSE t.rev END,
    xid = CASE WHEN i.moved THEN pg_current_xact_id() ELSE t.xid END,
    arrived = CASE WHEN i.arrives THEN nextval('revision') ELSE t.arrived END,
    worker = CASE WHEN i.freed THEN NULL ELSE t.worker END,
    lease_until = CASE WHEN i.freed THEN NULL ELSE t.lease_until END,
    snapshot_seq = CASE WHEN i.snapshot IS NULL THEN t.snapshot_seq ELSE i.new END,
    snapshot = coalesce(i.snapshot, t.snapshot)
  FROM input i JOIN locked l ON l.key = i.key
  WHERE t.key = i.key AND t.seq = i.old
  RETURNING t.key, t.id, t.seq, t.rev, i.moved, i.events
), written AS (
  INSERT INTO segment (task, last, rev, xid, events)
  SELECT key, seq, CASE WHEN moved THEN rev END, CASE WHEN moved THEN pg_current_xact_id() END, events FROM changed
), rung AS (${markPushesDue("changed")})
SELECT key, id, key IN (SELECT task FROM rung) AS pushed FROM changed`;

async function updateTasks(tx: Queryable, writeSets: readonly WriteSet[]): Promise<WriteResults> {
  const tasks = writeSets.map(({ task }) => task);
  const rows = await tx.query<{ key: number; id: string; pushed: boolean }>(UPDATE, [
    writeSets.map(({ pending }) => (pending.cached as CachedTask).key),
    writeSets.map(({ pending, steps }) => pending.tail.seq - steps.length),
    writeSets.map(({ pending }) => pending.tail.seq),
    tasks.map(task => STATES.indexOf(task.status.state)),
    writeSets.map(({ hasNewRevision }) => hasNewRevision),
    writeSets.map(({ pending }) => pending.hasNewTurn),
    writeSets.map(({ endsLease }) => endsLease),
    tasks.map(task => task.status.at),
    tasks.map(task => task.reply !== undefined || (task.quiet && !task.shown)),
    writeSets.map(({ snapshot }) => snapshot),
    writeSets.map(({ events }) => events),
  ]);
  return rows.map(({ key, id, pushed }) => [id as TaskId, { key, hasPush: pushed }]);
}

/** Fault("busy") if another task of the context wants a run; until the commit, none can begin one there. */
async function requireFreeContext(tx: Queryable, { task, owner }: WriteSet): Promise<void> {
  const { contextId } = task;
  await tx.query("SELECT pg_advisory_xact_lock($1, $2)", contextLock(owner, contextId));
  const [other] = await tx.query<{ id: string }>(
    "SELECT id FROM task WHERE context = $1 AND owner = $2 AND context_id = $3 AND state < 2 AND NOT alone AND id <> $4 " +
      "ORDER BY arrived LIMIT 1",
    [contextKey(contextId), owner, contextId, task.id],
  );
  if (other) throw new Fault("busy", BUSY, { taskId: other.id });
}

const BUSY = "The agent is still at an earlier message of this context; wait until it is done";

/** The primary key of `name` is the check: a name in use fails the transaction. */
async function insertNames(
  tx: Queryable,
  writeSets: readonly WriteSet[],
  results: ReadonlyMap<TaskId, WriteResult>,
): Promise<void> {
  const rows = writeSets.flatMap(({ pending, owner }) =>
    pending.names
      .filter(({ kind }) => kind !== "alias")
      .map(({ kind, name, seq, digest = null }) => [
        owner,
        NAME_KINDS[kind],
        name,
        results.get(pending.taskId)?.key,
        seq,
        digest,
      ]),
  );
  if (rows.length === 0) return;
  await tx.query(
    "INSERT INTO name (owner, kind, name, task, seq, digest) " +
      "SELECT * FROM unnest($1::int[], $2::smallint[], $3::text[], $4::bigint[], $5::int[], $6::text[])",
    [0, 1, 2, 3, 4, 5].map(i => rows.map(row => row[i])),
  );
}

async function upsertPushes(
  tx: Queryable,
  writeSets: readonly WriteSet[],
  results: ReadonlyMap<TaskId, WriteResult>,
  now: number,
): Promise<void> {
  for (const { pending } of writeSets) {
    const { taskId, tail, pushes } = pending;
    const key = results.get(taskId)?.key as number;
    for (const { push, after } of pushes)
      await upsertPush(tx, { key, taskId, seq: tail.seq }, push, after, now);
  }
}

const ADD_USAGE =
  "INSERT INTO usage (owner, day, context_id, counter, total) " +
  "SELECT owner, day, context_id, counter, sum(total) FROM unnest($1::int[], $2::int[], $3::text[], $4::text[], $5::float8[]) " +
  "AS u(owner, day, context_id, counter, total) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 " +
  "ON CONFLICT (owner, day, context_id, counter) DO UPDATE SET total = usage.total + excluded.total";

async function addUsage(tx: Queryable, writeSets: readonly WriteSet[], day: number): Promise<void> {
  const rows = writeSets.flatMap(({ steps, owner, task }) =>
    steps.flatMap(({ event }) =>
      event.type === "usage"
        ? Object.entries(event.usage).map(
            ([counter, total]) => [owner, day, task.contextId, counter, total] as const,
          )
        : [],
    ),
  );
  if (rows.length > 0)
    await tx.query(
      ADD_USAGE,
      [0, 1, 2, 3, 4].map(i => rows.map(row => row[i])),
    );
}

const WAITING_IN_CONTEXT =
  "SELECT 1 FROM unnest($1::bigint[], $2::int[], $3::text[]) AS c(context, owner, context_id) JOIN task t " +
  "ON t.context = c.context AND t.owner = c.owner AND t.context_id = c.context_id AND t.state < 2 AND t.worker IS NULL LIMIT 1";

/**
 * Whether another task waits in one of these contexts. Queried after the commit and not within it: a task that arrived
 * meanwhile, and was considered for a run before the commit, saw its context still busy.
 */
export async function hasWaitingTask(db: Queryable, writeSets: readonly WriteSet[]): Promise<boolean> {
  if (writeSets.length === 0) return false;
  const tasks = writeSets.map(({ task }) => task);
  const found = await db.query(WAITING_IN_CONTEXT, [
    tasks.map(task => contextKey(task.contextId)),
    writeSets.map(({ owner }) => owner),
    tasks.map(task => task.contextId),
  ]);
  return found.length > 0;
}
