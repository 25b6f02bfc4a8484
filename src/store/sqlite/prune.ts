import type { DatabaseSync, StatementSync } from "node:sqlite";
import { LIMITS, type Task, type TaskId, timeKey } from "../../model/index.ts";
import type { Backend, ExpiredTask, TaskRevision } from "../single-node/backend.ts";
import type { Transact } from "./transact.ts";

interface TaskRow {
  readonly key: number;
  readonly owner: number;
  readonly snapshot_seq: number;
  readonly since: number;
  /** The last segment; null: the events are in the row of the task. */
  readonly last: number | null;
}

interface LoadedLog {
  readonly task: Task;
  readonly seq: number;
}

/** Removes tasks and events. A long log is removed in several commits, and can be read between them. */
export function createPruner(
  db: DatabaseSync,
  transact: Transact,
  load: (taskId: TaskId) => LoadedLog | null,
  staged: { mergeAll(): void; rollBack(): void },
  /** Called after the commit with the owner of each removed task. */
  onRemoved: (owners: readonly number[]) => void,
): Backend["prune"] {
  let removed: number[] = [];
  const selectTask = db.prepare(
    "SELECT key, owner, snapshot_seq, since, (SELECT max(last) FROM segment WHERE segment.task = key) AS last " +
      "FROM task WHERE key = ? AND id = ? AND rev = ?",
  );
  const isLong = db.prepare(`SELECT 1 FROM segment WHERE task = ? LIMIT 1 OFFSET ${LIMITS.sweepRowsMax}`);
  const removeStorage = createStorageRemover(db);
  const deletions = ["segment WHERE task", "name WHERE task", "push WHERE task", "task WHERE key"].map(rows =>
    db.prepare(`DELETE FROM ${rows} = ?`),
  );
  const setSnapshot = db.prepare(
    "UPDATE task SET snapshot_seq = ?, snapshot = ?, whole = NULL WHERE key = ?",
  );
  const selectOldest = db.prepare(
    "SELECT max(last) AS last FROM " +
      `(SELECT last FROM segment WHERE task = ? AND last > ? ORDER BY last LIMIT ${LIMITS.sweepRowsMax})`,
  );
  const deleteSegments = db.prepare("DELETE FROM segment WHERE task = ? AND last > ? AND last <= ?");
  // Lists read earlier positions of tasks from the rows with a revision: these rows stay, without events.
  const deletePlainSegments = db.prepare(
    "DELETE FROM segment WHERE task = ? AND last > ? AND last <= ? AND rev IS NULL",
  );
  const clearSegments = db.prepare(
    "UPDATE segment SET events = '[]' WHERE task = ? AND last > ? AND last <= ?",
  );
  const setSince = db.prepare("UPDATE task SET since = max(since, ?) WHERE key = ?");

  /** undefined: the task changed after it was found. */
  const findUnchanged = ({ taskId, rev }: TaskRevision): TaskRow | undefined =>
    selectTask.get(timeKey(taskId), taskId, rev) as TaskRow | undefined;

  function remove(found: ExpiredTask): boolean {
    const row = findUnchanged(found);
    if (!row) return false;
    if (isLong.get(row.key) && removeOldest(found.taskId, row, 0, [deleteSegments])) return true;
    if (!found.keepsStorage) removeStorage(row.key);
    for (const deletion of deletions) deletion.run(row.key);
    removed.push(row.owner);
    return true;
  }

  function compact(found: TaskRevision): boolean {
    const row = findUnchanged(found);
    return (
      row !== undefined && removeOldest(found.taskId, row, row.since, [deletePlainSegments, clearSegments])
    );
  }

  /** Removes the oldest rows after `from`. From then on the task begins with its snapshot. */
  function removeOldest(
    taskId: TaskId,
    row: TaskRow,
    from: number,
    statements: readonly StatementSync[],
  ): boolean {
    const end = row.snapshot_seq === row.last ? row.snapshot_seq : writeSnapshot(taskId, row.key);
    if (end === null) return false;
    const to = (selectOldest.get(row.key, from)?.last as number | null) ?? end;
    for (const statement of statements) statement.run(row.key, from, to);
    setSince.run(to, row.key);
    return true;
  }

  /** null: the log cannot be read, and so has no snapshot. */
  function writeSnapshot(taskId: TaskId, key: number): number | null {
    const loaded = tryLoad(taskId);
    if (!loaded) return null;
    setSnapshot.run(loaded.seq, JSON.stringify(loaded.task), key);
    return loaded.seq;
  }

  /** A task that cannot be read must not block the removal of others. */
  function tryLoad(taskId: TaskId): LoadedLog | null {
    try {
      return load(taskId);
    } catch {
      return null;
    }
  }

  return ({ tasks, logs }) => {
    removed = [];
    if (tasks.length + logs.length === 0) return [];
    try {
      const changed = transact(() => {
        // The rows of removed tasks are removed with them.
        staged.mergeAll();
        return [...tasks.filter(remove), ...logs.filter(compact)];
      });
      onRemoved(removed);
      return changed.map(({ taskId }) => taskId);
    } catch (error) {
      staged.rollBack();
      throw error;
    }
  };
}

interface ContextRow {
  readonly owner: number;
  readonly context: number;
  readonly context_id: string;
}

/** The storage of a context is removed with its last task. */
function createStorageRemover(db: DatabaseSync): (key: number) => void {
  const selectContext = db.prepare("SELECT owner, context, context_id FROM task WHERE key = ?");
  const isUsed = db.prepare("SELECT 1 FROM shelf WHERE owner = ? AND shelf = ? LIMIT 1");
  // The first task of a context whose id the server generated is not in the index: it is found by its key.
  const hasOtherTask = db.prepare(
    "SELECT 1 FROM task WHERE context = ?1 AND context <> key + 1 AND key <> ?2 AND owner = ?3 AND context_id = ?4 " +
      "UNION ALL SELECT 1 FROM task WHERE key = ?1 - 1 AND key <> ?2 AND owner = ?3 AND context_id = ?4 LIMIT 1",
  );
  const deleteArea = db.prepare("DELETE FROM shelf WHERE owner = ? AND shelf = ?");
  return key => {
    const { owner, context, context_id } = selectContext.get(key) as unknown as ContextRow;
    if (!isUsed.get(owner, context_id) || hasOtherTask.get(context, key, owner, context_id)) return;
    deleteArea.run(owner, context_id);
  };
}
