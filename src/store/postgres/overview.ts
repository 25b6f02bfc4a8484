import {
  type ContextId,
  firstIdAt,
  LIMITS,
  type Seq,
  type TaskId,
  type TaskState,
  timeKey,
} from "../../model/index.ts";
import type { ClusterNode, OwnerFilter, ScannedTask, TaskOverview, TaskScan } from "../../ports/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { STATES } from "../kernel/state-numbers.ts";
import type { Database } from "./database.ts";
import type { OwnerIds } from "./owners.ts";
import { readNewestPushes, toSubscription } from "./pushes.ts";
import type { TaskReader } from "./reader.ts";

export interface OverviewParts {
  readonly db: Database;
  readonly owners: OwnerIds;
  readonly reader: TaskReader;
  readonly readNodes: () => Promise<readonly ClusterNode[]>;
}

interface ScanRow {
  readonly id: string;
  readonly owner: number;
  readonly context_id: string;
}

/** A scan with filters looks at so many rows at a time: the database reads small rows quickly. */
const WINDOW_ROWS = 4 * LIMITS.scanRowsMax;
/** Below and above all ids of version 7. */
const LOWEST = "00000000-0000-0000-0000-000000000000";
const HIGHEST = "ffffffff-ffff-ffff-ffff-ffffffffffff";
/** As in the indexes of migration 7. */
const BY_STATE = "t.state > 1 AND t.state <> 4";

export function createOverview({ db, owners, reader, readNodes }: OverviewParts): TaskOverview {
  async function toScanned(rows: readonly ScanRow[]): Promise<readonly ScannedTask[]> {
    await owners.load(rows.map(row => row.owner));
    return rows.map(row => ({
      taskId: row.id as TaskId,
      scope: owners.scopeOf(row.owner),
      agent: owners.agentOf(row.owner),
      contextId: row.context_id as ContextId,
    }));
  }

  /** The first id of a window below `before`; undefined: the window reaches the oldest task. */
  async function findWindow(before: string): Promise<string | undefined> {
    const sql = "SELECT id FROM task WHERE id < $1 ORDER BY id DESC OFFSET $2 LIMIT 1";
    const [row] = await db.query<{ id: string }>(sql, [before, WINDOW_ROWS - 1]);
    return row?.id;
  }

  async function scan(query: TaskScan): ReturnType<TaskOverview["scan"]> {
    const { max, order, after, from, to, states, contextId } = query;
    if (after !== undefined && timeKey(after) === null) return { tasks: [], next: undefined };
    const condition = new Condition();
    addOwners(condition, query.owners);
    if (!query.withHidden) condition.add("NOT t.hidden");
    if (contextId !== undefined)
      condition.add("t.context = ? AND t.context_id = ?", contextKey(contextId), contextId);
    if (order === "oldest") {
      condition.add("t.id > ?", after ?? LOWEST);
      const rows = await readRows(db, condition, "ASC", max);
      return { tasks: await toScanned(rows), next: rows.length < max ? undefined : toNext(rows) };
    }
    const before = earlier(after ?? HIGHEST, to === undefined ? HIGHEST : firstIdAt(to));
    condition.add("t.id < ?", before);
    if (from !== undefined) condition.add("t.id >= ?", firstIdAt(from));
    if (states && !states.has("completed")) {
      const rows = await readByState(db, condition, states, max);
      return { tasks: await toScanned(rows), next: rows.length < max ? undefined : toNext(rows) };
    }
    if (states)
      condition.add(
        "t.state = ANY(?)",
        [...states].map(state => STATES.indexOf(state)),
      );
    const window = contextId === undefined ? await findWindow(before) : undefined;
    if (window !== undefined) condition.add("t.id >= ?", window);
    const rows = await readRows(db, condition, "DESC", max);
    const next = rows.length === max ? toNext(rows) : (window as TaskId | undefined);
    const isOver = from !== undefined && next !== undefined && next < firstIdAt(from);
    return { tasks: await toScanned(rows), next: isOver ? undefined : next };
  }

  return {
    scan,
    async scanWaiting({ owners: filter, states, after, max }) {
      const condition = new Condition();
      addOwners(condition, filter);
      condition.add("t.state IN (2, 3)");
      condition.add(
        "t.state = ANY(?)",
        [...states].map(state => STATES.indexOf(state)),
      );
      condition.add("(t.status_at, t.id) > (?::bigint, ?::uuid)", after?.at ?? -1, after?.taskId ?? LOWEST);
      const rows = await db.query<{ id: TaskId; status_at: number }>(
        `SELECT t.id, t.status_at FROM task t WHERE ${condition.sql} ORDER BY t.status_at, t.id LIMIT ${max}`,
        condition.values,
      );
      const last = rows.at(-1);
      const next = rows.length === max && last ? { at: last.status_at, taskId: last.id } : undefined;
      return { taskIds: rows.map(row => row.id), next };
    },
    async read(taskIds) {
      const known = taskIds.filter(taskId => timeKey(taskId) !== null);
      const bytes = await reader.readSizes(known);
      let total = 0;
      const end = known.findIndex((id, i) => (total += bytes.get(id) ?? 0) > LIMITS.pageBytesMax && i > 0);
      const wanted = end === -1 ? known : known.slice(0, end);
      const found = await reader.readAll(wanted);
      const tasks = wanted.flatMap(id => {
        const cached = found.get(id);
        if (!cached) return [];
        const { scope, task, seq, compactedSeq } = cached;
        return [{ scope, task, seq: seq as Seq, since: compactedSeq as Seq }];
      });
      return { tasks, used: end === -1 ? taskIds.length : end };
    },
    async contextEnds({ scope, agent, contextId }) {
      const owner = await owners.find(scope, agent);
      if (owner === undefined) return undefined;
      const of = "FROM task t WHERE t.context = $1 AND t.context_id = $2 AND t.owner = $3 ORDER BY t.id";
      const [row] = await db.query<{ first: TaskId | null; last: TaskId | null }>(
        `SELECT (SELECT t.id ${of} LIMIT 1) AS first, (SELECT t.id ${of} DESC LIMIT 1) AS last`,
        [contextKey(contextId), contextId, owner],
      );
      return row?.first && row.last ? { first: row.first, last: row.last } : undefined;
    },
    async count(filter) {
      const condition = new Condition();
      addOwners(condition, filter);
      const rows = await db.query<{ agent: string; state: number; count: number }>(
        `SELECT o.agent, c.state, sum(c.count)::bigint AS count FROM (SELECT t.owner, t.state, count(*) AS count ` +
          `FROM task t WHERE ${condition.sql} GROUP BY t.owner, t.state) c JOIN owner o ON o.id = c.owner GROUP BY o.agent, c.state`,
        condition.values,
      );
      return rows.map(({ agent, state, count }) => ({
        agent: agent as ScannedTask["agent"],
        state: STATES[state] as TaskState,
        count,
      }));
    },
    async scanPushes({ owners: filter, state, host, after, max }) {
      const condition = new Condition(2);
      addOwners(condition, filter);
      if (host !== undefined) condition.add("p.host = ?", host);
      if (state === "failing") condition.add("p.state = 'live' AND p.next_at IS NOT NULL");
      else if (state !== undefined) condition.add("p.state = ?", state);
      const rows = await readNewestPushes(
        db,
        after ?? Number.MAX_SAFE_INTEGER,
        max,
        `AND ${condition.sql}`,
        condition.values,
      );
      await owners.load(rows.map(row => row.owner));
      const pushes = rows.map(row => ({ ...toSubscription(row, owners), agent: owners.agentOf(row.owner) }));
      return { pushes, next: rows.length < max ? undefined : rows.at(-1)?.nth };
    },
    nodes: readNodes,
  };
}

/** The conditions of a query, and their values. */
class Condition {
  readonly values: unknown[] = [];
  readonly #parts: string[] = [];
  readonly #first: number;

  /** `first`: values that come before these. */
  constructor(first = 0) {
    this.#first = first;
  }

  get sql(): string {
    return this.#parts.length === 0 ? "true" : this.#parts.join(" AND ");
  }

  /** Each `?` stands for a value. */
  add(sql: string, ...values: readonly unknown[]): void {
    let i = 0;
    this.#parts.push(sql.replaceAll("?", () => `$${this.#first + this.values.length + ++i}`));
    this.values.push(...values);
  }
}

function addOwners(condition: Condition, { tenant, principal, agents }: OwnerFilter): void {
  if (tenant === undefined && principal === undefined && !agents) return;
  const tests: string[] = [];
  const values: unknown[] = [];
  const test = (sql: string, value: unknown): void => {
    tests.push(sql);
    values.push(value);
  };
  if (tenant !== undefined) test("tenant = ?", tenant);
  if (principal !== undefined) test("principal = ?", principal);
  if (agents) test("agent = ANY(?)", [...agents]);
  condition.add(`t.owner IN (SELECT id FROM owner WHERE ${tests.join(" AND ")})`, ...values);
}

const COLUMNS = "t.id, t.owner, t.context_id";

const readRows = (
  db: Database,
  { sql, values }: Condition,
  direction: "ASC" | "DESC",
  max: number,
): Promise<readonly ScanRow[]> =>
  db.query<ScanRow>(
    `SELECT ${COLUMNS} FROM task t WHERE ${sql} ORDER BY t.id ${direction} LIMIT ${max}`,
    values,
  );

/** One range of an index per state. */
function readByState(
  db: Database,
  { sql, values }: Condition,
  states: ReadonlySet<TaskState>,
  max: number,
): Promise<readonly ScanRow[]> {
  const select = (condition: string): string =>
    `(SELECT ${COLUMNS} FROM task t WHERE ${condition} AND ${sql} ORDER BY t.id DESC LIMIT ${max})`;
  const numbers = [...states].map(state => STATES.indexOf(state));
  const parts = numbers.map(number =>
    select(number < 2 ? `t.state < 2 AND t.state = ${number}` : `${BY_STATE} AND t.state = ${number}`),
  );
  return db.query<ScanRow>(
    `SELECT * FROM (${parts.join(" UNION ALL ")}) AS t ORDER BY id DESC LIMIT ${max}`,
    values,
  );
}

const toNext = (rows: readonly ScanRow[]): TaskId | undefined => rows.at(-1)?.id as TaskId | undefined;
const earlier = (a: string, b: string): string => (a < b ? a : b);
