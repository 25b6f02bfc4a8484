import { dayOf, Fault, isHidden, type TaskEvent, type TaskId } from "../../model/index.ts";
import type { CommitObserver } from "../../ports/index.ts";
import { NO_NAMES } from "../kernel/caller-names.ts";
import type { LogStep } from "../kernel/log-step.ts";
import {
  appendToTail,
  checkEventLimit,
  encodeSnapshot,
  isNewTurn,
  needsSnapshot,
} from "../kernel/log-tail.ts";
import { packEvents } from "../kernel/packed-events.ts";
import type { Backend, CommitPart, PushChange, StorageWrite, TaskChange } from "./backend.ts";
import type { TailCache } from "./tail-cache.ts";
import type { TaskEntry } from "./task-entry.ts";
import { WaitingContexts } from "./waiting-contexts.ts";

export interface BatchWriterParts {
  readonly backend: Backend;
  readonly commits?: CommitObserver | undefined;
  readonly cache: TailCache;
  /** Event time. */
  readonly now: () => number;
  readonly wallTime: () => number;
  /** Called once for each task of a commit, after the commit. */
  readonly onCommitted: (taskId: TaskId) => void;
  /** The backend could not write: nothing of the commit is stored. */
  readonly onFailed: (entries: readonly TaskEntry[]) => void;
  /** Whether a worker holds a lease on the task. */
  readonly isRunning: (taskId: TaskId) => boolean;
}

/** The writes of one turn of the event loop: they have one time, are committed together and resolve together. */
interface WriteBatch {
  readonly at: number;
  readonly entries: TaskEntry[];
  readonly storage: StorageWrite[];
  readonly pushes: PushChange[];
  readonly others: CommitPart[];
  readonly done: PromiseWithResolvers<void>;
}

function countSteps(changes: readonly TaskChange[]): number {
  let count = 0;
  for (const { steps } of changes) count += steps.length;
  return count;
}

/** Approximate memory of a change, by which the tail cache is bounded. */
const changeSize = ({ events, snapshot }: TaskChange): number =>
  2 * events.length + (snapshot?.length ?? 0) + 500;

/** Appends to logs. All writes of one turn of the event loop are one commit. */
export function createBatchWriter(parts: BatchWriterParts) {
  const { backend, cache } = parts;
  const waiting = new WaitingContexts(backend);
  let batch: WriteBatch | null = null;
  let newestRev = backend.lastRev;
  let committedRev = newestRev;

  function startBatch(): WriteBatch {
    setImmediate(flush);
    const done = Promise.withResolvers<void>();
    // Not every writer waits for the commit; those that do get the same rejection.
    done.promise.catch(() => {});
    return { at: parts.now(), entries: [], storage: [], pushes: [], others: [], done };
  }

  /** Appends all events or, if the lifecycle rejects one, none. Resolves after the commit. */
  function append(entry: TaskEntry, events: readonly TaskEvent[]): Promise<void> {
    const { tail, commit } = entry;
    checkEventLimit(tail.seq, events);
    const before = tail.task;
    batch ??= startBatch();
    appendToTail(tail, events, batch.at);
    if (before?.status !== tail.task?.status) {
      commit.rev = ++newestRev;
      if (isNewTurn(before, tail.task)) commit.arrived = newestRev;
    }
    if (!commit.isPending) {
      commit.isPending = true;
      cache.pin(entry);
      batch.entries.push(entry);
    }
    return batch.done.promise;
  }

  function flush(): void {
    const writing = batch;
    if (!writing) return;
    batch = null;
    const { entries, storage, pushes, others, done } = writing;
    // All writes of the batch may have been rejected.
    if (entries.length + storage.length + pushes.length + others.length === 0) return done.resolve();
    cache.evictUnpinned();
    const day = dayOf(parts.wallTime());
    const changes = entries.map(entry => toChange(entry, day));
    const onCommit = parts.commits?.startCommit();
    try {
      backend.commit(changes, storage, pushes, others);
    } catch (cause) {
      parts.commits?.onFailure();
      parts.onFailed(entries);
      done.reject(new Fault("unavailable", "The store cannot write now; nothing was recorded", {}, cause));
      return;
    }
    onCommit?.(changes.length, countSteps(changes));
    committedRev = newestRev;
    for (let i = 0; i < changes.length; i++) onWritten(entries[i] as TaskEntry, changes[i] as TaskChange);
    done.resolve();
    for (const entry of entries) parts.onCommitted(entry.taskId);
  }

  function toChange({ scope, tail, commit }: TaskEntry, day: number): TaskChange {
    const task = (tail.last as LogStep).task;
    tail.task = task;
    // A task that appears in lists or disappears from them gets a new revision as well.
    if (commit.task && isHidden(commit.task) !== isHidden(task)) commit.rev ??= ++newestRev;
    const { rev, arrived, names, snapshotSeq } = commit;
    const steps = tail.steps.slice(commit.seq - tail.seq);
    return {
      scope,
      task,
      steps,
      events: packEvents(steps),
      isNew: commit.seq === 0,
      listedBefore: commit.task && !isHidden(commit.task) ? commit.task.status.state : undefined,
      rev,
      arrived,
      day,
      names,
      snapshot: rev !== null && needsSnapshot(tail.seq, snapshotSeq, task) ? encodeSnapshot(task) : null,
    };
  }

  function onWritten(entry: TaskEntry, change: TaskChange): void {
    const { tail, commit } = entry;
    tail.unwrittenChars = 0;
    commit.isPending = false;
    commit.rev = null;
    commit.arrived = null;
    commit.names = NO_NAMES;
    commit.seq = tail.seq;
    commit.task = change.task;
    waiting.onCommitted(change.task);
    if (change.snapshot !== null) commit.snapshotSeq = tail.seq;
    cache.onCommitted(entry, changeSize(change), change.steps.length);
    if (!parts.isRunning(entry.taskId)) cache.unpin(entry);
  }

  return {
    append,
    newest: waiting.newest,
    writeStorage(write: StorageWrite): Promise<void> {
      batch ??= startBatch();
      batch.storage.push(write);
      return batch.done.promise;
    },
    writePush(change: PushChange): Promise<void> {
      batch ??= startBatch();
      batch.pushes.push(change);
      return batch.done.promise;
    },
    /** `part` must not throw, except for an error of the disk: it would fail the whole commit. */
    write(part: CommitPart): Promise<void> {
      batch ??= startBatch();
      batch.others.push(part);
      return batch.done.promise;
    },
    flush,
    /** The next commit, if anything was written since the last one. */
    get pending(): Promise<void> | null {
      return batch?.done.promise ?? null;
    },
    /** The newest revision that can be read. */
    get committedRev(): number {
      return committedRev;
    },
  };
}

export type BatchWriter = ReturnType<typeof createBatchWriter>;
