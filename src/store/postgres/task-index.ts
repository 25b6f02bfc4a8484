import { Fault, LIMITS, type Seq, type TaskId, taskSize, type View } from "../../model/index.ts";
import type { ListFilter, TaskIndex } from "../../ports/index.ts";
import { NAME_KINDS } from "../kernel/caller-names.ts";
import { contextKey } from "../kernel/context-key.ts";
import { STATES } from "../kernel/state-numbers.ts";
import type { Database } from "./database.ts";
import type { OwnerIds } from "./owners.ts";
import type { TaskReader } from "./reader.ts";

/** The position in a list: the snapshot of its first page, and the last revision on the page before. */
interface ListPosition {
  readonly snapshot: string;
  readonly below: number;
}

interface ListedTask {
  readonly id: TaskId;
  /** The revision of the task in the snapshot of the list. */
  readonly place: number;
}

const BY_ALIAS = "SELECT id, 1 AS seq, NULL AS digest FROM task WHERE owner = $1 AND alias = $2";
const BY_NAME =
  "SELECT task.id, name.seq, name.digest FROM name JOIN task ON task.key = name.task " +
  "WHERE name.owner = $1 AND name.kind = $2 AND name.name = $3";
const FULL_VIEW: View = { artifacts: true };

export function createTaskIndex(db: Database, owners: OwnerIds, reader: TaskReader): TaskIndex {
  return {
    async findByName(scope, agent, { kind, name }) {
      const owner = await owners.find(scope, agent);
      if (owner === undefined) return null;
      const [row] = await db.query<{ id: TaskId; seq: Seq; digest: string | null }>(
        kind === "alias" ? BY_ALIAS : BY_NAME,
        kind === "alias" ? [owner, name] : [owner, NAME_KINDS[kind], name],
      );
      if (!row) return null;
      const { id: taskId, seq, digest } = row;
      return digest === null ? { taskId, seq } : { taskId, seq, digest };
    },
    async get(scope, taskId) {
      const cached = await reader.find(scope, taskId, true);
      return cached && { task: cached.task, seq: cached.seq as Seq, since: cached.compactedSeq as Seq };
    },
    async count(scope) {
      const [row] = await db.query<{ caller: number; tenant: number }>(
        "SELECT count(*) AS tenant, count(*) FILTER (WHERE o.principal = $2) AS caller " +
          "FROM task t JOIN owner o ON o.id = t.owner WHERE o.tenant = $1",
        [scope.tenant, scope.principal],
      );
      return row ?? { caller: 0, tenant: 0 };
    },
    /**
     * Ordered by the revisions in the snapshot of the first page. Revisions are drawn before the commit, so a snapshot of
     * Postgres defines which are visible: a task whose status has changed since keeps its earlier place.
     */
    async list(scope, agent, filter, view = FULL_VIEW) {
      const { pageSize } = filter;
      const position = await decodePageToken(db, filter.pageToken);
      const owner = await owners.find(scope, agent);
      if (owner === undefined) return { tasks: [], nextPageToken: "", pageSize, totalSize: 0 };
      const { sql, values } = toCondition(owner, filter);
      const [count] = await db.query<{ total: number }>(
        `SELECT count(*) AS total FROM task t WHERE ${sql}`,
        values,
      );
      const listed = await findListed(db, sql, values, position, pageSize + 1);
      const { tasks, end } = await readPage(reader, listed.slice(0, pageSize), view);
      const hasMore = listed.length > end;
      return {
        tasks,
        nextPageToken: hasMore ? encodePageToken({ ...position, below: listed[end - 1]?.place ?? 0 }) : "",
        pageSize,
        totalSize: count?.total ?? 0,
      };
    },
    async newest(scope, agent, { states, max, ...filter }) {
      const owner = await owners.find(scope, agent);
      if (owner === undefined) return [];
      const { sql, values } = toCondition(owner, filter);
      const numbers = states?.map(state => STATES.indexOf(state));
      const inStates = numbers ? `AND t.state IN (${numbers.join(", ")})` : "";
      const rows = await db.query<{ id: TaskId }>(
        `SELECT t.id FROM task t WHERE ${sql} ${inStates} ORDER BY t.rev DESC LIMIT $${values.length + 1}`,
        [...values, max],
      );
      return rows.map(row => row.id);
    },
  };
}

/** Limits the bytes that are read, which are known in advance, and the bytes in the response. `end`: the tasks used. */
async function readPage(reader: TaskReader, listed: readonly ListedTask[], view: View) {
  const ids = listed.map(({ id }) => id);
  const bytes = await reader.readSizes(ids);
  const wanted = ids.slice(0, countFitting(ids.map(id => bytes.get(id) ?? 0)));
  const found = await reader.readAll(wanted);
  const tasks = wanted.map(id => found.get(id)?.task);
  const end = countFitting(tasks.map(task => (task ? taskSize(task, view) : 0)));
  return { tasks: tasks.slice(0, end).filter(task => task !== undefined), end };
}

/** How many of the sizes, from the first on, fit a page; the first always does. */
function countFitting(sizes: readonly number[]): number {
  let total = 0;
  const end = sizes.findIndex((size, i) => (total += size) > LIMITS.pageBytesMax && i > 0);
  return end === -1 ? sizes.length : end;
}

function findListed(
  db: Database,
  sql: string,
  values: readonly unknown[],
  position: ListPosition,
  max: number,
): Promise<readonly ListedTask[]> {
  const n = values.length;
  const [snapshot, below, limit] = [`$${n + 1}::pg_snapshot`, `$${n + 2}::bigint`, `$${n + 3}::int`];
  return db.query<ListedTask>(
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
    [...values, position.snapshot, position.below, max],
  );
}

function toCondition(
  owner: number,
  filter: Omit<ListFilter, "pageSize">,
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

/** A page token is not secret and grants no access. */
const encodePageToken = ({ snapshot, below }: ListPosition): string =>
  Buffer.from(`${below}.${snapshot}`).toString("base64url");

async function decodePageToken(db: Database, token: string | undefined): Promise<ListPosition> {
  if (!token) {
    const [row] = await db.query<{ snapshot: string }>("SELECT pg_current_snapshot()::text AS snapshot");
    return { snapshot: row?.snapshot as string, below: Number.MAX_SAFE_INTEGER };
  }
  const found = /^(\d{1,16})\.(\d{1,20}:\d{1,20}:[\d,]{0,4000})$/.exec(
    Buffer.from(token, "base64url").toString("latin1"),
  );
  const position = found && { below: Number(found[1]), snapshot: found[2] as string };
  if (!position || encodePageToken(position) !== token)
    throw new Fault("invalid-params", "pageToken must be a nextPageToken of an earlier page", {
      field: "pageToken",
    });
  return position;
}
