import type { Log } from "../../../ports/index.ts";
import {
  type ExaminedName,
  type ExaminedSegment,
  type ExaminedTask,
  examineTask,
} from "../../kernel/check-task.ts";
import { FIRST_SETTLED } from "../../kernel/state-numbers.ts";
import { type Database, openDatabase } from "../database.ts";
import { explained } from "../migrate.ts";
import { MIGRATIONS } from "../sql/index.ts";

/** What there is in a database, and what is wrong with it. */
export interface PostgresReport {
  readonly file: string;
  readonly bytes: number;
  readonly schema: number;
  readonly tasks: number;
  readonly events: number;
  readonly names: number;
  readonly unfinished: Readonly<Record<string, number>>;
  readonly findings: readonly string[];
  readonly findingsCount: number;
}

export interface ExamineParts {
  readonly url: string;
  readonly log: Log;
  readonly onProgress: (done: number, total: number) => void;
}

const FINDINGS_MAX = 100;
/** Tasks that are looked at together. */
const BATCH = 200;
const CONNECTIONS_MAX = 1;
/** Whoever looks at everything is patient. */
const STATEMENT_MS = 600_000;

/** Looks at all that is in a database, without changing anything, also while servers run. */
export async function examinePostgres(parts: ExamineParts): Promise<PostgresReport> {
  let db: Database | undefined;
  try {
    db = await openDatabase({
      ...parts,
      durability: "process",
      connectionsMax: CONNECTIONS_MAX,
      statementMs: STATEMENT_MS,
    });
    return await examine(db, parts);
  } catch (error) {
    throw explained(error);
  } finally {
    await db?.close();
  }
}

async function examine(db: Database, parts: ExamineParts): Promise<PostgresReport> {
  const findings: string[] = [];
  let findingsCount = 0;
  const find = (finding: string): void => {
    if (++findingsCount <= FINDINGS_MAX) findings.push(finding);
  };
  const tasks = await countIn(db, "task");
  parts.onProgress(0, tasks);
  await findOrphans(db, find);
  const events = await examineTasks(db, find, done => parts.onProgress(done, tasks));
  const [size] = await db.query<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes");
  const [schema] = await db.query<{ version: number }>("SELECT max(version) AS version FROM dragoman_schema");
  const names = (await countIn(db, "name")) + (await countIn(db, "task WHERE alias IS NOT NULL"));
  return {
    file: withoutPassword(parts.url),
    bytes: size?.bytes ?? 0,
    schema: schema?.version ?? MIGRATIONS.length,
    tasks,
    events,
    names,
    unfinished: await unfinishedIn(db),
    findings,
    findingsCount,
  };
}

export function withoutPassword(url: string): string {
  const shown = new URL(url);
  shown.password = "";
  return shown.href;
}

async function countIn(db: Database, what: string): Promise<number> {
  return (await db.query<{ count: number }>(`SELECT count(*) AS count FROM ${what}`))[0]?.count ?? 0;
}

const ORPHANS: Readonly<Record<string, string>> = {
  "rows of logs without a task": "segment s WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = s.task)",
  "names without a task": "name n WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = n.task)",
  "push configs without a task": "push p WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = p.task)",
  "tasks without an owner": "task t WHERE NOT EXISTS (SELECT 1 FROM owner WHERE id = t.owner)",
};

async function findOrphans(db: Database, find: (finding: string) => void): Promise<void> {
  for (const [what, where] of Object.entries(ORPHANS)) {
    const count = await countIn(db, where);
    if (count > 0) find(`${what}: ${count}`);
  }
}

interface TaskRow extends ExaminedTask {
  readonly key: number;
  readonly seq: number;
  readonly alias: string | null;
}

async function examineTasks(
  db: Database,
  find: (finding: string) => void,
  onDone: (done: number) => void,
): Promise<number> {
  let events = 0;
  let done = 0;
  let after = 0;
  for (;;) {
    const rows = await readBatch(db, after);
    if (rows.tasks.length === 0) return events;
    for (const task of rows.tasks) events += examineOne(task, rows, find);
    after = rows.tasks.at(-1)?.key as number;
    done += rows.tasks.length;
    onDone(done);
  }
}

interface Batch {
  readonly tasks: readonly TaskRow[];
  readonly segments: ReadonlyMap<number, readonly (ExaminedSegment & { readonly task: number })[]>;
  readonly names: ReadonlyMap<number, readonly (ExaminedName & { readonly task: number })[]>;
}

/** In one transaction that sees one moment: what servers write meanwhile is not half seen. */
function readBatch(db: Database, after: number): Promise<Batch> {
  return db.transact(async on => {
    await on.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    const tasks = await on.query<TaskRow>(
      "SELECT t.*, o.agent FROM task t LEFT JOIN owner o ON o.id = t.owner WHERE t.key > $1 ORDER BY t.key LIMIT $2",
      [after, BATCH],
    );
    const keys = tasks.map(task => task.key);
    const segments = await on.query<ExaminedSegment & { task: number }>(
      "SELECT task, last, events FROM segment WHERE task = ANY($1) ORDER BY task, last",
      [keys],
    );
    const names = await on.query<ExaminedName & { task: number }>(
      "SELECT task, owner, kind, name, seq, digest FROM name WHERE task = ANY($1)",
      [keys],
    );
    return {
      tasks,
      segments: Map.groupBy(segments, one => one.task),
      names: Map.groupBy(names, one => one.task),
    };
  });
}

function examineOne(task: TaskRow, batch: Batch, find: (finding: string) => void): number {
  const segments = batch.segments.get(task.key) ?? [];
  const alias =
    task.alias === null ? [] : [{ owner: task.owner, kind: 0, name: task.alias, seq: 1, digest: null }];
  const last = segments.at(-1)?.last ?? task.since;
  if (task.since === 0 && last !== task.seq)
    find(`task ${task.id}: its log ends at ${last}, but it should at ${task.seq}`);
  return examineTask(task, segments, [...alias, ...(batch.names.get(task.key) ?? [])], find);
}

async function unfinishedIn(db: Database): Promise<Readonly<Record<string, number>>> {
  const rows = await db.query<{ agent: string; count: number }>(
    `SELECT o.agent, count(*) AS count FROM task t JOIN owner o ON o.id = t.owner WHERE t.state < ${FIRST_SETTLED} GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(row => [row.agent, row.count]));
}
