import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";
import { FIRST_SETTLED } from "../../kernel/state-numbers.ts";
import { type OpenedToRead, openToRead, requireSchema, tellDamage } from "../open.ts";
import { runThread, tell, type Watch } from "../thread.ts";
import { findWalDamage } from "../wal.ts";
import { createTaskCheck } from "./check-task.ts";

/** What there is in a store, and what is wrong with it. */
export interface Report {
  readonly file: string;
  readonly bytes: number;
  readonly schema: number;
  readonly tasks: number;
  readonly events: number;
  readonly names: number;
  /** Unfinished tasks by agent. */
  readonly unfinished: Readonly<Record<string, number>>;
  /** The first of them. */
  readonly findings: readonly string[];
  readonly findingsCount: number;
}

/** Findings that are told one by one: whoever has more needs a backup and not a list. */
const FINDINGS_MAX = 100;

/** How often a thread tells how far it is. */
const TASKS_PER_PROGRESS = 500;

/** Looks at all that is in the store of a folder, without changing anything, also while a server runs. */
export const examineStore = (folder: string, watch: Watch): Promise<Report> =>
  runThread<Report>("examine", { folder }, watch);

/** In the thread. */
export function work({ folder }: { readonly folder: string }, port: MessagePort): void {
  tell<Report>(port, say => {
    const opened = openToRead(folder);
    try {
      requireSchema(opened);
      return examine(opened, (done, total) => say({ kind: "progress", done, total }));
    } finally {
      opened.db.close();
    }
  });
}

function examine({ db, file, schema }: OpenedToRead, onProgress: Watch["onProgress"]): Report {
  const findings: string[] = [];
  let findingsCount = 0;
  const find = (finding: string): void => {
    if (++findingsCount <= FINDINGS_MAX) findings.push(finding);
  };
  /** A damaged file may refuse any question. */
  const attempt = <T>(ask: () => T, otherwise: T): T => {
    try {
      return ask();
    } catch (error) {
      find(`the file cannot be read: ${(error as Error).message}`);
      return otherwise;
    }
  };
  // One look: what a server writes meanwhile is not half seen.
  db.exec("BEGIN");
  const tasks = attempt(() => count(db, "task"), 0);
  onProgress(0, tasks);
  const damage = findWalDamage(file);
  if (damage) find(tellDamage(file, damage));
  attempt(() => checkFile(db, find), undefined);
  attempt(() => findOrphans(db, find), undefined);
  const events = attempt(() => examineTasks(db, find, done => onProgress(done, tasks)), 0);
  const names = attempt(() => count(db, "name") + count(db, "task WHERE alias IS NOT NULL"), 0);
  const unfinished = attempt(() => unfinishedIn(db), {});
  return {
    file,
    bytes: statSync(file).size,
    schema,
    tasks,
    events,
    names,
    unfinished,
    findings,
    findingsCount,
  };
}

function checkFile(db: DatabaseSync, find: (finding: string) => void): void {
  for (const { integrity_check: told } of db.prepare("PRAGMA integrity_check").all())
    if (told !== "ok") find(`the file: ${told}`);
}

function examineTasks(
  db: DatabaseSync,
  find: (finding: string) => void,
  onDone: (done: number) => void,
): number {
  const check = createTaskCheck(db, find);
  const keys = db.prepare("SELECT key FROM task ORDER BY key");
  let events = 0;
  let done = 0;
  for (const { key } of keys.iterate() as Iterable<{ key: number }>) {
    events += check(key);
    if (++done % TASKS_PER_PROGRESS === 0) onDone(done);
  }
  return events;
}

const ORPHANS: Readonly<Record<string, string>> = {
  "rows of logs without a task": "segment WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = segment.task)",
  "names without a task": "name WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = name.task)",
  "names without an owner": "name WHERE NOT EXISTS (SELECT 1 FROM owner WHERE id = name.owner)",
  "push configs without a task": "push WHERE NOT EXISTS (SELECT 1 FROM task WHERE key = push.task)",
  "push configs that cannot be read": "push WHERE NOT json_valid(more)",
  "tasks without an owner": "task WHERE NOT EXISTS (SELECT 1 FROM owner WHERE id = task.owner)",
};

function findOrphans(db: DatabaseSync, find: (finding: string) => void): void {
  for (const [what, where] of Object.entries(ORPHANS)) {
    const orphans = count(db, where);
    if (orphans > 0) find(`${what}: ${orphans}`);
  }
}

const count = (db: DatabaseSync, what: string): number =>
  db.prepare(`SELECT count(*) AS count FROM ${what}`).get()?.count as number;

function unfinishedIn(db: DatabaseSync): Readonly<Record<string, number>> {
  const rows = db
    .prepare(
      "SELECT agent, count(*) AS count FROM task JOIN owner ON owner.id = task.owner " +
        `WHERE state < ${FIRST_SETTLED} GROUP BY agent ORDER BY agent`,
    )
    .all();
  return Object.fromEntries(rows.map(row => [row.agent as string, row.count as number]));
}
