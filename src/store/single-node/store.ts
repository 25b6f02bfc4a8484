import type { LoopBudget } from "../../lib/loop-budget.ts";
import {
  type AgentName,
  Fault,
  isSettled,
  LIMITS,
  type Scope,
  type Seq,
  type Step,
  type Task,
  type TaskEvent,
  type TaskId,
  taskNotFound,
  taskSize,
  type View,
} from "../../model/index.ts";
import type { AppendExtras, CommitObserver, Expected, Run, Store } from "../../ports/index.ts";
import { readCursor, writeCursor } from "../kernel/page-token.ts";
import type { NewName, Place, Unfinished } from "./backend.ts";
import { createEntry, type Entry, readHot } from "./entry.ts";
import { createLeases } from "./leases.ts";
import { createUpkeep } from "./maintenance.ts";
import { createNames, namesIn } from "./names.ts";
import { createPages } from "./pages.ts";
import { createPushes } from "./pushes.ts";
import { createQueue, type QueueParts, type RunQuota, toItem, wantsRun } from "./queue.ts";
import { createShelf } from "./storage.ts";
import { type CacheParts, createCache } from "./tail-cache.ts";
import { createWriter } from "./writer.ts";

export interface HotParts extends CacheParts, Pick<QueueParts, "runsShared"> {
  /** Event time: never goes back. */
  readonly now: () => number;
  /** The time of day: for expiry, and for what is kept beside events. */
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  readonly leaseMs: number;
  /** How long a log says nothing before its events leave memory. */
  readonly hotQuietMs: number;
  readonly runQuota: (scope: Scope) => RunQuota;
  /** Shared by all that read old parts of logs. */
  readonly loop: LoopBudget;
  /** Called once for each task in a commit, after it. */
  readonly onCommitted: (taskId: TaskId) => void;
  /** A task has become due. */
  readonly onDue: () => void;
  /** There may be something to deliver. */
  readonly onPushDue: () => void;
  /** What is recorded of a task cannot be read. */
  readonly onDamaged: (taskId: TaskId, error: unknown) => void;
  /** undefined: nobody watches. */
  readonly commits?: CommitObserver | undefined;
}

type Created = TaskEvent & { type: "created" };

const WHOLE: View = { artifacts: true };

const agentOf = (task: Task | null, events: readonly TaskEvent[]): AgentName =>
  task?.agent ?? (events[0] as Created).agent;

/** How long runs are not begun after the journal could not write. */
const PAUSE_MS = 1_000;

/**
 * A store for one process: the journal keeps what is committed, memory keeps the hot end of active logs, the queue
 * and the leases. Nothing is shown before its commit.
 */
export function createHotStore(parts: HotParts): Store {
  const { journal } = parts;
  const cache = createCache(parts);
  const queue = createQueue(parts);
  const leases = createLeases({ ticks: parts.ticks, leaseMs: parts.leaseMs });
  const pages = createPages({ loop: parts.loop, placesMax: parts.hotTasksMax });
  const names = createNames(journal);
  const writer = createWriter({
    journal,
    commits: parts.commits,
    cache,
    now: parts.now,
    wallTime: parts.wallTime,
    onCommitted(taskId) {
      parts.onCommitted(taskId);
      pushes.moved(taskId);
    },
    onRefused: takeBack,
    isRunning: taskId => leases.holder(taskId) !== undefined,
  });
  const pushes = createPushes({ ...parts, writer, cache, onDue: parts.onPushDue });
  const upkeep = createUpkeep({ ...parts, isClosed: () => closed, isIdle, forget });
  const hush = setInterval(cache.hush, parts.hotQuietMs).unref();
  let closed = false;
  let paused = false;
  for (const item of journal.unfinished()) queue.enter(item);

  function append(
    scope: Scope,
    taskId: TaskId,
    events: readonly TaskEvent[],
    expected: Expected,
    beside: AppendExtras | undefined,
  ): Promise<void> {
    if (closed) throw new Fault("unavailable", "The store is closed");
    const entry = open(scope, taskId, events[0]);
    const before = entry.task;
    check(entry, expected);
    if ("free" in expected && expected.free) checkFree(scope, before ?? (events[0] as Created));
    const given = namesIn(events, entry.seq + 1);
    if (given.length > 0) names.check(scope, agentOf(before, events), taskId, given);
    const after = entry.seq;
    if (beside) pushes.check(taskId, beside.push);
    const done = writer.record(entry, events);
    if (given.length > 0) keepNames(entry, given, done);
    if (beside) pushes.put(entry, beside.push, after).catch(() => {});
    follow(entry, before);
    return done;
  }

  function open(scope: Scope, taskId: TaskId, first: TaskEvent | undefined): Entry {
    // A new id was minted a moment ago: the journal need not be asked whether it knows it.
    const entry =
      first?.type === "created"
        ? (cache.peek(taskId) ?? createEntry(taskId, scope))
        : cache.find(scope, taskId);
    if (!entry) throw taskNotFound(taskId);
    return entry;
  }

  function keepNames(entry: Entry, given: readonly NewName[], done: Promise<void>): void {
    entry.names = [...entry.names, ...given];
    names.hold(entry.scope, entry.task as Task, given, done);
  }

  function check(entry: Entry, expected: Expected): void {
    const holds =
      "run" in expected
        ? leases[expected.afterRefusal ? "holds" : "mayWrite"](entry.taskId, expected.run)
        : "after" in expected
          ? expected.after === entry.seq
          : expected.state === entry.task?.status.state;
    if (!holds) throw new Fault("conflict", "The task has moved on", { taskId: entry.taskId });
  }

  function checkFree(scope: Scope, task: Task | Created): void {
    const taskId = queue.before(toItem(scope, task));
    if (taskId)
      throw new Fault(
        "busy",
        "The agent is still at an earlier message of this context; wait until it is done",
        {
          taskId,
        },
      );
  }

  /** Keeps the queue and the leases in step with what was just recorded. */
  function follow(entry: Entry, before: Task | null): void {
    const task = entry.task as Task;
    if (before?.status.state === task.status.state && before.turn === task.turn) return;
    entry.item ??= toItem(entry.scope, task);
    if (isSettled(task.status.state)) {
      leases.drop(entry.taskId);
      queue.leave(entry.item);
    } else if (!leases.holder(entry.taskId)) queue.enter(entry.item);
  }

  /** The disk refused: memory goes back to what is committed, and runs are not begun again at once. */
  function takeBack(entries: readonly Entry[]): void {
    for (const entry of entries) {
      cache.forget(entry);
      leases.drop(entry.taskId);
      queue.leave(toItem(entry.scope, entry.task as Task));
      enterAgain(entry.taskId);
    }
    paused = true;
    setTimeout(() => {
      paused = false;
      parts.onDue();
    }, PAUSE_MS).unref();
  }

  function enterAgain(taskId: TaskId): void {
    try {
      const loaded = journal.load(taskId);
      if (loaded && wantsRun(loaded.task)) queue.enter(toItem(loaded.scope, loaded.task));
    } catch (error) {
      parts.onDamaged(taskId, error);
    }
  }

  /** `at`: now, in ticks. */
  function begin({ taskId, scope }: Unfinished, worker: string, at: number): Run | null {
    const entry = cache.find(scope, taskId);
    if (!entry?.task || !wantsRun(entry.task)) return null;
    const attempt = entry.task.attempt + 1;
    const { state, at: dueAt } = entry.task.status;
    leases.grant(taskId, worker, attempt, at);
    writer.record(entry, [{ type: "started", attempt }]);
    const { scope: owner, task } = entry;
    return { scope: owner, worker, attempt, afterCrash: state === "working", dueAt, task };
  }

  /** One task that cannot be read must not stop the others. */
  function tryBegin(item: Unfinished, worker: string, at: number): Run | null {
    try {
      return begin(item, worker, at);
    } catch (error) {
      parts.onDamaged(item.taskId, error);
      return null;
    }
  }

  async function claim(
    worker: string,
    agents: Parameters<Store["runs"]["claim"]>[1],
    max: number,
  ): Promise<readonly Run[]> {
    if (paused || closed) return [];
    const at = parts.ticks();
    for (const taskId of leases.expired(at)) {
      const entry = cache.peek(taskId);
      leases.drop(taskId);
      if (entry?.task && wantsRun(entry.task)) queue.again(toItem(entry.scope, entry.task));
    }
    const runs: Run[] = [];
    let known = false;
    for (const item of queue.take(agents, max)) {
      const run = tryBegin(item, worker, at);
      if (run) runs.push(run);
      else queue.leave(item);
      known ||= run !== null && (cache.peek(item.taskId)?.committed ?? 0) > 0;
    }
    // A run that takes the process down at its first word must be known to have begun, or it would do so for ever.
    // A task that is not committed yet need not wait: it would be gone with the process.
    if (known) await writer.pending;
    return runs;
  }

  function read(
    scope: Scope,
    taskId: TaskId,
    after: Seq,
    max: number,
  ): readonly Step[] | Promise<readonly Step[]> {
    const entry = cache.find(scope, taskId);
    if (!entry || entry.committed === 0) throw taskNotFound(taskId);
    return (
      readHot(entry, after, max) ??
      pages.read(taskId, after, max, (from, count, base) => journal.read(taskId, from, count, base))
    );
  }

  /** Until there are too many bytes: in the answer, or to be read for it. How much is to be read is known before. */
  function readPage(scope: Scope, places: readonly Place[], view: View) {
    const tasks: Task[] = [];
    let [read, size, end] = [0, 0, 0];
    for (const { taskId } of places) {
      if (!cache.peek(taskId)) read += journal.loadBytes(taskId);
      if (end > 0 && read > LIMITS.pageBytesMax) break;
      const task = tryShow(scope, taskId);
      if (task) size += taskSize(task, view);
      if (end > 0 && size > LIMITS.pageBytesMax) break;
      if (task) tasks.push(task);
      end += 1;
    }
    return { tasks, end };
  }

  /** One task that cannot be read must not spoil a list either. */
  function tryShow(scope: Scope, taskId: TaskId): Task | null {
    try {
      return cache.find(scope, taskId)?.visible ?? null;
    } catch (error) {
      parts.onDamaged(taskId, error);
      return null;
    }
  }

  function isIdle(taskId: TaskId): boolean {
    return !cache.peek(taskId)?.dirty && leases.holder(taskId) === undefined && !pushes.isHeld(taskId);
  }

  /** Whoever still reads the task must look again. */
  function forget(taskId: TaskId): void {
    const entry = cache.peek(taskId);
    if (entry) cache.forget(entry);
    pages.forget(taskId);
    pushes.forget(taskId);
    parts.onCommitted(taskId);
  }

  return {
    lastAt: journal.lastAt,
    nodes: () => 1,
    maintenance: upkeep,
    storage: createShelf(journal, writer),
    pushes: pushes.pushes,
    deliveries: pushes.deliveries,
    usage: {
      spent: async (scope, day) => journal.spent(scope, day),
      report: async query => journal.spentByAll(query),
    },
    log: {
      append(scope, taskId, events, expected, beside) {
        try {
          return append(scope, taskId, events, expected, beside);
        } catch (error) {
          if ("run" in expected) leases.fence(expected.run);
          // What came first may not be committed yet; the writer can only look at it when it is.
          const told = (): never => {
            throw error;
          };
          return writer.pending ? writer.pending.then(told, told) : Promise.reject(error);
        }
      },
      async read(scope, taskId, after, max) {
        return read(scope, taskId, after, max);
      },
    },
    tasks: {
      async findByName(scope, agent, name) {
        return names.find(scope, agent, name);
      },
      async get(scope, taskId) {
        const entry = cache.want(scope, taskId);
        if (!entry?.visible) return null;
        return { task: entry.visible, seq: entry.committed as Seq, since: entry.since as Seq };
      },
      async count(scope) {
        return journal.count(scope);
      },
      async list(scope, agent, filter, view = WHOLE) {
        const cursor = readCursor(filter.pageToken, writer.committedRev);
        const { places, total } = journal.list(scope, agent, filter, cursor);
        const { tasks, end } = readPage(scope, places.slice(0, filter.pageSize), view);
        const more = places.length > end;
        return {
          tasks,
          nextPageToken: more ? writeCursor({ bound: cursor.bound, below: places[end - 1]?.rev ?? 0 }) : "",
          pageSize: filter.pageSize,
          totalSize: total,
        };
      },
      async newest(scope, agent, max) {
        const cursor = readCursor(undefined, writer.committedRev);
        const { places } = journal.list(scope, agent, { pageSize: max }, cursor);
        return places.slice(0, max).map(place => place.taskId);
      },
    },
    runs: {
      claim,
      async renew(run) {
        return leases.renew(run);
      },
      async release(run) {
        const done = append(run.scope, run.task.id, [{ type: "released" }], { run }, undefined);
        leases.drop(run.task.id);
        queue.again(toItem(run.scope, run.task));
        await done;
      },
      waiting: queue.waiting,
      heldMs: (scope, fullMs) => Math.max(fullMs, queue.heldMs(scope)),
      // The queue itself rings when one of these may go.
      isHeld: () => false,
      async unfinished() {
        return queue.count();
      },
    },
    async close() {
      if (closed) return;
      writer.flush();
      closed = true;
      clearInterval(hush);
      journal.close();
    },
  };
}
