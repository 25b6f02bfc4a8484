/** Pages of tasks in the order of their creation. Every query reads a bounded number of rows, through an index. */
import { firstIdAt, LIMITS, type TaskId, type TaskState, timeKey } from "../../model/index.ts";
import type { OwnerFilter, TaskScan } from "../../ports/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { STATES } from "../kernel/state-numbers.ts";
import { addOwners, Condition, toOwnerCondition } from "./condition.ts";
import type { Queryable } from "./database.ts";

export interface ScanRow {
  readonly id: TaskId;
  readonly owner: number;
  readonly context_id: string;
}
export interface RowPage {
  readonly rows: readonly ScanRow[];
  /** The last row that was examined; undefined: there are no more. */
  readonly next: TaskId | undefined;
}

/** A scan with filters looks at so many rows at a time: the database reads small rows quickly. */
const WINDOW_ROWS = 4 * LIMITS.scanRowsMax;
/** Callers with at most so many tasks: all of theirs are read through the index of owners. */
const OWN_TASKS_MAX = LIMITS.scanRowsMax;
/** A filter with more owners than this reads all tasks and picks theirs. */
const OWNERS_MAX = 32;
/** Below and above all ids of version 7. */
export const LOWEST = "00000000-0000-0000-0000-000000000000";
const HIGHEST = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const COLUMNS = "t.id, t.owner, t.context_id";
const NOTHING: RowPage = { rows: [], next: undefined };

export async function scanTasks(db: Queryable, query: TaskScan): Promise<RowPage> {
  const { max, after, from, states, contextId } = query;
  if (after !== undefined && timeKey(after) === null) return NOTHING;
  const own = await findOwners(db, query.owners);
  if (own?.length === 0) return NOTHING;
  const filter = new Condition();
  if (own === undefined) addOwners(filter, query.owners);
  else filter.add("t.owner = ANY(?)", own);
  if (!query.withHidden) filter.add("NOT t.hidden");
  if (from !== undefined) filter.add("t.id >= ?", firstIdAt(from));
  if (states) filter.add("t.state = ANY(?)", toNumbers(states));
  if (contextId !== undefined || (own && (await hasFewTasks(db, own)))) return readAll(db, filter, query);
  const before = earlier(after ?? HIGHEST, query.to === undefined ? HIGHEST : firstIdAt(query.to));
  const sources = sourcesOf(states).map(source => readWindow(db, source, before, filter, max));
  return merge(await Promise.all(sources), max, from);
}

const toNumbers = (states: ReadonlySet<TaskState>): readonly number[] =>
  [...states].map(state => STATES.indexOf(state));

/** Their ids; undefined: all owners, or too many to name them. */
async function findOwners(db: Queryable, owners: OwnerFilter): Promise<readonly number[] | undefined> {
  const { sql, values } = toOwnerCondition(owners);
  if (values.length === 0) return undefined;
  const query = `SELECT id FROM owner WHERE ${sql} LIMIT ${OWNERS_MAX + 1}`;
  const rows = await db.query<{ id: number }>(query, values);
  return rows.length > OWNERS_MAX ? undefined : rows.map(row => row.id);
}

async function hasFewTasks(db: Queryable, owners: readonly number[]): Promise<boolean> {
  const [row] = await db.query<{ count: number }>(
    `SELECT count(*) FROM (SELECT FROM task WHERE owner = ANY($1) LIMIT ${OWN_TASKS_MAX + 1}) AS own`,
    [owners],
  );
  return row !== undefined && row.count <= OWN_TASKS_MAX;
}

/** Materialized: the planner must not prefer the order of ids to the index of owners or contexts. */
async function readAll(db: Queryable, filter: Condition, query: TaskScan): Promise<RowPage> {
  const { max, order, after, to, contextId } = query;
  if (contextId !== undefined)
    filter.add("t.context = ? AND t.context_id = ?", contextKey(contextId), contextId);
  if (to !== undefined) filter.add("t.id < ?", firstIdAt(to));
  if (after !== undefined) filter.add(order === "oldest" ? "t.id > ?" : "t.id < ?", after);
  const direction = order === "oldest" ? "ASC" : "DESC";
  const rows = await db.query<ScanRow>(
    `WITH own AS MATERIALIZED (SELECT ${COLUMNS} FROM task t WHERE ${filter.sql}) ` +
      `SELECT * FROM own ORDER BY id ${direction} LIMIT ${max}`,
    filter.values,
  );
  return { rows, next: rows.length < max ? undefined : rows.at(-1)?.id };
}

/** Conditions of indexes, as in migration 7, that together have all tasks in these states. */
function sourcesOf(states: ReadonlySet<TaskState> | undefined): readonly string[] {
  if (!states || states.has("completed")) return ["true"];
  return toNumbers(states).map(number =>
    number < 2
      ? `t.state < 2 AND t.state = ${number}`
      : `t.state > 1 AND t.state <> 4 AND t.state = ${number}`,
  );
}

/** The first rows that match, among a bounded number of rows of an index. */
async function readWindow(
  db: Queryable,
  source: string,
  before: string,
  filter: Condition,
  max: number,
): Promise<RowPage> {
  const edge = `$${filter.values.length + 1}`;
  const inside = `FROM task t WHERE ${source} AND t.id < ${edge} ORDER BY t.id DESC`;
  const rows = await db.query<ScanRow>(
    `SELECT ${COLUMNS} FROM (SELECT ${COLUMNS}, t.state, t.hidden ${inside} LIMIT ${WINDOW_ROWS}) AS t ` +
      `WHERE ${filter.sql} ORDER BY t.id DESC LIMIT ${max}`,
    [...filter.values, before],
  );
  if (rows.length === max) return { rows, next: rows.at(-1)?.id };
  const sql = `SELECT t.id FROM task t WHERE ${source} AND t.id < $1 ORDER BY t.id DESC OFFSET $2 LIMIT 1`;
  const [last] = await db.query<{ id: TaskId }>(sql, [before, WINDOW_ROWS - 1]);
  return { rows, next: last?.id };
}

/** Rows below the place up to which every source was examined are found again by the next scan. */
function merge(pages: readonly RowPage[], max: number, from: number | undefined): RowPage {
  const place = pages.map(page => page.next ?? "").reduce(later, "");
  const rows = pages
    .flatMap(page => page.rows)
    .filter(row => row.id >= place)
    .sort((a, b) => Number(a.id < b.id) - Number(a.id > b.id))
    .slice(0, max);
  const next = rows.length === max ? rows.at(-1)?.id : place || undefined;
  const isOver = from !== undefined && next !== undefined && next < firstIdAt(from);
  return { rows, next: isOver ? undefined : (next as TaskId | undefined) };
}

const earlier = (a: string, b: string): string => (a < b ? a : b);
const later = (a: string, b: string): string => (a > b ? a : b);
