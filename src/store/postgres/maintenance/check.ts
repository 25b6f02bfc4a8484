import type { Log, OnProgress, StoreReport } from "../../../ports/index.ts";
import {
  type CheckedName,
  type CheckedSegment,
  type CheckedTask,
  checkTask,
  type ReportFinding,
} from "../../kernel/check-task.ts";
import { FIRST_SETTLED } from "../../kernel/state-numbers.ts";
import { type Database, withDatabase } from "../database.ts";
import { MIGRATIONS } from "../sql/index.ts";

export interface CheckPostgresParts {
  readonly url: string;
  /** The URL without its password. */
  readonly location: string;
  readonly log: Log;
  readonly onProgress: OnProgress;
}

const FINDINGS_MAX = 100;
/** Tasks that are checked in one transaction. */
const BATCH_MAX = 200;
const STATEMENT_MS = 600_000;

/** Checks the whole database without changing it; servers may be running. */
export const checkPostgres = (parts: CheckPostgresParts): Promise<StoreReport> =>
  withDatabase({ ...parts, durability: "process", connectionsMax: 1, statementMs: STATEMENT_MS }, db =>
    check(db, parts),
  );

async function check(db: Database, parts: CheckPostgresParts): Promise<StoreReport> {
  const findings: string[] = [];
  let findingsCount = 0;
  const report: ReportFinding = finding => {
    if (++findingsCount <= FINDINGS_MAX) findings.push(finding);
  };
  const tasks = await countRows(db, "task");
  parts.onProgress(0, tasks);
  await findOrphans(db, report);
  const events = await checkTasks(db, report, done => parts.onProgress(done, tasks));
  const [size] = await db.query<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes");
  const [schema] = await db.query<{ version: number }>("SELECT max(version) AS version FROM dragoman_schema");
  const names = (await countRows(db, "name")) + (await countRows(db, "task WHERE alias IS NOT NULL"));
  return {
    file: parts.location,
    bytes: size?.bytes ?? 0,
    schema: schema?.version ?? MIGRATIONS.length,
    tasks,
    events,
    names,
    unfinished: await countUnfinished(db),
    findings,
    findingsCount,
  };
}

async function countRows(db: Database, from: string): Promise<number> {
  return (await db.query<{ count: number }>(`SELECT count(*) AS count FROM ${from}`))[0]?.count ?? 0;
}

const ORPHANS: Readonly<Record<string, string>> = {
  "rows of logs without a task": "segment s WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = s.task)",
  "names without a task": "name n WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = n.task)",
  "push configs without a task": "push p WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = p.task)",
  "tasks without an owner": "task t WHERE NOT EXISTS (SELECT 1 FROM owner WHERE id = t.owner)",
};

async function findOrphans(db: Database, report: ReportFinding): Promise<void> {
  for (const [problem, from] of Object.entries(ORPHANS)) {
    const count = await countRows(db, from);
    if (count > 0) report(`${problem}: ${count}`);
  }
}

interface TaskRow extends CheckedTask {
  readonly key: number;
  readonly seq: number;
  readonly alias: string | null;
}

async function checkTasks(
  db: Database,
  report: ReportFinding,
  onDone: (done: number) => void,
): Promise<number> {
  let events = 0;
  let done = 0;
  let after = 0;
  for (;;) {
    const batch = await readBatch(db, after);
    if (batch.tasks.length === 0) return events;
    for (const task of batch.tasks) events += checkRowAndLog(task, batch, report);
    after = batch.tasks.at(-1)?.key as number;
    done += batch.tasks.length;
    onDone(done);
  }
}

interface TaskBatch {
  readonly tasks: readonly TaskRow[];
  readonly segments: ReadonlyMap<number, readonly (CheckedSegment & { readonly task: number })[]>;
  readonly names: ReadonlyMap<number, readonly (CheckedName & { readonly task: number })[]>;
}

/** In one snapshot, because servers may write meanwhile. */
function readBatch(db: Database, after: number): Promise<TaskBatch> {
  return db.transact(async tx => {
    await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    const tasks = await tx.query<TaskRow>(
      "SELECT t.*, o.agent FROM task t LEFT JOIN owner o ON o.id = t.owner WHERE t.key > $1 ORDER BY t.key LIMIT $2",
      [after, BATCH_MAX],
    );
    const keys = tasks.map(task => task.key);
    const segments = await tx.query<CheckedSegment & { task: number }>(
      "SELECT task, last, events FROM segment WHERE task = ANY($1) ORDER BY task, last",
      [keys],
    );
    const names = await tx.query<CheckedName & { task: number }>(
      "SELECT task, owner, kind, name, seq, digest FROM name WHERE task = ANY($1)",
      [keys],
    );
    return {
      tasks,
      segments: Map.groupBy(segments, ({ task }) => task),
      names: Map.groupBy(names, ({ task }) => task),
    };
  });
}

function checkRowAndLog(task: TaskRow, batch: TaskBatch, report: ReportFinding): number {
  const segments = batch.segments.get(task.key) ?? [];
  const alias =
    task.alias === null ? [] : [{ owner: task.owner, kind: 0, name: task.alias, seq: 1, digest: null }];
  const last = segments.at(-1)?.last ?? task.since;
  if (task.since === 0 && last !== task.seq)
    report(`task ${task.id}: its log ends at event ${last} instead of ${task.seq}`);
  return checkTask(task, segments, [...alias, ...(batch.names.get(task.key) ?? [])], report);
}

async function countUnfinished(db: Database): Promise<Readonly<Record<string, number>>> {
  const rows = await db.query<{ agent: string; count: number }>(
    `SELECT o.agent, count(*) AS count FROM task t JOIN owner o ON o.id = t.owner WHERE t.state < ${FIRST_SETTLED} GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(row => [row.agent, row.count]));
}
