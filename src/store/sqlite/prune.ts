import type { DatabaseSync, StatementSync } from "node:sqlite";
import { LIMITS, type Task, type TaskId, timeKey } from "../../model/index.ts";
import type { Journal, Place } from "../single-node/backend.ts";
import type { Transact } from "./transact.ts";

interface Row {
  readonly key: number;
  readonly owner: number;
  readonly snapshot_seq: number;
  readonly since: number;
  /** The last row of its log; null: the log is in the row of the task. */
  readonly last: number | null;
}

interface Folded {
  readonly task: Task;
  readonly seq: number;
}

/** Takes tasks and events away. A long log goes in several commits, and can be read between them. */
export function createPruner(
  db: DatabaseSync,
  transact: Transact,
  load: (taskId: TaskId) => Folded | null,
  /** After the commit: whose tasks are gone, once for each. */
  onRemoved: (owners: readonly number[]) => void,
): Journal["prune"] {
  let removed: number[] = [];
  const find = db.prepare(
    "SELECT key, owner, snapshot_seq, since, (SELECT max(last) FROM segment WHERE segment.task = key) AS last " +
      "FROM task WHERE key = ? AND id = ? AND rev = ?",
  );
  const isLong = db.prepare(`SELECT 1 FROM segment WHERE task = ? LIMIT 1 OFFSET ${LIMITS.sweepRowsMax}`);
  const unshelve = createUnshelver(db);
  const removals = ["segment WHERE task", "name WHERE task", "push WHERE task", "task WHERE key"].map(what =>
    db.prepare(`DELETE FROM ${what} = ?`),
  );
  const snapshot = db.prepare("UPDATE task SET snapshot_seq = ?, snapshot = ?, whole = NULL WHERE key = ?");
  const bite = db.prepare(
    "SELECT max(last) AS last FROM " +
      `(SELECT last FROM segment WHERE task = ? AND last > ? ORDER BY last LIMIT ${LIMITS.sweepRowsMax})`,
  );
  const drop = db.prepare("DELETE FROM segment WHERE task = ? AND last > ? AND last <= ?");
  // Rows where the status moved are where lists find out how tasks stood: they stay, without events.
  const dropPlain = db.prepare(
    "DELETE FROM segment WHERE task = ? AND last > ? AND last <= ? AND rev IS NULL",
  );
  const blank = db.prepare("UPDATE segment SET events = '[]' WHERE task = ? AND last > ? AND last <= ?");
  const advance = db.prepare("UPDATE task SET since = max(since, ?) WHERE key = ?");

  const rowOf = ({ taskId, rev }: Place): Row | undefined =>
    find.get(timeKey(taskId), taskId, rev) as Row | undefined;

  function remove(place: Place): boolean {
    const row = rowOf(place);
    if (!row) return false;
    if (isLong.get(row.key) && shorten(place.taskId, row, 0, [drop])) return true;
    unshelve(row.key);
    for (const removal of removals) removal.run(row.key);
    removed.push(row.owner);
    return true;
  }

  function compact(place: Place): boolean {
    const row = rowOf(place);
    return row !== undefined && shorten(place.taskId, row, row.since, [dropPlain, blank]);
  }

  /** Takes the oldest rows after a place away. From here on the snapshot is where the task begins. */
  function shorten(taskId: TaskId, row: Row, from: number, steps: readonly StatementSync[]): boolean {
    const end = row.snapshot_seq === row.last ? row.snapshot_seq : keepWhole(taskId, row.key);
    if (end === null) return false;
    const to = (bite.get(row.key, from)?.last as number | null) ?? end;
    for (const step of steps) step.run(row.key, from, to);
    advance.run(to, row.key);
    return true;
  }

  /** null: what is recorded cannot be read; then there is nothing that could be kept instead. */
  function keepWhole(taskId: TaskId, key: number): number | null {
    const folded = tryLoad(taskId);
    if (folded) snapshot.run(folded.seq, JSON.stringify(folded.task), key);
    return folded?.seq ?? null;
  }

  /** One task that cannot be read must not keep the others. */
  function tryLoad(taskId: TaskId): Folded | null {
    try {
      return load(taskId);
    } catch {
      return null;
    }
  }

  return ({ tasks, logs }) => {
    removed = [];
    const touched = transact(() => [...tasks.filter(remove), ...logs.filter(compact)]);
    onRemoved(removed);
    return touched.map(({ taskId }) => taskId);
  };
}

interface ContextRow {
  readonly owner: number;
  readonly context: number;
  readonly context_id: string;
}

/** What lies on the shelf of a context goes with its last task. */
function createUnshelver(db: DatabaseSync): (key: number) => void {
  const contextOf = db.prepare("SELECT owner, context, context_id FROM task WHERE key = ?");
  const isUsed = db.prepare("SELECT 1 FROM shelf WHERE owner = ? AND shelf = ? LIMIT 1");
  // The first task of a context of ours is not in the index: it is found by its key.
  const other = db.prepare(
    "SELECT 1 FROM task WHERE context = ?1 AND context <> key + 1 AND key <> ?2 AND owner = ?3 AND context_id = ?4 " +
      "UNION ALL SELECT 1 FROM task WHERE key = ?1 - 1 AND key <> ?2 AND owner = ?3 AND context_id = ?4 LIMIT 1",
  );
  const clear = db.prepare("DELETE FROM shelf WHERE owner = ? AND shelf = ?");
  return key => {
    const { owner, context, context_id } = contextOf.get(key) as unknown as ContextRow;
    if (!isUsed.get(owner, context_id) || other.get(context, key, owner, context_id)) return;
    clear.run(owner, context_id);
  };
}
