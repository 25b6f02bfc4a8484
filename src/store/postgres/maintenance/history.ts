import { type Task, type TaskId, timeKey } from "../../../model/index.ts";
import type { Log, UsageQuery, UsageRow } from "../../../ports/index.ts";
import { NAMESAKES_MAX, namesakes, type TaskStory } from "../../kernel/history.ts";
import { unpack } from "../../kernel/unpack.ts";
import { type Asker, type Database, openDatabase, PostgresRefusal } from "../database.ts";
import { explained } from "../migrate.ts";
import { Owners } from "../owners.ts";
import { deliveriesOf } from "../pushes.ts";
import { createUsageBook } from "../usage.ts";

/** For whoever looks at a database from outside; servers may be running. */
export interface LookParts {
  readonly url: string;
  readonly log: Log;
}

const STATEMENT_MS = 60_000;

async function look<T>(parts: LookParts, work: (on: Asker) => Promise<T>): Promise<T> {
  let db: Database | undefined;
  try {
    db = await openDatabase({ ...parts, durability: "power", connectionsMax: 1, statementMs: STATEMENT_MS });
    return await db.transact(async on => {
      // One look: what servers write meanwhile is not half seen.
      await on.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
      return work(on);
    });
  } catch (error) {
    throw explained(error);
  } finally {
    await db?.close();
  }
}

/** What was spent. */
export const usageIn = (parts: LookParts, query: UsageQuery): Promise<readonly UsageRow[]> =>
  look(parts, on => createUsageBook(on).report(query));

interface TaskRow {
  readonly key: number;
  readonly id: TaskId;
  readonly owner: number;
  readonly snapshot: string | null;
  readonly since: number;
}

/** By its id, or by the id that its caller gave it; null: there is none. */
export const readStoryIn = (parts: LookParts, name: string): Promise<TaskStory | null> =>
  look(parts, async on => {
    const row = await findRow(on, name);
    return row && toStory(on, row);
  });

const FIND = "SELECT key, id, owner, snapshot, since FROM task WHERE";

async function findRow(on: Asker, name: string): Promise<TaskRow | null> {
  const [byId] = timeKey(name) === null ? [] : await on.query<TaskRow>(`${FIND} id = $1`, [name]);
  if (byId) return byId;
  const sql = `${FIND} owner IN (SELECT id FROM owner) AND alias = $1 LIMIT $2`;
  const rows = await on.query<TaskRow>(sql, [name, NAMESAKES_MAX]);
  if (rows.length > 1) throw new PostgresRefusal(namesakes(rows.map(row => row.id)));
  return rows[0] ?? null;
}

async function toStory(on: Asker, row: TaskRow): Promise<TaskStory> {
  const owners = new Owners(on);
  await owners.learn([row.owner]);
  const segments = await on.query<{ last: number; events: string }>(
    "SELECT last, events FROM segment WHERE task = $1 ORDER BY last",
    [row.key],
  );
  const isCompacted = row.since > 0 && row.snapshot !== null;
  return {
    taskId: row.id,
    scope: owners.scopeOf(row.owner),
    snapshot: isCompacted ? (JSON.parse(row.snapshot as string) as Task) : undefined,
    events: segments.flatMap(({ last, events }) => unpack(events, last)),
    deliveries: await deliveriesOf(on, owners, row.id),
  };
}
