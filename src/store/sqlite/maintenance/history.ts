import type { DatabaseSync } from "node:sqlite";
import { type RecordedEvent, type Task, type TaskId, timeKey } from "../../../model/index.ts";
import { NAMESAKES_MAX, namesakes, type TaskStory } from "../../kernel/history.ts";
import { unpack } from "../../kernel/unpack.ts";
import { openToRead, requireSchema, StoreRefusal } from "../open.ts";
import { createOwners } from "../owners.ts";
import { createPushTable } from "../pushes.ts";

interface TaskRow {
  readonly key: number;
  readonly id: string;
  readonly owner: number;
  readonly whole: string | null;
  readonly snapshot: string | null;
  readonly since: number;
}
interface SegmentRow {
  readonly last: number;
  readonly events: string;
}

/** By its id, or by the id that its caller gave it; null: there is none. Nothing is changed; a server may be running. */
export function readStory(folder: string, name: string): TaskStory | null {
  const opened = openToRead(folder);
  try {
    requireSchema(opened);
    const { db } = opened;
    // One look: what a server writes meanwhile is not half seen.
    db.exec("BEGIN");
    const row = findRow(db, name);
    return row && toStory(db, row);
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
    .all(name, NAMESAKES_MAX);
  const [found, ...others] = rows as unknown as TaskRow[];
  if (others.length > 0) throw new StoreRefusal(namesakes(rows.map(row => String(row.id))));
  return found ?? null;
}

function toStory(db: DatabaseSync, row: TaskRow): TaskStory {
  const owners = createOwners(db);
  const taskId = row.id as TaskId;
  const isCompacted = row.since > 0 && row.snapshot !== null;
  return {
    taskId,
    scope: owners.scopeOf(row.owner),
    snapshot: isCompacted ? (JSON.parse(row.snapshot as string) as Task) : undefined,
    events: eventsOf(db, row),
    deliveries: createPushTable(db, owners).journal.of(taskId),
  };
}

function eventsOf(db: DatabaseSync, { key, whole }: TaskRow): readonly RecordedEvent[] {
  if (whole !== null) return unpack(whole, null);
  const rows = db.prepare("SELECT last, events FROM segment WHERE task = ? ORDER BY last").all(key);
  return (rows as unknown as SegmentRow[]).flatMap(({ last, events }) => unpack(events, last));
}
