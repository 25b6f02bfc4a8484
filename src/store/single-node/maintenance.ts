import { Fault, isSettled, LIMITS, type Scope, type Task, type TaskId } from "../../model/index.ts";
import type { Maintenance } from "../../ports/index.ts";
import { toRetentionBounds } from "../kernel/retention.ts";
import type { Backend, ExpiredData, ExpiredTask, TaskRevision } from "./backend.ts";

export interface MaintenanceParts {
  readonly backend: Backend;
  readonly wallTime: () => number;
  readonly isClosed: () => boolean;
  /** Whether the task is neither being written, running nor being delivered. */
  readonly isIdle: (taskId: TaskId) => boolean;
  /** The committed task, if this caller may see it. */
  readonly find: (scope: Scope, taskId: TaskId) => Task | null;
  /** The stored task changed or was removed: drop it from memory. */
  readonly onPruned: (taskId: TaskId) => void;
}

interface Removal {
  readonly task: ExpiredTask;
  readonly done: PromiseWithResolvers<boolean>;
}

/** Removes expired data, in commits so small that they do not delay calls. */
export function createMaintenance(parts: MaintenanceParts): Maintenance {
  const { backend } = parts;

  /** Removals that callers wait for. */
  let removals: Removal[] = [];

  /** Returns the tasks that were removed, or part of whose log was. */
  function prune({ tasks, logs }: ExpiredData): readonly TaskId[] {
    const isIdle = ({ taskId }: TaskRevision): boolean => parts.isIdle(taskId);
    const pruned = backend.prune({ tasks: tasks.filter(isIdle), logs: logs.filter(isIdle) });
    for (const taskId of pruned) parts.onPruned(taskId);
    return pruned;
  }

  /** Removals of one turn of the event loop are one commit. Resolves with false if the task changed meanwhile. */
  function pruneWithOthers(task: ExpiredTask): Promise<boolean> {
    const done = Promise.withResolvers<boolean>();
    if (removals.length === 0) setImmediate(commitRemovals);
    removals.push({ task, done });
    return done.promise;
  }

  function commitRemovals(): void {
    const commit = removals.slice(0, LIMITS.sweepCommitTasksMax);
    removals = removals.slice(LIMITS.sweepCommitTasksMax);
    if (removals.length > 0) setImmediate(commitRemovals);
    try {
      if (parts.isClosed()) throw new Fault("unavailable", "The store is closed");
      const pruned = new Set(prune({ tasks: commit.map(({ task }) => task), logs: [] }));
      for (const { task, done } of commit) done.resolve(pruned.has(task.taskId));
    } catch (error) {
      for (const { done } of commit) done.reject(error);
    }
  }

  return {
    async sweep(agent, retention) {
      const found = await backend.findExpired(agent, toRetentionBounds(retention, parts.wallTime()));
      let count = 0;
      for (const part of splitIntoCommits(found)) {
        if (parts.isClosed()) break;
        count += prune(part).length;
        await new Promise(resolve => setTimeout(resolve, LIMITS.sweepPauseMs));
      }
      return count;
    },
    async remove(scope, taskId, storage) {
      const task = parts.find(scope, taskId);
      if (!task || !isSettled(task.status.state)) return false;
      let isRemoved = false;
      // A long log is removed in several commits.
      for (let rev = backend.revOf(taskId); rev !== null; rev = backend.revOf(taskId)) {
        if (!(await pruneWithOthers({ taskId, rev, keepsStorage: storage === "keep" }))) break;
        isRemoved = backend.revOf(taskId) === null;
      }
      return isRemoved;
    },
    async check() {
      if (parts.isClosed()) throw new Fault("unavailable", "The store is closed");
      try {
        backend.check();
      } catch (cause) {
        throw new Fault("unavailable", "The store cannot write now", {}, cause);
      }
    },
    async bytes() {
      return parts.isClosed() ? 0 : backend.bytes();
    },
  };
}

/** Each part is removed in one commit. */
export function* splitIntoCommits({ tasks, logs }: ExpiredData): Generator<ExpiredData> {
  const size = LIMITS.sweepCommitTasksMax;
  for (let i = 0; i < tasks.length; i += size) yield { tasks: tasks.slice(i, i + size), logs: [] };
  for (let i = 0; i < logs.length; i += size) yield { tasks: [], logs: logs.slice(i, i + size) };
}
