/** Writes one commit: one statement for the tasks and their logs, and others for what seldom comes with them. */
import { dayOf, Fault, isHidden, type TaskId } from "../../model/index.ts";
import { NAME_KINDS } from "../kernel/caller-names.ts";
import { contextKey } from "../kernel/context-key.ts";
import { STATES } from "../kernel/state-numbers.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import { INSERT, INSERT_AND_UPDATE, UPDATE } from "./commit-sql.ts";
import type { Database, Queryable } from "./database.ts";
import { toJsonList, toPlainList, toRareList } from "./list-parameters.ts";
import { upsertPush } from "./pushes.ts";
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
  { wallTime, leaseMs }: Pick<StoreParts, "wallTime" | "leaseMs">,
): Promise<ReadonlyMap<TaskId, WriteResult>> {
  const created = writeSets.filter(({ pending }) => pending.cached === null);
  const existing = writeSets.filter(({ pending }) => pending.cached !== null);
  const work = async (tx: Queryable): Promise<ReadonlyMap<TaskId, WriteResult>> => {
    for (const writeSet of writeSets)
      if (writeSet.pending.requests.some(needsLock)) await requireFreeContext(tx, writeSet);
    const results = await writeTasks(tx, created, existing, wallTime() + leaseMs);
    const written = writeSets.filter(({ pending }) => results.has(pending.taskId));
    await insertNames(tx, written, results);
    await upsertPushes(tx, written, results, wallTime());
    await addUsage(tx, written, dayOf(wallTime()));
    return results;
  };
  // A single statement needs no BEGIN and COMMIT around it.
  return writeSets.every(isTaskOnly) ? work(db) : db.transact(work);
}

/** Nothing is written but the task and its log. */
const isTaskOnly = ({ pending, steps }: WriteSet): boolean =>
  pending.names.length === 0 &&
  pending.pushes.length === 0 &&
  !pending.requests.some(needsLock) &&
  !steps.some(step => step.event.type === "usage");

interface WrittenRow {
  readonly key: number;
  readonly id: TaskId;
  readonly pushed: boolean;
}

async function writeTasks(
  tx: Queryable,
  created: readonly WriteSet[],
  existing: readonly WriteSet[],
  leaseUntil: number,
): Promise<ReadonlyMap<TaskId, WriteResult>> {
  const statement = existing.length === 0 ? INSERT : created.length === 0 ? UPDATE : INSERT_AND_UPDATE;
  const rows = await tx.query<WrittenRow>(statement, [
    ...(created.length > 0 ? [...toNewColumns(created), leaseUntil] : []),
    ...(existing.length > 0 ? toChanges(existing) : []),
  ]);
  return new Map(rows.map(({ key, id, pushed }) => [id, { key, hasPush: pushed }]));
}

/** In the order of the statement. */
function toNewColumns(writeSets: readonly WriteSet[]): readonly unknown[] {
  const tasks = writeSets.map(({ task }) => task);
  return [
    toPlainList(writeSets.map(({ pending }) => pending.taskId)),
    toPlainList(writeSets.map(({ owner }) => owner)),
    toPlainList(tasks.map(task => contextKey(task.contextId))),
    tasks.map(task => task.contextId),
    toPlainList(tasks.map(task => task.alone ?? false)),
    toPlainList(tasks.map(task => STATES.indexOf(task.status.state))),
    toPlainList(writeSets.map(({ pending }) => pending.tail.seq)),
    toPlainList(tasks.map(task => task.status.at)),
    toPlainList(tasks.map(isHidden)),
    toRareList(tasks.map(task => task.alias ?? null)),
    toJsonList(writeSets.map(({ events }) => events)),
    toPlainList(tasks.map(task => task.attempt)),
    toRareList(writeSets.map(({ begun }) => begun?.worker ?? null)),
    toRareList(writeSets.map(({ snapshot }) => snapshot)),
  ];
}

/** In the order of the statement. */
function toChanges(writeSets: readonly WriteSet[]): readonly unknown[] {
  const tasks = writeSets.map(({ task }) => task);
  return [
    toPlainList(writeSets.map(({ pending }) => (pending.cached as CachedTask).key)),
    toPlainList(writeSets.map(({ pending, steps }) => pending.tail.seq - steps.length)),
    toPlainList(writeSets.map(({ pending }) => pending.tail.seq)),
    toPlainList(tasks.map(task => STATES.indexOf(task.status.state))),
    toPlainList(writeSets.map(({ hasNewRevision }) => hasNewRevision)),
    toPlainList(writeSets.map(({ pending }) => pending.hasNewTurn)),
    toPlainList(writeSets.map(({ endsLease }) => endsLease)),
    toPlainList(tasks.map(task => task.status.at)),
    toPlainList(tasks.map(isHidden)),
    toRareList(writeSets.map(({ snapshot }) => snapshot)),
    toJsonList(writeSets.map(({ events }) => events)),
  ];
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
      event.type === "usage" && event.of === undefined
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
