import {
  accepts,
  apply,
  Fault,
  isHidden,
  isSettled,
  isTerminal,
  LIMITS,
  type Scope,
  type Seq,
  type Step,
  type Task,
  type TaskEvent,
  type TaskId,
  taskNotFound,
} from "../../model/index.ts";
import type { Expected, Run, Store } from "../../ports.ts";
import { type Batch, createBatch } from "./batch.ts";
import { belongsTo, createEntry, type Entry, readHot, trim } from "./entry.ts";
import type { Change, Journal } from "./journal.ts";
import { createLeases } from "./leases.ts";
import { readCursor, writeCursor } from "./page.ts";
import { createQueue, toItem, wantsRun } from "./queue.ts";
import { HotStep } from "./step.ts";

const PAUSE_MS = 1_000;
/** Roughly what a settled task weighs without its steps. */
const RESTING_BYTES = 2_000;

export interface HotParts {
  readonly journal: Journal;
  /** Never goes back. */
  readonly now: () => number;
  readonly leaseMs: number;
  readonly hotEventsMax: number;
  readonly hotTasksMax: number;
  readonly hotBytesMax: number;
  /** Called once for each task in a commit, after it. */
  readonly onCommitted: (taskId: TaskId) => void;
  /** A task has become due. */
  readonly onDue: () => void;
}

/**
 * A store for one process: the journal keeps what is committed, memory keeps the hot end of active logs, the queue
 * and the leases. All appends of one turn of the event loop are one commit; nothing is shown before its commit.
 */
export function createHotStore(parts: HotParts): Store {
  const { journal, now } = parts;
  const entries = new Map<TaskId, Entry>();
  /** Those that may be let go, the longest unused first: nothing of theirs is being written or run. */
  const resting = new Map<TaskId, Entry>();
  const queue = createQueue(parts.onDue);
  const leases = createLeases({ now, leaseMs: parts.leaseMs });
  /** Where slow readers are: the task as it stood at the end of the page that they read last. */
  const pages = new Map<string, Task>();
  let batch: Batch | null = null;
  /** Settled since the last commit. */
  let cooling: Entry[] = [];
  let newestRev = journal.lastRev;
  let committedRev = newestRev;
  let bytes = 0;
  let closed = false;
  let paused = false;
  for (const item of journal.unfinished()) queue.enter(item);

  function find(scope: Scope, taskId: TaskId): Entry | null {
    const entry = entries.get(taskId) ?? load(taskId);
    if (!entry || !belongsTo(entry, scope)) return null;
    if (resting.delete(taskId)) resting.set(taskId, entry);
    return entry;
  }

  function load(taskId: TaskId): Entry | null {
    const loaded = journal.load(taskId);
    if (!loaded) return null;
    const entry = createEntry(taskId, loaded.scope);
    entry.task = entry.visible = loaded.task;
    entry.seq = entry.committed = loaded.seq;
    entry.snapshotSeq = loaded.snapshotSeq;
    entries.set(taskId, entry);
    weigh(entry, loaded.bytes);
    rest(entry);
    return entry;
  }

  function weigh(entry: Entry, change: number): void {
    entry.bytes += change;
    bytes += change;
  }

  function rest(entry: Entry): void {
    resting.set(entry.taskId, entry);
    for (const old of resting.values()) {
      if (resting.size <= parts.hotTasksMax && bytes <= parts.hotBytesMax) return;
      if (old !== entry) forget(old);
    }
  }

  function forget(entry: Entry): void {
    entries.delete(entry.taskId);
    resting.delete(entry.taskId);
    bytes -= entry.bytes;
  }

  function record(entry: Entry, events: readonly TaskEvent[]): Batch {
    if (entry.seq + events.length > LIMITS.eventsMax)
      throw new Fault("unsupported-operation", `A task has at most ${LIMITS.eventsMax} events`);
    const at = now();
    const before = entry.task;
    const steps: HotStep[] = [];
    let last = entry.last;
    let task = before;
    for (const event of events) {
      if (!accepts(task, event)) throw refused(entry.taskId, task, event);
      const seq = (entry.seq + steps.length + 1) as Seq;
      // Artifacts move nothing that a writer is checked against: they are folded when somebody looks, or at the commit.
      const lazy = event.type === "artifact";
      if (!lazy) task = apply(last?.task ?? task, { seq, at, event });
      last = new HotStep(seq, at, event, last ?? task, lazy ? null : task);
      steps.push(last);
    }
    if (before?.status !== task?.status) entry.rev = ++newestRev;
    entry.task = task;
    entry.last = last;
    entry.seq += steps.length;
    for (const step of steps) entry.steps.push(step);
    return mark(entry);
  }

  function mark(entry: Entry): Batch {
    if (!batch) {
      batch = createBatch();
      setImmediate(flush);
    }
    if (!entry.dirty) {
      entry.dirty = true;
      resting.delete(entry.taskId);
      batch.entries.push(entry);
    }
    return batch;
  }

  /** Keeps the queue and the leases in step with what was just recorded. */
  function follow(entry: Entry, before: Task | null): void {
    const task = entry.task as Task;
    if (before?.status.state === task.status.state && before.turn === task.turn) return;
    if (isSettled(task.status.state)) {
      leases.drop(entry.taskId);
      queue.leave(toItem(entry.scope, task));
    } else if (!leases.holder(entry.taskId)) queue.enter(toItem(entry.scope, task));
  }

  function flush(): void {
    const writing = batch;
    if (!writing) return;
    batch = null;
    cool();
    const changes = writing.entries.map(toChange);
    try {
      journal.commit(changes);
    } catch (cause) {
      giveUp(writing, cause);
      return;
    }
    committedRev = newestRev;
    writing.entries.forEach((entry, i) => {
      written(entry, changes[i] as Change);
    });
    writing.resolve();
    for (const entry of writing.entries) parts.onCommitted(entry.taskId);
  }

  function toChange(entry: Entry): Change {
    const task = (entry.last as HotStep).task;
    entry.task = task;
    // To come into the lists, or to leave them, is a move as well.
    if (entry.visible && isHidden(entry.visible) !== isHidden(task)) entry.rev ??= ++newestRev;
    return {
      scope: entry.scope,
      task,
      steps: entry.steps.slice(entry.committed - entry.seq),
      isNew: entry.committed === 0,
      rev: entry.rev,
      snapshot: entry.rev !== null && wantsSnapshot(entry, task),
      bytes: 0,
    };
  }

  function written(entry: Entry, change: Change): void {
    entry.dirty = false;
    entry.rev = null;
    entry.committed = entry.seq;
    entry.visible = change.task;
    if (change.snapshot) entry.snapshotSeq = entry.seq;
    const before = entry.bytes;
    trim(entry, parts.hotEventsMax);
    bytes += entry.bytes - before;
    weigh(entry, change.bytes);
    if (leases.holder(entry.taskId)) return;
    rest(entry);
    cooling.push(entry);
  }

  /** What settled before the last commit has been read by whoever waited for it: its steps can go, its task stays. */
  function cool(): void {
    for (const entry of cooling) {
      if (entry.dirty || !resting.has(entry.taskId)) continue;
      entry.steps = [];
      entry.last = null;
      weigh(entry, RESTING_BYTES - entry.bytes);
    }
    cooling = [];
  }

  /** The disk refused: what was not committed did not happen, and its writers are told so. */
  function giveUp(writing: Batch, cause: unknown): void {
    for (const entry of writing.entries) {
      forget(entry);
      leases.drop(entry.taskId);
      queue.leave(toItem(entry.scope, entry.task as Task));
      const loaded = journal.load(entry.taskId);
      if (loaded && wantsRun(loaded.task)) queue.enter(toItem(loaded.scope, loaded.task));
    }
    pause();
    writing.reject(new Fault("unavailable", "The store cannot write now; nothing was recorded", {}, cause));
  }

  /** A store that cannot write must not be asked to start the same runs again at once. */
  function pause(): void {
    paused = true;
    setTimeout(() => {
      paused = false;
      parts.onDue();
    }, PAUSE_MS).unref();
  }

  function open(scope: Scope, taskId: TaskId, first: TaskEvent | undefined): Entry {
    // A new id was minted a moment ago: the journal need not be asked whether it knows it.
    const entry =
      first?.type === "created" ? (entries.get(taskId) ?? createEntry(taskId, scope)) : find(scope, taskId);
    if (!entry) throw taskNotFound(taskId);
    return entry;
  }

  function check(entry: Entry, expected: Expected): void {
    const holds =
      "run" in expected
        ? leases.holds(entry.taskId, expected.run)
        : "after" in expected
          ? expected.after === entry.seq
          : expected.state === entry.task?.status.state;
    if (!holds) throw new Fault("conflict", "The task has moved on", { taskId: entry.taskId });
  }

  function append(
    scope: Scope,
    taskId: TaskId,
    events: readonly TaskEvent[],
    expected: Expected,
  ): Promise<void> {
    if (closed) throw new Fault("unavailable", "The store is closed");
    const entry = open(scope, taskId, events[0]);
    const before = entry.task;
    check(entry, expected);
    const { done } = record(entry, events);
    entries.set(taskId, entry);
    follow(entry, before);
    return done;
  }

  function begin(taskId: TaskId, scope: Scope, worker: string): Run | null {
    const entry = find(scope, taskId);
    if (!entry?.task || !wantsRun(entry.task)) return null;
    const attempt = entry.task.attempt + 1;
    leases.grant(taskId, worker, attempt);
    resting.delete(taskId);
    record(entry, [{ type: "started", attempt }]);
    return { scope: entry.scope, worker, attempt, task: entry.task };
  }

  function readPage(scope: Scope, taskId: TaskId, after: Seq, max: number): readonly Step[] {
    const entry = find(scope, taskId);
    if (!entry || entry.committed === 0) throw taskNotFound(taskId);
    const hot = readHot(entry, after, max);
    if (hot) return hot;
    const base = pages.get(`${taskId}/${after}`) ?? null;
    pages.delete(`${taskId}/${after}`);
    const steps = journal.read(taskId, after, max, base);
    const last = steps.at(-1);
    if (last && last.seq < entry.committed) rememberPage(`${taskId}/${last.seq}`, last.task);
    return steps;
  }

  function rememberPage(place: string, task: Task): void {
    pages.set(place, task);
    if (pages.size > parts.hotTasksMax) for (const old of pages.keys()) return void pages.delete(old);
  }

  return {
    get lastAt() {
      return journal.lastAt;
    },
    log: {
      append(scope, taskId, events, expected) {
        try {
          return append(scope, taskId, events, expected);
        } catch (error) {
          // What came first may not be committed yet; the writer can only look at it when it is.
          const told = (): never => {
            throw error;
          };
          return batch ? batch.done.then(told, told) : Promise.reject(error);
        }
      },
      async read(scope, taskId, after, max) {
        return readPage(scope, taskId, after, max);
      },
    },
    tasks: {
      async get(scope, taskId) {
        const entry = find(scope, taskId);
        return entry?.visible ? { task: entry.visible, seq: entry.committed as Seq } : null;
      },
      async list(scope, agent, filter) {
        const cursor = readCursor(filter.pageToken, committedRev);
        const { places, total } = journal.list(scope, agent, filter, cursor);
        const shown = places.slice(0, filter.pageSize);
        const more = places.length > filter.pageSize;
        return {
          tasks: shown.flatMap(place => find(scope, place.taskId)?.visible ?? []),
          nextPageToken: more ? writeCursor({ bound: cursor.bound, below: shown.at(-1)?.rev ?? 0 }) : "",
          pageSize: filter.pageSize,
          totalSize: total,
        };
      },
    },
    runs: {
      async claim(worker, agents, max) {
        if (paused || closed) return [];
        for (const taskId of leases.expired()) {
          const entry = entries.get(taskId);
          leases.drop(taskId);
          if (entry?.task && wantsRun(entry.task)) queue.again(toItem(entry.scope, entry.task));
        }
        const runs: Run[] = [];
        for (const item of queue.take(agents, max)) {
          const run = begin(item.taskId, item.scope, worker);
          if (run) runs.push(run);
          else queue.leave(item);
        }
        return runs;
      },
      async renew(run) {
        return leases.renew(run);
      },
      async release(run) {
        const done = append(run.scope, run.task.id, [{ type: "released" }], { run });
        leases.drop(run.task.id);
        queue.again(toItem(run.scope, run.task));
        await done;
      },
      async unfinished() {
        return queue.count();
      },
    },
    async close() {
      if (closed) return;
      flush();
      closed = true;
      journal.close();
    },
  };
}

/**
 * At the end, and for long logs when they have doubled, so that all snapshots together cost no more than the log.
 * A short log needs none: to fold a few events costs less than to write the task twice.
 */
function wantsSnapshot(entry: Entry, task: Task): boolean {
  const since = entry.seq - entry.snapshotSeq;
  return since >= (isTerminal(task.status.state) ? 64 : Math.max(256, entry.snapshotSeq));
}

function refused(taskId: TaskId, task: Task | null, event: TaskEvent): Fault {
  const state = task?.status.state ?? "not there";
  return new Fault("conflict", `A task that is ${state} takes no ${event.type}`, { taskId });
}
