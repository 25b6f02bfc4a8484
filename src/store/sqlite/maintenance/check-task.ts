import type { DatabaseSync } from "node:sqlite";
import { timeKey } from "../../../model/index.ts";
import {
  type ExaminedName,
  type ExaminedSegment,
  type ExaminedTask,
  examineTask,
  type Find,
} from "../../kernel/check-task.ts";
import { KINDS } from "../../kernel/name-kinds.ts";

interface TaskRow extends Omit<ExaminedTask, "hidden"> {
  readonly key: number;
  readonly hidden: number;
  readonly whole: string | null;
}

/** Checks one task, by its key. How many events it has. */
export function createTaskCheck(db: DatabaseSync, find: Find): (key: number) => number {
  const one = db.prepare(
    "SELECT task.*, owner.agent FROM task LEFT JOIN owner ON owner.id = task.owner WHERE task.key = ?",
  );
  const segments = db.prepare("SELECT last, events FROM segment WHERE task = ? ORDER BY last");
  const names = db.prepare(
    `SELECT owner, ${KINDS.alias} AS kind, alias AS name, 1 AS seq, NULL AS digest FROM task WHERE key = $key AND alias IS NOT NULL ` +
      "UNION ALL SELECT owner, kind, name, seq, digest FROM name WHERE task = $key",
  );

  return key => {
    const row = one.get(key) as unknown as TaskRow;
    const rows = segments.all(key) as unknown as readonly ExaminedSegment[];
    if (timeKey(row.id) !== key) find(`task ${row.id}: its id and its key do not belong together`);
    if (row.whole !== null && rows.length > 0) find(`task ${row.id}: its events are in two places`);
    const kept = row.whole === null ? rows : [{ last: null, events: row.whole }];
    const given = names.all({ $key: key }) as unknown as readonly ExaminedName[];
    return examineTask({ ...row, hidden: row.hidden === 1 }, kept, given, find);
  };
}
