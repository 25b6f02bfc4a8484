import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  type AgentName,
  type ContextId,
  firstKeyAt,
  type TaskId,
  type TaskState,
  timeKey,
} from "../../model/index.ts";
import type { OwnerFilter, ScannedTask, TaskCount, TaskScan } from "../../ports/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { scanRows } from "../kernel/scan.ts";
import { STATES } from "../kernel/state-numbers.ts";
import type { OverviewBackend } from "../single-node/backend.ts";
import type { OwnerTable } from "./owners.ts";

interface ScanRow {
  readonly key: number;
  readonly id: string;
  readonly owner: number;
  readonly context_id: string;
  readonly state: number;
  readonly hidden: number;
  readonly status_at: number;
}

/** The rows after `after` in the order of the scan, at most `count`. */
type Fetch = (after: number, count: number) => readonly ScanRow[];

const COLUMNS = "key, id, owner, context_id, state, hidden, status_at";
/** As in the indexes of migration 10: SQLite uses a partial index only if the query repeats its condition. */
const BY_STATE = "state > 1 AND state <> 4";
const UNFINISHED = "state < 2";
const WAITING = "state IN (2, 3)";
const COMPLETED = STATES.indexOf("completed");
/** A scan of more owners than this reads all tasks and picks theirs. */
const OWNERS_MAX = 32;
const NEWEST = Number.MAX_SAFE_INTEGER;

export function createOverview(db: DatabaseSync, owners: OwnerTable): OverviewBackend {
  const statements = new Map<string, StatementSync>();
  const query = (sql: string, ...values: (number | string)[]): unknown => {
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, (statement = db.prepare(sql)));
    return statement.all(...values);
  };
  const all = query as (sql: string, ...values: (number | string)[]) => readonly ScanRow[];
  const readCounts = query as (sql: string) => readonly CountRow[];

  const below =
    (condition: string, ...values: number[]): Fetch =>
    (after, count) =>
      all(
        `SELECT ${COLUMNS} FROM task WHERE ${condition} AND key < ? ORDER BY key DESC LIMIT ?`,
        ...values,
        after,
        count,
      );

  function inContext(contextId: ContextId, order: TaskScan["order"]): Fetch {
    const [compare, direction] = order === "oldest" ? [">", "ASC"] : ["<", "DESC"];
    const context = contextKey(contextId);
    const condition = `key IN (${KEYS_OF_CONTEXT}) AND context_id = ? AND key ${compare} ?`;
    const sql = `SELECT ${COLUMNS} FROM task WHERE ${condition} ORDER BY key ${direction} LIMIT ?`;
    return (after, count) => all(sql, context, context, contextId, after, count);
  }

  /** The cheapest sources that contain all tasks of the scan. */
  function sourcesOf(
    { contextId, states, order }: TaskScan,
    allowed: ReadonlySet<number> | undefined,
  ): readonly Fetch[] {
    if (contextId !== undefined) return [inContext(contextId, order)];
    if (states && !states.has("completed")) {
      const numbers = [...states].map(state => STATES.indexOf(state));
      return [
        ...(numbers.some(number => number < 2) ? [below(UNFINISHED)] : []),
        ...numbers.filter(number => number > 1).map(number => below(`${BY_STATE} AND state = ${number}`)),
      ];
    }
    if (allowed && allowed.size <= OWNERS_MAX) return [...allowed].map(owner => below("owner = ?", owner));
    return [below("key > 0")];
  }

  return {
    scan(query) {
      const allowed = owners.matching(query.owners);
      if (allowed?.size === 0) return { tasks: [], next: undefined };
      const sources = sourcesOf(query, allowed);
      const isOldest = query.order === "oldest";
      const start = query.after === undefined ? undefined : (timeKey(query.after) ?? 0);
      const first = isOldest
        ? (start ?? -1)
        : Math.min(start ?? NEWEST, query.to === undefined ? NEWEST : firstKeyAt(query.to));
      const lowest = query.from === undefined ? undefined : firstKeyAt(query.from);
      const result = scanRows<ScanRow>({
        max: query.max,
        matches: toMatch(query, allowed),
        fetch(after, count) {
          const rows = merge(sources, after?.key ?? first, count);
          return lowest === undefined ? rows : rows.filter(row => row.key >= lowest);
        },
      });
      return {
        tasks: result.found.map(row => toScanned(row, owners)),
        next: result.next?.id as TaskId | undefined,
      };
    },
    scanWaiting({ owners: filter, states, after, max }) {
      const allowed = owners.matching(filter);
      const { found, next } = scanRows<ScanRow>({
        max,
        matches: row =>
          (!allowed || allowed.has(row.owner)) && (states as ReadonlySet<TaskState>).has(stateOf(row)),
        fetch: (last, count) =>
          all(
            `SELECT ${COLUMNS} FROM task WHERE ${WAITING} AND (status_at, key) > (?, ?) ORDER BY status_at, key LIMIT ?`,
            last?.status_at ?? after?.at ?? -1,
            last?.key ?? timeKey(after?.taskId ?? "") ?? -1,
            count,
          ),
      });
      return {
        taskIds: found.map(row => row.id as TaskId),
        next: next && { at: next.status_at, taskId: next.id as TaskId },
      };
    },
    contextEnds({ scope, agent, contextId }) {
      const owner = owners.find(scope, agent);
      const find = (order: TaskScan["order"]): TaskId | undefined =>
        scanRows<ScanRow>({
          max: 1,
          matches: row => row.owner === owner,
          fetch: (last, count) =>
            inContext(contextId, order)(last?.key ?? (order === "oldest" ? -1 : NEWEST), Math.min(count, 20)),
        }).found[0]?.id as TaskId | undefined;
      const [first, last] = [find("oldest"), find("newest")];
      return first !== undefined && last !== undefined ? { first, last } : undefined;
    },
    count: filter => sumCounts(countAll(readCounts), owners, filter),
    countWaiting: filter => sumCounts(readCounts(COUNT_WAITING), owners, filter),
  };
}

/** A context whose id the server generated begins with the task before it; later tasks are in the index. */
const KEYS_OF_CONTEXT =
  "SELECT ? - 1 UNION ALL SELECT key FROM task WHERE context = ? AND context <> key + 1";

const stateOf = (row: ScanRow): TaskState => STATES[row.state] as TaskState;

function toMatch(
  { states, withHidden }: TaskScan,
  allowed: ReadonlySet<number> | undefined,
): (row: ScanRow) => boolean {
  return row =>
    (withHidden || row.hidden === 0) &&
    (!allowed || allowed.has(row.owner)) &&
    (!states || states.has(stateOf(row)));
}

/** Each source is ordered by key: the first rows of all of them are among the first rows of each. */
function merge(sources: readonly Fetch[], after: number, count: number): readonly ScanRow[] {
  const [only] = sources;
  if (sources.length === 1 && only) return only(after, count);
  return sources
    .flatMap(fetch => fetch(after, count))
    .sort((a, b) => b.key - a.key)
    .slice(0, count);
}

const toScanned = (row: ScanRow, owners: OwnerTable): ScannedTask => ({
  taskId: row.id as TaskId,
  scope: owners.scopeOf(row.owner),
  agent: owners.agentOf(row.owner),
  contextId: row.context_id as ContextId,
});

/** How many tasks each owner has in each state. */
interface CountRow {
  readonly owner: number;
  readonly state: number;
  readonly count: number;
}

const COUNT = "SELECT owner, state, count(*) AS count FROM task";
const BY_OWNER_AND_STATE = "GROUP BY owner, state";
// Without the names of the indexes, SQLite reads all tasks in the order of their owners.
const COUNT_UNFINISHED = `${COUNT} INDEXED BY task_unfinished WHERE ${UNFINISHED} ${BY_OWNER_AND_STATE}`;
const COUNT_BY_STATE = `${COUNT} WHERE ${BY_STATE} ${BY_OWNER_AND_STATE}`;
const COUNT_WAITING = `${COUNT} INDEXED BY task_waiting WHERE ${WAITING} ${BY_OWNER_AND_STATE}`;
const COUNT_ALL = `SELECT owner, ${COMPLETED} AS state, count(*) AS count FROM task GROUP BY owner`;

/** Completed tasks are those that are in no other index: most tasks, of which only the number is read. */
function* countAll(read: (sql: string) => readonly CountRow[]): Generator<CountRow> {
  for (const row of [...read(COUNT_BY_STATE), ...read(COUNT_UNFINISHED)])
    yield* [row, { ...row, state: COMPLETED, count: -row.count }];
  yield* read(COUNT_ALL);
}

function sumCounts(rows: Iterable<CountRow>, owners: OwnerTable, filter: OwnerFilter): readonly TaskCount[] {
  const allowed = owners.matching(filter);
  const counts = new Map<string, { agent: AgentName; state: TaskState; count: number }>();
  for (const { owner, state, count } of rows) {
    if (allowed && !allowed.has(owner)) continue;
    const agent = owners.agentOf(owner);
    const key = `${state} ${agent}`;
    const one = counts.get(key) ?? { agent, state: STATES[state] as TaskState, count: 0 };
    counts.set(key, { ...one, count: one.count + count });
  }
  return [...counts.values()].filter(one => one.count > 0);
}
