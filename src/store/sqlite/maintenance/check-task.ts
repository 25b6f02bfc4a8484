import type { DatabaseSync } from "node:sqlite";
import { timeKey } from "../../../model/index.ts";
import { NAME_KINDS } from "../../kernel/caller-names.ts";
import {
  type CheckedName,
  type CheckedSegment,
  type CheckedTask,
  checkTask,
  type ReportFinding,
} from "../../kernel/check-task.ts";
import { readStaged } from "../staged-segments.ts";

interface TaskRow extends Omit<CheckedTask, "hidden"> {
  readonly key: number;
  readonly hidden: number;
  readonly whole: string | null;
}

/** Checks one task, by its key. Returns the number of its events. */
export function createTaskCheck(db: DatabaseSync, report: ReportFinding): (key: number) => number {
  const selectTask = db.prepare(
    "SELECT task.*, owner.agent FROM task LEFT JOIN owner ON owner.id = task.owner WHERE task.key = ?",
  );
  const selectSegments = db.prepare("SELECT last, events FROM segment WHERE task = ? ORDER BY last");
  const selectNames = db.prepare(
    `SELECT owner, ${NAME_KINDS.alias} AS kind, alias AS name, 1 AS seq, NULL AS digest FROM task WHERE key = $key AND alias IS NOT NULL ` +
      "UNION ALL SELECT owner, kind, name, seq, digest FROM name WHERE task = $key",
  );
  const staged = readStaged(db);

  return key => {
    const row = selectTask.get(key) as unknown as TaskRow;
    const written = selectSegments.all(key) as unknown as readonly CheckedSegment[];
    const segments = [...written, ...(staged.get(key) ?? [])];
    if (timeKey(row.id) !== key) report(`task ${row.id}: its id does not match its key`);
    if (row.whole !== null && segments.length > 0) report(`task ${row.id}: its events are stored twice`);
    const stored = row.whole === null ? segments : [{ last: null, events: row.whole }];
    const names = selectNames.all({ $key: key }) as unknown as readonly CheckedName[];
    return checkTask({ ...row, hidden: row.hidden === 1 }, stored, names, report);
  };
}
