import type { DatabaseSync } from "node:sqlite";
import {
  type AgentName,
  applyAll,
  isHidden,
  isTerminal,
  type Scope,
  type Seq,
  type Step,
  snapshotOf,
  type Task,
  type TaskId,
  timeKey,
} from "../../model/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { LogStep } from "../kernel/log-step.ts";
import { unpackEvents } from "../kernel/packed-events.ts";
import { FIRST_SETTLED, STATES } from "../kernel/state-numbers.ts";
import type { Backend, LoadedTask, QueueItem, TaskChange } from "../single-node/backend.ts";
import { toSerialKey } from "../single-node/queue.ts";
import { createListedCounts, createTaskCounts } from "./counts.ts";
import { createItemTable } from "./items.ts";
import { createListQuery, createNewestQuery } from "./list.ts";
import { createNameTable } from "./names.ts";
import { findNewest } from "./newest-event.ts";
import { pragma } from "./open.ts";
import { createOverview } from "./overview.ts";
import { createOwnerTable, type OwnerTable } from "./owners.ts";
import { createPruner } from "./prune.ts";
import { createPushTable } from "./pushes.ts";
import { createResourceTable } from "./resources.ts";
import { createScheduleTable } from "./schedules.ts";
import { createSegmentWriter, type SegmentRow } from "./staged-segments.ts";
import { createStorageTable } from "./storage.ts";
import { createTransact } from "./transact.ts";
import { createUsageTable } from "./usage.ts";

interface TaskRow {
  readonly id: string;
  readonly owner: number;
  readonly context_id: string;
  readonly snapshot_seq: number;
  readonly snapshot: string | null;
  readonly whole: string | null;
  /** Above 0: events were removed, and the task begins with the snapshot. */
  readonly since: number;
  /** null: the task does not wait for other tasks. */
  readonly arrived: number | null;
}

export interface SqliteBackendParts {
  readonly db: DatabaseSync;
  readonly findExpired: Backend["findExpired"];
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  readonly onClose: () => void;
}

/** The backend in a SQLite file: one row for each task, and rows of events. */
export function createSqliteBackend({ db, findExpired, ticks, onClose }: SqliteBackendParts): Backend {
  const owners = createOwnerTable(db);
  const transact = createTransact(db, ticks);
  const names = createNameTable(db, owners);
  const storage = createStorageTable(db, owners);
  const pushes = createPushTable(db, owners);
  const resources = createResourceTable(db);
  const counts = createTaskCounts(db);
  const listed = createListedCounts(db, owners);
  const usage = createUsageTable(db);
  const segments = createSegmentWriter(db);
  const writeTask = createTaskWriter(db, segments.write, owners.idOf, names.write);
  const selectTask = db.prepare(
    "SELECT id, owner, context_id, snapshot_seq, snapshot, whole, since FROM task WHERE key = ?",
  );
  // A snapshot may be large, and most readers of a log do not need it.
  const selectWithoutSnapshot = db.prepare(
    "SELECT id, owner, context_id, snapshot_seq, NULL AS snapshot, whole, since FROM task WHERE key = ?",
  );
  const selectSegments = db.prepare(
    "SELECT last, events FROM segment WHERE task = ? AND last > ? ORDER BY last",
  );
  // SQLite stores the lengths of columns in the row header: the texts are not read.
  const selectSize = db.prepare(
    "SELECT coalesce(octet_length(snapshot), 0) + coalesce(octet_length(whole), 0) + coalesce((SELECT " +
      "sum(octet_length(events)) FROM segment WHERE segment.task = key AND last > snapshot_seq), 0) AS bytes " +
      "FROM task WHERE key = ?",
  );
  const selectFileSize = db.prepare(
    "SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()",
  );
  const selectRev = db.prepare("SELECT rev FROM task WHERE key = ? AND id = ?");
  const schema = pragma(db, "user_version");
  const newest = findNewest(db);

  function findRow(taskId: TaskId, select = selectTask): TaskRow | null {
    const key = timeKey(taskId);
    const found = key === null ? undefined : (select.get(key) as TaskRow | undefined);
    return found?.id === taskId ? found : null;
  }

  function* readSegments(row: TaskRow, from: Seq): Iterable<SegmentRow> {
    if (row.whole !== null) return yield { last: null, events: row.whole };
    const key = timeKey(row.id) as number;
    yield* selectSegments.iterate(key, from) as unknown as Iterable<SegmentRow>;
    const staged = segments.findAfter(key, from);
    if (staged) yield staged;
  }

  function load(taskId: TaskId): LoadedTask | null {
    const row = findRow(taskId);
    if (!row) return null;
    let task = parseSnapshot(row);
    let seq = row.snapshot_seq as Seq;
    for (const segment of readSegments(row, seq)) {
      const events = unpackEvents(segment.events, segment.last);
      task = applyAll(task, events);
      seq = events.at(-1)?.seq ?? seq;
    }
    return {
      scope: owners.scopeOf(row.owner),
      task: task as Task,
      seq,
      snapshotSeq: row.snapshot_seq,
      since: sinceOf(row),
    };
  }

  return {
    lastRev: newest.rev,
    lastAt: newest.at,
    load,
    loadBytes(taskId) {
      const key = timeKey(taskId) as number;
      const staged = segments.findAfter(key, 0);
      return ((selectSize.get(key)?.bytes as number | undefined) ?? 0) + (staged?.events.length ?? 0);
    },
    read(taskId, after, max, base) {
      const row = findRow(taskId, selectWithoutSnapshot);
      if (!row) return [];
      const readSnapshot = (): Task | null => parseSnapshot(findRow(taskId) as TaskRow);
      if (after < sinceOf(row)) return [snapshotOf(readSnapshot() as Task, sinceOf(row))];
      // A snapshot after the requested position cannot be used: the steps before it are requested too.
      const useSnapshot = !base && row.snapshot_seq > 0 && row.snapshot_seq <= after;
      const from = (base ? after : useSnapshot ? row.snapshot_seq : 0) as Seq;
      return toSteps(readSegments(row, from), from, base ?? (useSnapshot ? readSnapshot() : null), max);
    },
    commit(changes, storageWrites, pushChanges, others) {
      try {
        transact(() => {
          for (const change of changes) {
            writeTask(change);
            if (change.task.usage) usage.write(change, () => owners.idOf(change.scope, change.task.agent));
          }
          for (const one of storageWrites) storage.write(one);
          for (const change of pushChanges) pushes.write(change);
          for (const write of others) write();
          segments.trim();
        });
      } catch (error) {
        owners.rollBackNew();
        segments.rollBack();
        throw error;
      }
      owners.commitNew();
      for (const change of changes) {
        if (change.isNew) counts.change(change.scope, 1);
        listed.change(change);
      }
    },
    findByName: names.find,
    count: counts.count,
    spent: usage.spent,
    reportUsage: usage.report,
    listStorage: storage.list,
    pushes: pushes.backend,
    overview: createOverview(db, owners),
    resources,
    items: createItemTable(db),
    schedules: createScheduleTable(db),
    list: createListQuery(db, owners, listed.total),
    newest: createNewestQuery(db, owners),
    // By the numbers of the index `task_waiting`.
    *waitingContexts() {
      for (const row of db.prepare("SELECT context FROM task WHERE state IN (2, 3)").iterate())
        yield row.context as number;
    },
    unfinished() {
      const rows = db
        .prepare(
          `SELECT id, owner, context_id, arrived FROM task WHERE state < ${FIRST_SETTLED} ORDER BY arrived, key`,
        )
        .all();
      return (rows as unknown as TaskRow[]).map(row => toQueueItem(row, owners));
    },
    findExpired,
    revOf: taskId => (selectRev.get(timeKey(taskId), taskId)?.rev as number | undefined) ?? null,
    prune: createPruner(db, transact, load, segments, removedOwners => {
      for (const owner of removedOwners) {
        counts.change(owners.scopeOf(owner), -1);
        listed.forget(owner);
      }
    }),
    check() {
      // Writing the same number again changes a page, like every commit.
      transact(() => db.exec(`PRAGMA user_version = ${schema}`));
    },
    bytes: () => selectFileSize.get()?.bytes as number,
    close() {
      db.close();
      onClose();
    },
  };
}

function createTaskWriter(
  db: DatabaseSync,
  writeSegment: ReturnType<typeof createSegmentWriter>["write"],
  ownerOf: (scope: Scope, agent: AgentName) => number,
  writeNames: ReturnType<typeof createNameTable>["write"],
): (change: TaskChange) => void {
  const insert = db.prepare(
    "INSERT INTO task (key, id, owner, context, context_id, state, rev, status_at, hidden, arrived, snapshot_seq, snapshot, whole, alias) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const status = "state = ?, rev = ?, status_at = ?, hidden = ?, arrived = coalesce(?, arrived)";
  const update = db.prepare(`UPDATE task SET ${status} WHERE key = ?`);
  const updateWithSnapshot = db.prepare(
    `UPDATE task SET ${status}, snapshot_seq = ?, snapshot = ? WHERE key = ?`,
  );

  return change => {
    const { task, steps, rev, events, snapshot } = change;
    const key = timeKey(task.id) as number;
    const last = (steps.at(-1) as Step).seq;
    const whole = change.isNew && isTerminal(task.status.state) && !snapshot ? events : null;
    if (whole === null) writeSegment(key, last, rev, events, change.isNew);
    const state = STATES.indexOf(task.status.state);
    const hidden = isHidden(task) ? 1 : 0;
    const { at } = task.status;
    const { contextId } = task;
    const arrived = task.alone ? null : change.arrived;
    if (change.isNew) {
      const owner = ownerOf(change.scope, task.agent);
      const context = contextKey(contextId);
      const snapshotSeq = snapshot ? last : 0;
      insert.run(
        key,
        task.id,
        owner,
        context,
        contextId,
        state,
        rev,
        at,
        hidden,
        arrived,
        snapshotSeq,
        snapshot,
        whole,
        task.alias ?? null,
      );
    } else if (snapshot) updateWithSnapshot.run(state, rev, at, hidden, arrived, last, snapshot, key);
    else if (rev !== null) update.run(state, rev, at, hidden, arrived, key);
    if (change.names.length > 0) writeNames(ownerOf(change.scope, task.agent), key, change.names);
  };
}

/** A page ends after the row that reaches this size. */
const PAGE_CHARS = 256 * 1024;

/** The events after `from` as steps, at most `max`. Their tasks are computed on access. */
function toSteps(segments: Iterable<SegmentRow>, from: Seq, base: Task | null, max: number): readonly Step[] {
  const steps: Step[] = [];
  let before: LogStep | Task | null = base;
  let chars = 0;
  for (const segment of segments) {
    chars += segment.events.length;
    for (const { seq, at, event } of unpackEvents(segment.events, segment.last)) {
      // Events of the first row that come before the position are part of the base.
      if (seq <= from) continue;
      if (steps.length === max) break;
      before = new LogStep(seq, at, event, before, null);
      steps.push(before);
    }
    if (steps.length === max || (steps.length > 0 && chars >= PAGE_CHARS)) break;
  }
  return steps;
}

const sinceOf = (row: TaskRow): Seq => (row.since > 0 ? row.snapshot_seq : 0) as Seq;

const parseSnapshot = (row: TaskRow): Task | null =>
  row.snapshot ? (JSON.parse(row.snapshot) as Task) : null;

function toQueueItem(row: TaskRow, owners: OwnerTable): QueueItem {
  const scope = owners.scopeOf(row.owner);
  const agent = owners.agentOf(row.owner);
  const serialKey = row.arrived === null ? row.id : toSerialKey(scope, agent, row.context_id);
  return { taskId: row.id as TaskId, scope, agent, serialKey };
}
