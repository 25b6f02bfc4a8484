import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { TaskId, TaskState } from "../../model/index.ts";
import type { ListFilter } from "../../ports/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { STATES } from "../kernel/state-numbers.ts";
import type { Backend } from "../single-node/backend.ts";
import type { OwnerTable } from "./owners.ts";

/**
 * A page of a list, ordered by revision as it was when the first page was read. A task whose status has changed since then
 * keeps its earlier position, which its segments record, so that no page omits or repeats a task.
 */
export function createListQuery(
  db: DatabaseSync,
  owners: OwnerTable,
  totalOf: (owner: number, state: TaskState | undefined) => number,
): Backend["list"] {
  const prepare = createStatements(db);
  return (scope, agent, filter, { maxRev, beforeRev }) => {
    const owner = owners.find(scope, agent);
    if (owner === undefined) return { rows: [], total: 0 };
    const { sql, values } = toWhereClause(owner, filter);
    const isCounted = filter.contextId === undefined && filter.statusSince === undefined;
    const total = isCounted
      ? totalOf(owner, filter.state)
      : (prepare(`SELECT count(*) AS total FROM task WHERE ${sql}`).get(values)?.total as number);
    // Expressions as limits: see bound-limit.ts.
    const rows = prepare(`
      SELECT id, rev AS place FROM task WHERE ${sql} AND rev <= :maxRev AND rev < :beforeRev
      UNION ALL
      SELECT id, place FROM (
        SELECT id, (SELECT max(s.rev) FROM segment s WHERE s.task = task.key AND s.rev <= :maxRev) AS place
        FROM task WHERE ${sql} AND rev > :maxRev
      ) WHERE place < :beforeRev
      ORDER BY place DESC LIMIT 0 + :count`).all({
      ...values,
      maxRev,
      beforeRev,
      count: filter.pageSize + 1,
    });
    return { rows: rows.map(row => ({ taskId: row.id as TaskId, rev: row.place as number })), total };
  };
}

/** For chat windows, which name a conversation and not a task: a message of theirs must not cost a whole list. */
export function createNewestQuery(db: DatabaseSync, owners: OwnerTable): Backend["newest"] {
  const prepare = createStatements(db);
  return (scope, agent, { states, max, ...filter }) => {
    const owner = owners.find(scope, agent);
    if (owner === undefined) return [];
    const { sql, values } = toWhereClause(owner, filter);
    const numbers = states?.map(state => STATES.indexOf(state));
    const inStates = numbers ? `AND +state IN (${numbers.join(", ")})` : "";
    const rows = prepare(`SELECT id FROM task WHERE ${sql} ${inStates} ORDER BY rev DESC LIMIT 0 + :max`);
    return rows.all({ ...values, max }).map(row => row.id as TaskId);
  };
}

/** Statements by their text, each prepared once. */
function createStatements(db: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>();
  return sql => {
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, (statement = db.prepare(sql)));
    return statement;
  };
}

/** A context whose id the server generated begins with the task before it; later tasks are in the index. */
const KEYS_OF_CONTEXT =
  "SELECT :context - 1 UNION ALL SELECT key FROM task WHERE context = :context AND context <> key + 1";

function toWhereClause(
  owner: number,
  filter: Omit<ListFilter, "pageSize">,
): { sql: string; values: Record<string, SQLInputValue> } {
  const values: Record<string, SQLInputValue> = { owner };
  // The plus keeps the query planner from scanning all tasks of an owner for the few of a context.
  let sql = `${filter.contextId === undefined ? "" : "+"}owner = :owner AND hidden = 0`;
  if (filter.contextId !== undefined) {
    sql += ` AND key IN (${KEYS_OF_CONTEXT}) AND context_id = :contextId`;
    values.context = contextKey(filter.contextId);
    values.contextId = filter.contextId;
  }
  // As a literal: a partial index is not used for a parameter.
  if (filter.state !== undefined) sql += ` AND state = ${STATES.indexOf(filter.state)}`;
  if (filter.statusSince !== undefined) {
    sql += " AND status_at >= :since";
    values.since = filter.statusSince;
  }
  return { sql, values };
}
