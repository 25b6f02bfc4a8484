import { type AgentName, Fault, type ListFilter, type Scope, type TaskId } from "../../model/index.ts";
import type { Page } from "../../ports.ts";
import { contextKey } from "../rows/keys.ts";
import { STATES } from "../rows/states.ts";
import type { Database } from "./database.ts";
import type { Owners } from "./owners.ts";
import type { Reader } from "./reader.ts";

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
  return async (scope: Scope, agent: AgentName, filter: ListFilter): Promise<Page> => {
    const cursor = await readCursor(db, filter.pageToken);
    const owner = await owners.find(scope, agent);
    if (owner === undefined) return { tasks: [], nextPageToken: "", pageSize: filter.pageSize, totalSize: 0 };
    const { sql, values } = where(owner, filter);
    const [count] = await db.query<{ total: number }>(
      `SELECT count(*) AS total FROM task t WHERE ${sql}`,
      values,
    );
    const places = await readPlaces(db, sql, values, cursor, filter.pageSize + 1);
    const shown = places.slice(0, filter.pageSize);
    const known = await reader.findAll(shown.map(one => one.id));
    const more = places.length > filter.pageSize;
    return {
      tasks: shown.flatMap(({ id }) => known.get(id)?.task ?? []),
      nextPageToken: more ? writeCursor({ ...cursor, below: shown.at(-1)?.place ?? 0 }) : "",
      pageSize: filter.pageSize,
      totalSize: count?.total ?? 0,
    };
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
