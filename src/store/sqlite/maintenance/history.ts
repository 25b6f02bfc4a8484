import type { DatabaseSync } from "node:sqlite";
import { StartupError } from "../../../lib/startup-error.ts";
import { type RecordedEvent, type Task, type TaskId, timeKey } from "../../../model/index.ts";
import type { TaskHistory } from "../../../ports/index.ts";
import { ALIAS_MATCHES_MAX, ambiguousAlias } from "../../kernel/history.ts";
import { unpackEvents } from "../../kernel/packed-events.ts";
import { openReadOnly, requireSchema } from "../open.ts";
import { createOwnerTable } from "../owners.ts";
import { createPushTable } from "../pushes.ts";
import { readStaged } from "../staged-segments.ts";

interface TaskRow {
  readonly key: number;
  readonly id: string;
  readonly owner: number;
  readonly whole: string | null;
  readonly snapshot: string | null;
  readonly since: number;
}

/** By the task's id, or by the id that its caller chose; null: not found. Changes nothing; a server may be running. */
export function readTaskHistory(folder: string, name: string): TaskHistory | null {
  const opened = openReadOnly(folder);
  try {
    requireSchema(opened);
    const { db } = opened;
    // One read transaction: the history never has half of a commit.
    db.exec("BEGIN");
    const row = findRow(db, name);
    return row && toHistory(db, row);
  } finally {
    opened.db.close();
  }
}

const COLUMNS = "key, id, owner, whole, snapshot, since";

function findRow(db: DatabaseSync, name: string): TaskRow | null {
  const key = timeKey(name);
  const byId = key === null ? undefined : db.prepare(`SELECT ${COLUMNS} FROM task WHERE key = ?`).get(key);
  if (byId?.id === name) return byId as unknown as TaskRow;
  const rows = db
    .prepare(`SELECT ${COLUMNS} FROM task WHERE owner IN (SELECT id FROM owner) AND alias = ? LIMIT ?`)
    .all(name, ALIAS_MATCHES_MAX) as unknown as TaskRow[];
  if (rows.length > 1) throw new StartupError(ambiguousAlias(rows.map(row => row.id)));
  return rows[0] ?? null;
}

function toHistory(db: DatabaseSync, row: TaskRow): TaskHistory {
  const owners = createOwnerTable(db);
  const taskId = row.id as TaskId;
  const isCompacted = row.since > 0 && row.snapshot !== null;
  return {
    taskId,
    scope: owners.scopeOf(row.owner),
    snapshot: isCompacted ? (JSON.parse(row.snapshot as string) as Task) : undefined,
    events: readEvents(db, row),
    pushes: createPushTable(db, owners).backend.of(taskId),
  };
}

function readEvents(db: DatabaseSync, { key, whole }: TaskRow): readonly RecordedEvent[] {
  if (whole !== null) return unpackEvents(whole, null);
  const rows = db.prepare("SELECT last, events FROM segment WHERE task = ? ORDER BY last").all(key);
  const staged = readStaged(db).get(key) ?? [];
  return [...(rows as unknown as typeof staged), ...staged].flatMap(({ last, events }) =>
    unpackEvents(events, last),
  );
}
