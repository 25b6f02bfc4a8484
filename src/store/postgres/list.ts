import {
  type AgentName,
  Fault,
  LIMITS,
  type ListFilter,
  type Scope,
  type Task,
  type TaskId,
  taskSize,
  type View,
} from "../../model/index.ts";
import type { Page } from "../../ports/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { STATES } from "../kernel/state-numbers.ts";
import type { Database } from "./database.ts";
import type { Owners } from "./owners.ts";
import type { Reader } from "./reader.ts";
import type { Known } from "./task-cache.ts";

/** Where a list is: what was committed when its first page was made, and the last revision on the page before. */
interface Cursor {
  readonly snapshot: string;
  readonly below: number;
}

interface Place {
  readonly id: TaskId;
  readonly place: number;
}

/**
 * A page of a list, in order of revision as it was when the first page was made. Revisions are drawn before the commit,
 * so what "was" is told by Postgres' own snapshot: a task whose status has moved since stands where it stood then.
 */
export function createLister(db: Database, owners: Owners, reader: Reader) {
  return async (scope: Scope, agent: AgentName, filter: ListFilter, view: View = WHOLE): Promise<Page> => {
    const cursor = await readCursor(db, filter.pageToken);
    const owner = await owners.find(scope, agent);
    if (owner === undefined) return { tasks: [], nextPageToken: "", pageSize: filter.pageSize, totalSize: 0 };
    const { sql, values } = where(owner, filter);
    const [count] = await db.query<{ total: number }>(
      `SELECT count(*) AS total FROM task t WHERE ${sql}`,
      values,
    );
    const places = await readPlaces(db, sql, values, cursor, filter.pageSize + 1);
    const { tasks, end } = await readPage(reader, places.slice(0, filter.pageSize), view);
    const more = places.length > end;
    return {
      tasks,
      nextPageToken: more ? writeCursor({ ...cursor, below: places[end - 1]?.place ?? 0 }) : "",
      pageSize: filter.pageSize,
      totalSize: count?.total ?? 0,
    };
  };
}

const WHOLE: View = { artifacts: true };

/** Until there are too many bytes: to be read, which is known before, or in the answer. `end`: so many places were used. */
async function readPage(reader: Reader, places: readonly Place[], view: View) {
  const ids = places.map(place => place.id);
  const bytes = await reader.bytesOf(ids);
  const wanted = ids.slice(0, countFitting(ids.map(id => bytes.get(id) ?? 0)));
  const known = await reader.findAll(wanted);
  const sizes = wanted.map(id => (known.has(id) ? taskSize((known.get(id) as Known).task, view) : 0));
  const end = countFitting(sizes);
  const tasks: readonly Task[] = wanted.slice(0, end).flatMap(id => known.get(id)?.task ?? []);
  return { tasks, end };
}

/** How many of these, from the first one on, are not too much for a page; the first one never is. */
function countFitting(sizes: readonly number[]): number {
  let total = 0;
  const end = sizes.findIndex((size, i) => (total += size) > LIMITS.pageBytesMax && i > 0);
  return end === -1 ? sizes.length : end;
}

/** The ids of the tasks with which a list would begin. */
export function createNewest(db: Database, owners: Owners) {
  return async (scope: Scope, agent: AgentName, max: number): Promise<readonly TaskId[]> => {
    const owner = await owners.find(scope, agent);
    if (owner === undefined) return [];
    const { sql, values } = where(owner, { pageSize: max });
    const rows = await db.query<{ id: TaskId }>(
      `SELECT t.id FROM task t WHERE ${sql} ORDER BY t.rev DESC LIMIT $${values.length + 1}`,
      [...values, max],
    );
    return rows.map(row => row.id);
  };
}

function readPlaces(
  db: Database,
  sql: string,
  values: readonly unknown[],
  cursor: Cursor,
  max: number,
): Promise<readonly Place[]> {
  const n = values.length;
  const [snapshot, below, limit] = [`$${n + 1}::pg_snapshot`, `$${n + 2}::bigint`, `$${n + 3}::int`];
  return db.query<Place>(
    `(SELECT t.id, t.rev AS place FROM task t
       WHERE ${sql} AND pg_visible_in_snapshot(t.xid, ${snapshot}) AND t.rev < ${below}
       ORDER BY t.rev DESC LIMIT ${limit})
     UNION ALL
     SELECT id, place FROM (
       SELECT t.id, (SELECT max(s.rev) FROM segment s WHERE s.task = t.key AND s.rev IS NOT NULL
         AND pg_visible_in_snapshot(s.xid, ${snapshot})) AS place
       FROM task t WHERE ${sql} AND NOT pg_visible_in_snapshot(t.xid, ${snapshot})
     ) AS moved WHERE place < ${below}
     ORDER BY place DESC LIMIT ${limit}`,
    [...values, cursor.snapshot, cursor.below, max],
  );
}

function where(
  owner: number,
  filter: ListFilter,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const values: unknown[] = [owner];
  let sql = "t.owner = $1 AND NOT t.hidden";
  const add = (test: string, value: unknown): void => {
    values.push(value);
    sql += ` AND ${test} $${values.length}`;
  };
  if (filter.contextId !== undefined) {
    add("t.context =", contextKey(filter.contextId));
    add("t.context_id =", filter.contextId);
  }
  if (filter.state !== undefined) add("t.state =", STATES.indexOf(filter.state));
  if (filter.statusSince !== undefined) add("t.status_at >=", filter.statusSince);
  return { sql, values };
}

/** Nothing in a page token is secret, and nothing in it grants anything. */
const writeCursor = ({ snapshot, below }: Cursor): string =>
  Buffer.from(`${below}.${snapshot}`).toString("base64url");

async function readCursor(db: Database, token: string | undefined): Promise<Cursor> {
  if (!token) {
    const [row] = await db.query<{ snapshot: string }>("SELECT pg_current_snapshot()::text AS snapshot");
    return { snapshot: row?.snapshot as string, below: Number.MAX_SAFE_INTEGER };
  }
  const found = /^(\d{1,16})\.(\d{1,20}:\d{1,20}:[\d,]{0,4000})$/.exec(
    Buffer.from(token, "base64url").toString("latin1"),
  );
  const cursor = found && { below: Number(found[1]), snapshot: found[2] as string };
  if (!cursor || writeCursor(cursor) !== token)
    throw new Fault("invalid-params", "pageToken must be a nextPageToken of an earlier page", {
      field: "pageToken",
    });
  return cursor;
}
