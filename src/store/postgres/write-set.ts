/** Checks the appends to one task and turns them into the rows that a commit writes. */
import {
  Fault,
  isHidden,
  isSettled,
  type Scope,
  type Step,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import type { AppendCondition, NewPushSubscription, Run } from "../../ports/index.ts";
import { findNames, type NewName } from "../kernel/caller-names.ts";
import type { LogStep } from "../kernel/log-step.ts";
import {
  appendToTail,
  checkEventLimit,
  encodeSnapshot,
  isNewTurn,
  type LogTail,
  needsSnapshot,
} from "../kernel/log-tail.ts";
import { packEvents } from "../kernel/packed-events.ts";
import type { CachedTask } from "./task-cache.ts";

/** An append that waits to be written. */
export interface AppendRequest {
  readonly scope: Scope;
  readonly taskId: TaskId;
  readonly events: readonly TaskEvent[];
  readonly condition: AppendCondition;
  readonly push: NewPushSubscription | undefined;
  /** The run that begins with it. */
  readonly begins: Run | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** How often another writer was faster. */
  retries: number;
}

/** The run that is lost if the append is refused. */
export const runOf = ({ condition, begins }: AppendRequest): Run | undefined =>
  "run" in condition ? condition.run : begins;

/** The append requires that no other task of its context wants a run: that is checked under a lock. */
export const needsLock = ({ condition }: AppendRequest): boolean =>
  "free" in condition && condition.free === true;

/** The appends of one commit to one task. */
export interface PendingWrite {
  readonly scope: Scope;
  readonly taskId: TaskId;
  /** The task before the write; null: it is new. */
  readonly cached: CachedTask | null;
  readonly tail: LogTail;
  readonly requests: AppendRequest[];
  readonly names: NewName[];
  /** Push configs to store with it; `after`: where the log ended before the events that came with the config. */
  readonly pushes: { readonly push: NewPushSubscription; readonly after: number }[];
  hasStatusChange: boolean;
  hasNewTurn: boolean;
}

/** The task after the write. */
export const taskAfter = ({ tail }: PendingWrite): Task => (tail.last?.task ?? tail.task) as Task;

/** An append that the cached state of the task does not allow. */
export interface RefusedAppend {
  readonly request: AppendRequest;
  readonly fault: unknown;
}

/**
 * Appends the requests to the cached state. An append that does not fit is refused and the rest goes on without it, except
 * for later appends of the same run. `fenced`: runs that had an append refused before.
 */
export function toPendingWrite(
  requests: readonly AppendRequest[],
  cached: CachedTask | null,
  at: number,
  fenced: WeakSet<Run>,
): { readonly pending: PendingWrite; readonly refused: readonly RefusedAppend[] } {
  const { scope, taskId } = requests[0] as AppendRequest;
  const pending: PendingWrite = {
    scope,
    taskId,
    cached,
    tail: {
      taskId,
      task: cached?.task ?? null,
      last: cached?.steps.at(-1) ?? null,
      seq: cached?.seq ?? 0,
      steps: [],
      unwrittenChars: 0,
    },
    requests: [],
    names: [],
    pushes: [],
    hasStatusChange: false,
    hasNewTurn: false,
  };
  const refused: RefusedAppend[] = [];
  for (const request of requests) {
    try {
      if (isFenced(request.condition, fenced, refused)) throw changedConcurrently(taskId);
      addRequest(pending, request, at);
    } catch (fault) {
      refused.push({ request, fault });
    }
  }
  return { pending, refused };
}

function isFenced(
  condition: AppendCondition,
  fenced: WeakSet<Run>,
  refused: readonly RefusedAppend[],
): boolean {
  if (!("run" in condition) || condition.afterRefusal) return false;
  const { run } = condition;
  return (
    fenced.has(run) ||
    refused.some(({ request }) => "run" in request.condition && request.condition.run === run)
  );
}

function addRequest(pending: PendingWrite, request: AppendRequest, at: number): void {
  const { tail } = pending;
  const before = tail.task;
  if (!holds(request.condition, tail)) throw changedConcurrently(tail.taskId);
  checkEventLimit(tail.seq, request.events);
  const names = findNames(request.events, tail.seq + 1);
  // Time never goes back within a log, whichever node writes it.
  const lastAt = tail.last?.at ?? tail.task?.status.at ?? 0;
  appendToTail(tail, request.events, Math.max(at, lastAt));
  pending.names.push(...names);
  if (request.push) pending.pushes.push({ push: request.push, after: tail.seq - request.events.length });
  pending.requests.push(request);
  if (before?.status !== tail.task?.status) {
    pending.hasStatusChange = true;
    pending.hasNewTurn ||= isNewTurn(before, tail.task);
  }
}

function holds(condition: AppendCondition, { seq, task }: LogTail): boolean {
  if ("run" in condition) return task?.attempt === condition.run.attempt && task.status.state === "working";
  return "after" in condition ? condition.after === seq : condition.state === task?.status.state;
}

export const changedConcurrently = (taskId: TaskId): Fault =>
  new Fault("conflict", "The task changed concurrently", { taskId });

/** The values that a commit writes for one task. */
export interface WriteSet {
  readonly pending: PendingWrite;
  readonly owner: number;
  readonly task: Task;
  readonly steps: readonly LogStep[];
  readonly events: string;
  /** The task gets a new revision, by which lists are ordered. */
  readonly hasNewRevision: boolean;
  readonly snapshot: string | null;
  /** The run is no longer leased: the task has settled, or the run was released. */
  readonly endsLease: boolean;
  /** The run of a new task that goes on after this commit, and has to be leased by it. */
  readonly begun: Run | undefined;
}

export function toWriteSet(pending: PendingWrite, owner: number): WriteSet {
  const task = taskAfter(pending);
  const { cached, tail, hasStatusChange } = pending;
  const steps = tail.steps as readonly Step[] as readonly LogStep[];
  // A task that becomes hidden or visible changes its place in lists, too.
  const hasNewRevision = hasStatusChange || (cached !== null && isHidden(cached.task) !== isHidden(task));
  const snapshotSeq = cached?.snapshotSeq ?? 0;
  return {
    pending,
    owner,
    task,
    steps,
    events: packEvents(steps),
    hasNewRevision,
    snapshot: hasNewRevision && needsSnapshot(tail.seq, snapshotSeq, task) ? encodeSnapshot(task) : null,
    begun: task.status.state === "working" ? pending.requests[0]?.begins : undefined,
    endsLease: hasStatusChange && (isSettled(task.status.state) || task.status.state === "submitted"),
  };
}
