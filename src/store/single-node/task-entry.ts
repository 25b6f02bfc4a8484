import type { Scope, Seq, Step, Task, TaskId } from "../../model/index.ts";
import { type NewName, NO_NAMES } from "../kernel/caller-names.ts";
import { type LogTail, limitByBytes } from "../kernel/log-tail.ts";
import type { QueueItem } from "./backend.ts";

/** A task in memory. Each part is changed by one owner only. */
export interface TaskEntry {
  readonly taskId: TaskId;
  readonly scope: Scope;
  /** The newest events: the writer appends to them, the tail cache drops committed ones. */
  readonly tail: LogTail;
  /** What is committed, and what the next commit adds. Owner: the writer. */
  readonly commit: CommittedState;
  /** Whether and when the entry can leave memory. Owner: the tail cache. */
  readonly cache: CacheState;
  /** The task's item in the run queue, created once. Owner: the store, beside its queue and leases. */
  queueItem: QueueItem | null;
}

export interface CommittedState {
  /** The newest committed event: callers see no later one. */
  seq: number;
  /** The task after that event: callers see this one. */
  task: Task | null;
  /** The last event in the stored snapshot. */
  snapshotSeq: number;
  /** Events up to this one were removed. */
  since: number;
  /** Whether the entry is part of the next commit. The following fields belong to that commit. */
  isPending: boolean;
  /** The revision of the latest change of status; null: the status did not change. */
  rev: number | null;
  /** The revision at which the latest turn arrived; null: no turn arrived. */
  arrived: number | null;
  names: readonly NewName[];
}

export interface CacheState {
  /** Approximate memory of the entry. */
  bytes: number;
  /** Neither being written nor running: the entry can leave memory. */
  isIdle: boolean;
  /** A caller read the task by its id and may read it again. */
  isRequested: boolean;
  /** The newest committed event at the last check for idle tails, and the number of checks since it changed. */
  checkedSeq: number;
  checks: number;
}

export function createTaskEntry(taskId: TaskId, scope: Scope): TaskEntry {
  return {
    taskId,
    scope,
    tail: { taskId, task: null, last: null, seq: 0, steps: [], unwrittenChars: 0 },
    commit: {
      seq: 0,
      task: null,
      snapshotSeq: 0,
      since: 0,
      isPending: false,
      rev: null,
      arrived: null,
      names: NO_NAMES,
    },
    cache: { bytes: 0, isIdle: false, isRequested: false, checkedSeq: 0, checks: 0 },
    queueItem: null,
  };
}

/** Committed steps after `after`; null: the tail in memory begins later. */
export function readTail(
  { tail, commit, cache }: TaskEntry,
  after: Seq,
  max: number,
): readonly Step[] | null {
  if (after >= commit.seq) return [];
  const { steps } = tail;
  const start = tail.seq - steps.length;
  const from = after - start;
  if (from < 0) return null;
  return steps.slice(from, Math.min(commit.seq - start, from + limitByBytes(max, cache.bytes, steps.length)));
}

export const belongsTo = (entry: { readonly scope: Scope }, scope: Scope): boolean =>
  entry.scope === scope || (entry.scope.tenant === scope.tenant && entry.scope.principal === scope.principal);
