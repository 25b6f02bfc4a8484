import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { TaskId } from "../../model/index.ts";
import type { ListFilter } from "../../ports/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { STATES } from "../kernel/state-numbers.ts";
import type { Journal } from "../single-node/backend.ts";
import type { Owners } from "./owners.ts";

/**
 * A page of a list, in order of revision as it was when the first page was made. A task whose status has moved since
 * then stands where it stood (its segments remember), so that no page loses a task or shows one twice.
 */
export function createLister(db: DatabaseSync, owners: Owners): Journal["list"] {
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (!statement) statements.set(sql, (statement = db.prepare(sql)));
    return statement;
  };

  return (scope, agent, filter, cursor) => {
    const owner = owners.find(scope, agent);
    if (owner === undefined) return { places: [], total: 0 };
    const { sql, values } = where(owner, filter);
    const { total } = prepare(`SELECT count(*) AS total FROM task WHERE ${sql}`).get(values) as {
      total: number;
    };
    const rows = prepare(`
      SELECT id, rev AS place FROM task WHERE ${sql} AND rev <= :bound AND rev < :below
      UNION ALL
      SELECT id, place FROM (
        SELECT id, (SELECT max(s.rev) FROM segment s WHERE s.task = task.key AND s.rev <= :bound) AS place
        FROM task WHERE ${sql} AND rev > :bound
      ) WHERE place < :below
      ORDER BY place DESC LIMIT :count`).all({
      ...values,
      bound: cursor.bound,
      below: cursor.below,
      count: filter.pageSize + 1,
    });
    return { places: rows.map(row => ({ taskId: row.id as TaskId, rev: row.place as number })), total };
  };
}

/** The task with which a context of ours began is the one before it; the others are in the index. */
const KEYS_OF_CONTEXT =
  "SELECT :context - 1 UNION ALL SELECT key FROM task WHERE context = :context AND context <> key + 1";

function where(owner: number, filter: ListFilter): { sql: string; values: Record<string, SQLInputValue> } {
  const values: Record<string, SQLInputValue> = { owner };
  // The plus keeps the planner from walking all tasks of an owner where the few of a context are wanted.
  let sql = `${filter.contextId === undefined ? "" : "+"}owner = :owner AND hidden = 0`;
  if (filter.contextId !== undefined) {
    sql += ` AND key IN (${KEYS_OF_CONTEXT}) AND context_id = :contextId`;
    values.context = contextKey(filter.contextId);
    values.contextId = filter.contextId;
  }
  if (filter.state !== undefined) {
    sql += " AND state = :state";
    values.state = STATES.indexOf(filter.state);
  }
  if (filter.statusSince !== undefined) {
    sql += " AND status_at >= :since";
    values.since = filter.statusSince;
  }
  return { sql, values };
}
