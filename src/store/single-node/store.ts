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
import type {
  AppendCondition,
  AppendExtras,
  EventLog,
  ListFilter,
  Page,
  Run,
  Store,
  UsageStore,
} from "../../ports/index.ts";
import { findNames } from "../kernel/caller-names.ts";
import { createPageCache } from "../kernel/page-cache.ts";
import { decodePageToken, encodePageToken } from "../kernel/page-token.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import type { Backend, QueueItem, TaskRevision } from "./backend.ts";
import { createSingleNodeItems } from "./items.ts";
import { Leases } from "./leases.ts";
import { createMaintenance } from "./maintenance.ts";
import { createNameIndex } from "./name-index.ts";
import { createSingleNodeOverview } from "./overview.ts";
import { createPushStore } from "./pushes.ts";
import { createQueue, needsRun, toQueueItem } from "./queue.ts";
import { createSingleNodeResources } from "./resources.ts";
import { createSingleNodeSchedules } from "./schedules.ts";
import { createSingleNodeStorage } from "./storage.ts";
import { createTailCache } from "./tail-cache.ts";
import { createTaskEntry, readTail, type TaskEntry } from "./task-entry.ts";
import { createBatchWriter } from "./writer.ts";

export interface SingleNodeStoreParts extends StoreParts {
  readonly backend: Backend;
}

type CreatedEvent = TaskEvent & { type: "created" };

const WITH_ARTIFACTS: View = { artifacts: true };

/** No runs begin for this long after the backend could not write. */
const PAUSE_MS = 1_000;

/**
 * A store for one process: the backend has the committed data; the tails of active logs, the queue and the leases are in
 * memory. Callers see nothing before its commit.
 */
export function createSingleNodeStore(parts: SingleNodeStoreParts): Store {
  const { backend } = parts;
  const cache = createTailCache(parts);
  const queue = createQueue(parts);
  const leases = new Leases(parts);
  const pages = createPageCache({ loop: parts.loop, checkpointsMax: parts.tailCacheTasksMax });
  const names = createNameIndex(backend);
  const writer = createBatchWriter({
    ...parts,
    cache,
    onCommitted(taskId) {
      parts.onCommitted(taskId);
      pushes.onTaskChanged(taskId);
    },
    onFailed: rollBack,
    isRunning: taskId => leases.isLeased(taskId),
  });
  const pushes = createPushStore({ ...parts, writer, cache, onDue: parts.onPushDue });
  const watched = { isClosed: () => closed, isIdle, onPruned, find: tryRead };
  const maintenance = createMaintenance({ ...parts, ...watched });
  const evictionTimer = setInterval(cache.evictIdleTails, parts.tailIdleMs).unref();
  let closed = false;
  let paused = false;
  for (const item of backend.unfinished()) queue.enter(item);

  function append(
    scope: Scope,
    taskId: TaskId,
    events: readonly TaskEvent[],
    condition: AppendCondition,
    extras: AppendExtras | undefined,
  ): Promise<void> {
    if (closed) throw new Fault("unavailable", "The store is closed");
    const entry = openEntry(scope, taskId, events[0]);
    const { tail, commit } = entry;
    const { task: before, seq: after } = tail;
    checkCondition(entry, condition);
    if ("free" in condition && condition.free) checkContextFree(scope, before ?? (events[0] as CreatedEvent));
    const newNames = findNames(events, after + 1);
    if (newNames.length > 0)
      names.check(scope, before?.agent ?? (events[0] as CreatedEvent).agent, taskId, newNames);
    if (extras) pushes.checkLimit(taskId, extras.push);
    const done = writer.append(entry, events);
    if (newNames.length > 0) {
      commit.names = [...commit.names, ...newNames];
      names.reserve(entry.scope, tail.task as Task, newNames, done);
    }
    if (extras) pushes.put(entry, extras.push, after).catch(() => {});
    updateQueue(entry, before);
    return done;
  }

  const appendOrFence: EventLog["append"] = (scope, taskId, events, condition, extras) => {
    try {
      return append(scope, taskId, events, condition, extras);
    } catch (error) {
      if ("run" in condition) leases.fence(condition.run);
      // The append that came first may not be committed yet: reject when the caller can read it.
      const fail = (): never => {
        throw error;
      };
      return writer.pending ? writer.pending.then(fail, fail) : Promise.reject(error);
    }
  };

  function list(scope: Scope, agent: AgentName, filter: ListFilter, view: View): Page {
    const cursor = decodePageToken(filter.pageToken, writer.committedRev);
    const { rows, total } = backend.list(scope, agent, filter, cursor);
    const { tasks, end } = readPage(scope, rows.slice(0, filter.pageSize), view);
    const next = { maxRev: cursor.maxRev, beforeRev: rows[end - 1]?.rev ?? 0 };
    return {
      tasks,
      nextPageToken: rows.length > end ? encodePageToken(next) : "",
      pageSize: filter.pageSize,
      totalSize: total,
    };
  }

  function openEntry(scope: Scope, taskId: TaskId, first: TaskEvent | undefined): TaskEntry {
    // The id of a new task was generated a moment ago: the backend cannot have it.
    const entry =
      first?.type === "created"
        ? (cache.peek(taskId) ?? createTaskEntry(taskId, scope))
        : cache.find(scope, taskId);
    if (!entry) throw taskNotFound(taskId);
    return entry;
  }

  function checkCondition({ taskId, tail }: TaskEntry, condition: AppendCondition): void {
    const holds =
      "run" in condition
        ? leases[condition.afterRefusal ? "holds" : "canWrite"](taskId, condition.run)
        : "after" in condition
          ? condition.after === tail.seq
          : condition.state === tail.task?.status.state;
    if (!holds) throw new Fault("conflict", "The task changed concurrently", { taskId });
  }

  function checkContextFree(scope: Scope, task: Task | CreatedEvent): void {
    const taskId = queue.findOther(toQueueItem(scope, task));
    if (taskId)
      throw new Fault(
        "busy",
        "The agent is still at an earlier message of this context; wait until it is done",
        { taskId },
      );
  }

  /** Brings the queue and the leases in line with an append. */
  function updateQueue(entry: TaskEntry, before: Task | null): void {
    const task = entry.tail.task as Task;
    if (before?.status.state === task.status.state && before.turn === task.turn) return;
    entry.queueItem ??= toQueueItem(entry.scope, task);
    if (isSettled(task.status.state)) {
      leases.drop(entry.taskId);
      queue.leave(entry.queueItem);
    } else if (!leases.isLeased(entry.taskId)) queue.enter(entry.queueItem);
  }

  /** The backend could not write: memory goes back to the committed state, and new runs are delayed. */
  function rollBack(entries: readonly TaskEntry[]): void {
    for (const entry of entries) {
      cache.remove(entry);
      leases.drop(entry.taskId);
      queue.leave(toQueueItem(entry.scope, entry.tail.task as Task));
      requeueCommitted(entry.taskId);
    }
    paused = true;
    setTimeout(() => {
      paused = false;
      parts.onDue();
    }, PAUSE_MS).unref();
  }

  function requeueCommitted(taskId: TaskId): void {
    try {
      const loaded = backend.load(taskId);
      if (loaded && needsRun(loaded.task)) queue.enter(toQueueItem(loaded.scope, loaded.task));
    } catch (error) {
      parts.onDamaged(taskId, error);
    }
  }

  /** `at`: now, in ticks. A task that cannot be read must not block the others. */
  function startRun({ taskId, scope }: QueueItem, worker: string, at: number): Run | null {
    try {
      const entry = cache.find(scope, taskId);
      if (!entry?.tail.task || !needsRun(entry.tail.task)) return null;
      const attempt = entry.tail.task.attempt + 1;
      const { state, at: dueAt } = entry.tail.task.status;
      leases.grant(taskId, worker, attempt, at);
      writer.append(entry, [{ type: "started", attempt }]);
      const { task } = entry.tail;
      return { scope: entry.scope, worker, attempt, afterCrash: state === "working", dueAt, task };
    } catch (error) {
      parts.onDamaged(taskId, error);
      return null;
    }
  }

  async function claim(worker: string, agents: ReadonlySet<AgentName>, max: number): Promise<readonly Run[]> {
    if (paused || closed) return [];
    const at = parts.ticks();
    for (const taskId of leases.findExpired(at)) {
      const entry = cache.peek(taskId);
      leases.drop(taskId);
      if (entry?.tail.task && needsRun(entry.tail.task))
        queue.requeue(toQueueItem(entry.scope, entry.tail.task));
    }
    const runs: Run[] = [];
    let hasCommitted = false;
    for (const item of queue.take(agents, max)) {
      const run = startRun(item, worker, at);
      if (run) runs.push(run);
      else queue.leave(item);
      hasCommitted ||= run !== null && (cache.peek(item.taskId)?.commit.seq ?? 0) > 0;
    }
    // The start of a run that crashes the process at once must be committed, or the crash would repeat without end.
    // A task that is not committed need not wait: a crash would remove it as well.
    if (hasCommitted) await writer.pending;
    return runs;
  }

  function read(
    scope: Scope,
    taskId: TaskId,
    after: Seq,
    max: number,
  ): readonly Step[] | Promise<readonly Step[]> {
    const entry = cache.find(scope, taskId);
    if (!entry || entry.commit.seq === 0) throw taskNotFound(taskId);
    return (
      readTail(entry, after, max) ??
      pages.read(taskId, after, max, (from, count, base) => backend.read(taskId, from, count, base))
    );
  }

  /** Reads tasks until the response, or the bytes read for it, would be too large; sizes are known before reading. */
  function readPage(scope: Scope, rows: readonly TaskRevision[], view: View) {
    const tasks: Task[] = [];
    let [bytesRead, size, end] = [0, 0, 0];
    for (const { taskId } of rows) {
      if (!cache.peek(taskId)) bytesRead += backend.loadBytes(taskId);
      if (end > 0 && bytesRead > LIMITS.pageBytesMax) break;
      const task = tryRead(scope, taskId);
      if (task) size += taskSize(task, view);
      if (end > 0 && size > LIMITS.pageBytesMax) break;
      if (task) tasks.push(task);
      end += 1;
    }
    return { tasks, end };
  }

  /** A task that cannot be read must not fail a list. */
  function tryRead(scope: Scope, taskId: TaskId): Task | null {
    try {
      return cache.find(scope, taskId)?.commit.task ?? null;
    } catch (error) {
      parts.onDamaged(taskId, error);
      return null;
    }
  }

  function isIdle(taskId: TaskId): boolean {
    return !cache.peek(taskId)?.commit.isPending && !leases.isLeased(taskId) && !pushes.hasClaimed(taskId);
  }

  function onPruned(taskId: TaskId): void {
    const entry = cache.peek(taskId);
    if (entry) cache.remove(entry);
    pages.remove(taskId);
    pushes.onPruned(taskId);
    // Open streams must read the task again.
    parts.onCommitted(taskId);
  }

  return {
    lastAt: backend.lastAt,
    nodes: () => 1,
    maintenance,
    overview: createSingleNodeOverview({ ...parts, cache }),
    storage: createSingleNodeStorage(backend, writer),
    resources: createSingleNodeResources(backend, writer),
    items: createSingleNodeItems({ ...parts, writer }),
    schedules: createSingleNodeSchedules({ ...parts, writer }),
    pushes: pushes.pushes,
    deliveries: pushes.deliveries,
    usage: createSingleNodeUsage(backend),
    log: {
      append: appendOrFence,
      async read(scope, taskId, after, max) {
        return read(scope, taskId, after, max);
      },
    },
    tasks: {
      async findByName(scope, agent, name) {
        return names.find(scope, agent, name);
      },
      async get(scope, taskId) {
        const commit = cache.findAndKeep(scope, taskId)?.commit;
        if (!commit?.task) return null;
        return { task: commit.task, seq: commit.seq as Seq, since: commit.since as Seq };
      },
      async count(scope) {
        return backend.count(scope);
      },
      async list(scope, agent, filter, view = WITH_ARTIFACTS) {
        return list(scope, agent, filter, view);
      },
      async newest(scope, agent, filter) {
        return writer.newest(scope, agent, filter);
      },
    },
    runs: {
      claim,
      // A claim finds new tasks before their first commit.
      setStarter() {},
      async renew(run) {
        return leases.renew(run);
      },
      async release(run) {
        const done = append(run.scope, run.task.id, [{ type: "released" }], { run }, undefined);
        leases.drop(run.task.id);
        queue.requeue(toQueueItem(run.scope, run.task));
        await done;
      },
      waiting: queue.waiting,
      blockedMs: (scope, fullMs) => Math.max(fullMs, queue.blockedMs(scope)),
      // The queue calls `onDue` itself when a blocked task can run.
      hasBlocked: () => false,
      async unfinished() {
        return queue.count();
      },
    },
    async close() {
      if (closed) return;
      writer.flush();
      closed = true;
      clearInterval(evictionTimer);
      backend.close();
    },
  };
}

const createSingleNodeUsage = (backend: Backend): UsageStore => ({
  spent: async (scope, day) => backend.spent(scope, day),
  report: async query => backend.reportUsage(query),
});
