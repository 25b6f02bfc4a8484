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
import { HotStep } from "../kernel/log-step.ts";
import { FIRST_SETTLED, STATES } from "../kernel/state-numbers.ts";
import { unpack } from "../kernel/unpack.ts";
import type { Change, Journal, Loaded, Unfinished } from "../single-node/backend.ts";
import { lineOf } from "../single-node/queue.ts";
import { createCounts } from "./counts.ts";
import { createLister } from "./list.ts";
import { createNameTable } from "./names.ts";
import { newestIn } from "./newest-event.ts";
import { createOwners } from "./owners.ts";
import { createProbe } from "./probe.ts";
import { createPruner } from "./prune.ts";
import { createPushTable } from "./pushes.ts";
import { createShelfTable } from "./storage.ts";
import { createTransact } from "./transact.ts";
import { createUsageTable } from "./usage.ts";

interface TaskRow {
  readonly id: string;
  readonly owner: number;
  readonly context_id: string;
  readonly snapshot_seq: number;
  readonly snapshot: string | null;
  readonly whole: string | null;
  /** Above 0: events were compacted, and the snapshot is where the task begins. */
  readonly since: number;
  /** null: it waits for no other task. */
  readonly arrived: number | null;
}
interface SegmentRow {
  /** null: the events are all there are. */
  readonly last: number | null;
  readonly events: string;
}

export interface JournalParts {
  readonly db: DatabaseSync;
  /** See `Journal.outdated`. */
  readonly find: Journal["outdated"];
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  readonly onClose: () => void;
}

/** The journal in a SQLite file: one row for a task, one for what each commit added to its log. */
export function createSqliteJournal({ db, find, ticks, onClose }: JournalParts): Journal {
  const owners = createOwners(db);
  const transact = createTransact(db, ticks);
  const names = createNameTable(db, owners);
  const shelf = createShelfTable(db, owners);
  const pushes = createPushTable(db, owners);
  const counts = createCounts(db);
  const usage = createUsageTable(db);
  const writers = createWriters(db, owners.idOf, names.write);
  const one = db.prepare(
    "SELECT id, owner, context_id, snapshot_seq, snapshot, whole, since FROM task WHERE key = ?",
  );
  const head = db.prepare(
    "SELECT id, owner, context_id, snapshot_seq, NULL AS snapshot, whole, since FROM task WHERE key = ?",
  );
  const segments = db.prepare("SELECT last, events FROM segment WHERE task = ? AND last > ? ORDER BY last");
  // Lengths of columns are in the head of a row: the texts are not read for it.
  const sizes = db.prepare(
    "SELECT coalesce(octet_length(snapshot), 0) + coalesce(octet_length(whole), 0) + coalesce((SELECT " +
      "sum(octet_length(events)) FROM segment WHERE segment.task = key AND last > snapshot_seq), 0) AS bytes " +
      "FROM task WHERE key = ?",
  );
  const newest = newestIn(db);

  function row(taskId: TaskId): TaskRow | null {
    const key = timeKey(taskId);
    const found = key === null ? undefined : (one.get(key) as TaskRow | undefined);
    return found?.id === taskId ? found : null;
  }

  /** Without its snapshot, which may be large and which most readers of a log do not need. */
  function light(taskId: TaskId): TaskRow | null {
    const key = timeKey(taskId);
    const found = key === null ? undefined : (head.get(key) as TaskRow | undefined);
    return found?.id === taskId ? found : null;
  }

  function segmentsOf(found: TaskRow, from: Seq): Iterable<SegmentRow> {
    if (found.whole !== null) return [{ last: null, events: found.whole }];
    return segments.iterate(timeKey(found.id), from) as unknown as Iterable<SegmentRow>;
  }

  function load(taskId: TaskId): Loaded | null {
    const found = row(taskId);
    if (!found) return null;
    const from = found.snapshot_seq as Seq;
    const { task, seq } = foldRest(segmentsOf(found, from), from, toTask(found));
    return {
      scope: owners.scopeOf(found.owner),
      task: task as Task,
      seq,
      snapshotSeq: from,
      since: sinceOf(found),
    };
  }

  return {
    lastRev: newest.rev,
    lastAt: newest.at,
    load,
    loadBytes: taskId => (sizes.get(timeKey(taskId))?.bytes as number | undefined) ?? 0,
    read(taskId, after, max, base) {
      const found = light(taskId);
      if (!found) return [];
      if (after < sinceOf(found)) return [snapshotOf(toTask(row(taskId) as TaskRow) as Task, sinceOf(found))];
      // A snapshot later than the place asked for is no help: the steps before it are wanted too.
      const useful = !base && found.snapshot_seq > 0 && found.snapshot_seq <= after;
      const from = (base ? after : useful ? found.snapshot_seq : 0) as Seq;
      const start = base ?? (useful ? toTask(row(taskId) as TaskRow) : null);
      return unfold(segmentsOf(found, from), from, start, max);
    },
    commit(changes, puts, configs) {
      try {
        transact(() => {
          for (const change of changes) {
            writers.write(change);
            if (change.task.usage) usage.write(change, () => owners.idOf(change.scope, change.task.agent));
          }
          for (const put of puts) shelf.put(put);
          for (const change of configs) pushes.write(change);
        });
      } catch (error) {
        owners.forgetNew();
        throw error;
      }
      owners.keepNew();
      for (const { isNew, scope } of changes) if (isNew) counts.change(scope, 1);
    },
    named: names.find,
    count: counts.count,
    spent: usage.spent,
    spentByAll: usage.spentByAll,
    shelved: shelf.list,
    pushes: pushes.journal,
    list: createLister(db, owners),
    unfinished() {
      const rows = db
        .prepare(
          `SELECT id, owner, context_id, arrived FROM task WHERE state < ${FIRST_SETTLED} ORDER BY arrived, key`,
        )
        .all();
      return (rows as unknown as TaskRow[]).map(found => toUnfinished(found, owners));
    },
    outdated: find,
    prune: createPruner(db, transact, load, gone => {
      for (const owner of gone) counts.change(owners.scopeOf(owner), -1);
    }),
    ...createProbe(db, transact),
    close() {
      db.close();
      onClose();
    },
  };
}

function createWriters(
  db: DatabaseSync,
  ownerOf: (scope: Scope, agent: AgentName) => number,
  writeNames: ReturnType<typeof createNameTable>["write"],
) {
  const insert = db.prepare(
    "INSERT INTO task (key, id, owner, context, context_id, state, rev, status_at, hidden, arrived, snapshot_seq, snapshot, whole, alias) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const moved = "state = ?, rev = ?, status_at = ?, hidden = ?, arrived = coalesce(?, arrived)";
  const move = db.prepare(`UPDATE task SET ${moved} WHERE key = ?`);
  const settle = db.prepare(`UPDATE task SET ${moved}, snapshot_seq = ?, snapshot = ? WHERE key = ?`);
  const segment = db.prepare("INSERT INTO segment (task, last, rev, events) VALUES (?, ?, ?, ?)");

  function write(change: Change): void {
    const { task, steps, rev, events, snapshot } = change;
    const key = timeKey(task.id) as number;
    const last = (steps.at(-1) as Step).seq;
    const whole = change.isNew && isTerminal(task.status.state) && !snapshot ? events : null;
    if (whole === null) segment.run(key, last, rev, events);
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
    } else if (snapshot) settle.run(state, rev, at, hidden, arrived, last, snapshot, key);
    else if (rev !== null) move.run(state, rev, at, hidden, arrived, key);
    if (change.names.length > 0) writeNames(ownerOf(change.scope, task.agent), key, change.names);
  }
  return { write };
}

/** A page ends after the row that reaches this. */
const PAGE_CHARS = 256 * 1024;

/** Rows after a place as steps, until there are enough. Their tasks are folded when they are read. */
function unfold(rows: Iterable<SegmentRow>, from: Seq, base: Task | null, max: number): readonly Step[] {
  const steps: Step[] = [];
  let before: HotStep | Task | null = base;
  let chars = 0;
  for (const row of rows) {
    chars += row.events.length;
    for (const recorded of unpack(row.events, row.last)) {
      // A place inside a row: what comes before it in that row is already in the base.
      if (recorded.seq <= from) continue;
      if (steps.length === max) break;
      before = new HotStep(recorded.seq, recorded.at, recorded.event, before, null);
      steps.push(before);
    }
    if (steps.length === max || (steps.length > 0 && chars >= PAGE_CHARS)) break;
  }
  return steps;
}

/** As `unfold`, when only the end counts. */
function foldRest(
  rows: Iterable<SegmentRow>,
  from: Seq,
  base: Task | null,
): { readonly task: Task | null; readonly seq: Seq } {
  let task = base;
  let seq = from;
  for (const row of rows) {
    const events = unpack(row.events, row.last);
    task = applyAll(task, events);
    seq = events.at(-1)?.seq ?? seq;
  }
  return { task, seq };
}

const sinceOf = (row: TaskRow): Seq => (row.since > 0 ? row.snapshot_seq : 0) as Seq;

const toTask = (row: TaskRow): Task | null => (row.snapshot ? (JSON.parse(row.snapshot) as Task) : null);

function toUnfinished(row: TaskRow, owners: ReturnType<typeof createOwners>): Unfinished {
  const scope = owners.scopeOf(row.owner);
  const agent = owners.agentOf(row.owner);
  const line = row.arrived === null ? row.id : lineOf(scope, agent, row.context_id);
  return { taskId: row.id as TaskId, scope, agent, line };
}
