/** What one commit writes, and how: one statement for all new tasks, one for all others. */
import { dayOf, Fault, type TaskId } from "../../model/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { STATES } from "../kernel/state-numbers.ts";
import type { Asker, Database } from "./database.ts";
import { writeNames } from "./names.ts";
import { RING_PUSHES, writePush } from "./pushes.ts";
import { lineLock } from "./runs.ts";
import type { Known } from "./task-cache.ts";
import { isWary, type Sheet } from "./write-set.ts";

/** What came of a sheet. */
export interface Written {
  readonly key: number;
  /** Somebody wants to be told of it. */
  readonly pushed: boolean;
}

/** Those that are left out came too late: others have written to their tasks. */
export function commit(
  db: Database,
  sheets: readonly Sheet[],
  wallTime: () => number,
): Promise<ReadonlyMap<TaskId, Written>> {
  const fresh = sheets.filter(({ draft }) => draft.known === null);
  const old = sheets.filter(({ draft }) => draft.known !== null);
  const work = async (on: Asker): Promise<ReadonlyMap<TaskId, Written>> => {
    for (const sheet of sheets) if (sheet.draft.requests.some(isWary)) await requireFree(on, sheet);
    const made = fresh.length > 0 ? await insertTasks(on, fresh) : [];
    const moved = old.length > 0 ? await updateTasks(on, old) : [];
    const written = new Map([...made, ...moved]);
    const done = sheets.filter(({ draft }) => written.has(draft.taskId));
    await writeNames(on, done, written);
    await writePushes(on, done, written, wallTime());
    await addUsage(on, done, dayOf(wallTime()));
    return written;
  };
  // One statement is a transaction by itself.
  const isOne = sheets.every(isPlain) && (fresh.length === 0 || old.length === 0);
  return isOne ? work(db) : db.transact(work);
}

const isPlain = ({ draft, steps }: Sheet): boolean =>
  draft.names.length === 0 &&
  draft.pushes.length === 0 &&
  !draft.requests.some(isWary) &&
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

type Writings = readonly (readonly [TaskId, Written])[];

async function insertTasks(on: Asker, sheets: readonly Sheet[]): Promise<Writings> {
  const tasks = sheets.map(sheet => sheet.task);
  const made = await on.query<{ key: number; id: string }>(INSERT, [
    sheets.map(sheet => sheet.draft.taskId),
    sheets.map(sheet => sheet.owner),
    tasks.map(task => contextKey(task.contextId)),
    tasks.map(task => task.contextId),
    tasks.map(task => task.alone ?? false),
    tasks.map(task => STATES.indexOf(task.status.state)),
    sheets.map(sheet => sheet.draft.end.seq),
    tasks.map(task => task.status.at),
    tasks.map(task => task.quiet && !task.shown),
    tasks.map(task => task.alias ?? null),
    sheets.map(sheet => sheet.events),
  ]);
  return made.map(({ key, id }) => [id as TaskId, { key, pushed: false }]);
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
), rung AS (${RING_PUSHES("changed")})
SELECT key, id, key IN (SELECT task FROM rung) AS pushed FROM changed`;

async function updateTasks(on: Asker, sheets: readonly Sheet[]): Promise<Writings> {
  const tasks = sheets.map(sheet => sheet.task);
  const changed = await on.query<Written & { readonly id: string }>(UPDATE, [
    sheets.map(sheet => (sheet.draft.known as Known).key),
    sheets.map(sheet => sheet.draft.end.seq - sheet.steps.length),
    sheets.map(sheet => sheet.draft.end.seq),
    tasks.map(task => STATES.indexOf(task.status.state)),
    sheets.map(sheet => sheet.moved),
    sheets.map(sheet => sheet.draft.arrived),
    sheets.map(sheet => sheet.freed),
    tasks.map(task => task.status.at),
    tasks.map(task => task.reply !== undefined || (task.quiet && !task.shown)),
    sheets.map(sheet => sheet.snapshot),
    sheets.map(sheet => sheet.events),
  ]);
  return changed.map(({ id, ...written }) => [id as TaskId, written]);
}

/** Fault("busy") if another task of its context wants a run; until the commit nobody else can begin one there. */
async function requireFree(on: Asker, { task, owner }: Sheet): Promise<void> {
  const { contextId } = task;
  await on.query("SELECT pg_advisory_xact_lock($1, $2)", lineLock(owner, contextId));
  const [other] = await on.query<{ id: string }>(
    "SELECT id FROM task WHERE context = $1 AND owner = $2 AND context_id = $3 AND state < 2 AND NOT alone AND id <> $4 " +
      "ORDER BY arrived LIMIT 1",
    [contextKey(contextId), owner, contextId, task.id],
  );
  if (other)
    throw new Fault(
      "busy",
      "The agent is still at an earlier message of this context; wait until it is done",
      {
        taskId: other.id,
      },
    );
}

async function writePushes(
  on: Asker,
  sheets: readonly Sheet[],
  written: ReadonlyMap<TaskId, Written>,
  now: number,
): Promise<void> {
  for (const { draft } of sheets) {
    const { taskId, end, pushes } = draft;
    const key = written.get(taskId)?.key as number;
    for (const { push, after } of pushes)
      await writePush(on, { key, taskId, seq: end.seq }, push, after, now);
  }
}

const SPEND =
  "INSERT INTO usage (owner, day, context_id, counter, total) " +
  "SELECT owner, day, context_id, counter, sum(total) FROM unnest($1::int[], $2::int[], $3::text[], $4::text[], $5::float8[]) " +
  "AS u(owner, day, context_id, counter, total) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 " +
  "ON CONFLICT (owner, day, context_id, counter) DO UPDATE SET total = usage.total + excluded.total";

async function addUsage(on: Asker, sheets: readonly Sheet[], day: number): Promise<void> {
  const rows = sheets.flatMap(({ steps, owner, task }) =>
    steps.flatMap(({ event }) =>
      event.type === "usage"
        ? Object.entries(event.usage).map(
            ([counter, total]) => [owner, day, task.contextId, counter, total] as const,
          )
        : [],
    ),
  );
  if (rows.length > 0)
    await on.query(
      SPEND,
      [0, 1, 2, 3, 4].map(i => rows.map(row => row[i])),
    );
}

const WAIT =
  "SELECT 1 FROM unnest($1::bigint[], $2::int[], $3::text[]) AS c(context, owner, context_id) JOIN task t " +
  "ON t.context = c.context AND t.owner = c.owner AND t.context_id = c.context_id AND t.state < 2 AND t.worker IS NULL LIMIT 1";

/**
 * Whether a task waits in one of the lines in which these were. Asked after the commit and not with it: one that came
 * meanwhile, and was looked at before, saw its line still busy.
 */
export async function hasNext(db: Asker, sheets: readonly Sheet[]): Promise<boolean> {
  if (sheets.length === 0) return false;
  const tasks = sheets.map(sheet => sheet.task);
  const found = await db.query(WAIT, [
    tasks.map(task => contextKey(task.contextId)),
    sheets.map(sheet => sheet.owner),
    tasks.map(task => task.contextId),
  ]);
  return found.length > 0;
}
