import { StartupError } from "../../../lib/startup-error.ts";
import { type Task, type TaskId, timeKey } from "../../../model/index.ts";
import type { Log, TaskHistory, UsageQuery, UsageRow } from "../../../ports/index.ts";
import { ALIAS_MATCHES_MAX, ambiguousAlias } from "../../kernel/history.ts";
import { unpackEvents } from "../../kernel/packed-events.ts";
import { type Queryable, withDatabase } from "../database.ts";
import { OwnerIds } from "../owners.ts";
import { readPushSubscriptions } from "../pushes.ts";
import { createUsageStore } from "../usage.ts";

/** For commands that inspect a database; servers may be running. */
export interface InspectParts {
  readonly url: string;
  readonly log: Log;
}

const STATEMENT_MS = 60_000;

const inspect = <T>(parts: InspectParts, work: (tx: Queryable) => Promise<T>): Promise<T> =>
  withDatabase({ ...parts, durability: "power", connectionsMax: 1, statementMs: STATEMENT_MS }, db =>
    db.transact(async tx => {
      // One snapshot, because servers may write meanwhile.
      await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
      return work(tx);
    }),
  );

export const readPostgresUsage = (parts: InspectParts, query: UsageQuery): Promise<readonly UsageRow[]> =>
  inspect(parts, tx => createUsageStore(tx).report(query));

interface TaskRow {
  readonly key: number;
  readonly id: TaskId;
  readonly owner: number;
  readonly snapshot: string | null;
  readonly since: number;
}

/** `name`: the id of the task, or the id that its caller gave it. null: there is no such task. */
export const readPostgresHistory = (parts: InspectParts, name: string): Promise<TaskHistory | null> =>
  inspect(parts, async tx => {
    const row = await findRow(tx, name);
    return row && readHistory(tx, row);
  });

const FIND = "SELECT key, id, owner, snapshot, since FROM task WHERE";

async function findRow(tx: Queryable, name: string): Promise<TaskRow | null> {
  const [byId] = timeKey(name) === null ? [] : await tx.query<TaskRow>(`${FIND} id = $1`, [name]);
  if (byId) return byId;
  const sql = `${FIND} owner IN (SELECT id FROM owner) AND alias = $1 LIMIT $2`;
  const rows = await tx.query<TaskRow>(sql, [name, ALIAS_MATCHES_MAX]);
  if (rows.length > 1) throw new StartupError(ambiguousAlias(rows.map(row => row.id)));
  return rows[0] ?? null;
}

async function readHistory(tx: Queryable, row: TaskRow): Promise<TaskHistory> {
  const owners = new OwnerIds(tx);
  await owners.load([row.owner]);
  const segments = await tx.query<{ last: number; events: string }>(
    "SELECT last, events FROM segment WHERE task = $1 ORDER BY last",
    [row.key],
  );
  const isCompacted = row.since > 0 && row.snapshot !== null;
  return {
    taskId: row.id,
    scope: owners.scopeOf(row.owner),
    snapshot: isCompacted ? (JSON.parse(row.snapshot as string) as Task) : undefined,
    events: segments.flatMap(({ last, events }) => unpackEvents(events, last)),
    pushes: await readPushSubscriptions(tx, owners, row.id),
  };
}
