import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";
import type { JobObserver, OnProgress, StoreReport } from "../../../ports/index.ts";
import type { ReportFinding } from "../../kernel/check-task.ts";
import { FIRST_SETTLED } from "../../kernel/state-numbers.ts";
import { formatWalDamage, openReadOnly, type ReadOnlyDatabase, requireSchema } from "../open.ts";
import { runJob, runThread, serveJob } from "../thread.ts";
import { findWalDamage } from "../wal.ts";
import { createTaskCheck } from "./check-task.ts";

const JOB = { name: "check", url: import.meta.url } as const;

/** Findings in a report: a store with more needs a backup and not a list. */
const FINDINGS_MAX = 100;

const TASKS_PER_PROGRESS = 500;

/** Checks everything in the store of a folder without changing it; a server may be running. */
export const checkStore = (folder: string, observer: JobObserver): Promise<StoreReport> =>
  runThread<StoreReport>(JOB, { folder }, observer);

/** Runs in the thread. */
function work({ folder }: { readonly folder: string }, port: MessagePort): void {
  runJob<StoreReport>(port, post => {
    const opened = openReadOnly(folder);
    try {
      requireSchema(opened);
      return check(opened, (done, total) => post({ kind: "progress", done, total }));
    } finally {
      opened.db.close();
    }
  });
}

function check({ db, file, schema }: ReadOnlyDatabase, onProgress: OnProgress): StoreReport {
  const findings: string[] = [];
  let findingsCount = 0;
  const report: ReportFinding = finding => {
    if (++findingsCount <= FINDINGS_MAX) findings.push(finding);
  };
  /** Any query of a damaged file can fail. */
  const attempt = <T>(query: () => T, fallback: T): T => {
    try {
      return query();
    } catch (error) {
      report(`the file cannot be read: ${(error as Error).message}`);
      return fallback;
    }
  };
  // One read transaction: the check never sees half of a commit.
  db.exec("BEGIN");
  const tasks = attempt(() => count(db, "task"), 0);
  onProgress(0, tasks);
  const damage = findWalDamage(file);
  if (damage) report(formatWalDamage(file, damage));
  attempt(() => checkFile(db, report), undefined);
  attempt(() => findOrphans(db, report), undefined);
  const events = attempt(() => checkTasks(db, report, done => onProgress(done, tasks)), 0);
  const names = attempt(() => count(db, "name") + count(db, "task WHERE alias IS NOT NULL"), 0);
  const unfinished = attempt(() => countUnfinished(db), {});
  // Commits may still be in the write-ahead log.
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const bytes = statSync(file).size + wal;
  return { file, bytes, schema, tasks, events, names, unfinished, findings, findingsCount };
}

function checkFile(db: DatabaseSync, report: ReportFinding): void {
  for (const { integrity_check: result } of db.prepare("PRAGMA integrity_check").all())
    if (result !== "ok") report(`the file: ${result}`);
}

function checkTasks(db: DatabaseSync, report: ReportFinding, onDone: (done: number) => void): number {
  const checkTask = createTaskCheck(db, report);
  const keys = db.prepare("SELECT key FROM task ORDER BY key");
  let events = 0;
  let done = 0;
  for (const { key } of keys.iterate() as Iterable<{ key: number }>) {
    events += checkTask(key);
    if (++done % TASKS_PER_PROGRESS === 0) onDone(done);
  }
  return events;
}

const ORPHANS: Readonly<Record<string, string>> = {
  "rows of logs without a task": "segment WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = segment.task)",
  "staged rows without a task": "staged WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = staged.task)",
  "names without a task": "name WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = name.task)",
  "names without an owner": "name WHERE NOT EXISTS (SELECT 1 FROM owner WHERE id = name.owner)",
  "push configs without a task": "push WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = push.task)",
  "push configs that cannot be read": "push WHERE NOT json_valid(more)",
  "tasks without an owner": "task WHERE NOT EXISTS (SELECT 1 FROM owner WHERE id = task.owner)",
};

function findOrphans(db: DatabaseSync, report: ReportFinding): void {
  for (const [finding, rows] of Object.entries(ORPHANS)) {
    const orphans = count(db, rows);
    if (orphans > 0) report(`${finding}: ${orphans}`);
  }
}

const count = (db: DatabaseSync, rows: string): number =>
  db.prepare(`SELECT count(*) AS count FROM ${rows}`).get()?.count as number;

function countUnfinished(db: DatabaseSync): Readonly<Record<string, number>> {
  const rows = db
    .prepare(
      "SELECT agent, count(*) AS count FROM task JOIN owner ON owner.id = task.owner " +
        `WHERE state < ${FIRST_SETTLED} GROUP BY agent ORDER BY agent`,
    )
    .all();
  return Object.fromEntries(rows.map(row => [row.agent as string, row.count as number]));
}

serveJob(JOB, work);
