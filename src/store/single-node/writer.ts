import { dayOf, Fault, isHidden, type TaskEvent, type TaskId } from "../../model/index.ts";
import type { CommitObserver } from "../../ports/index.ts";
import { checkRoom, extend, hasArrived, snapshotText, wantsSnapshot } from "../kernel/log-end.ts";
import type { HotStep } from "../kernel/log-step.ts";
import { pack } from "../kernel/pack.ts";
import type { Change, Journal, PushChange, Put } from "./backend.ts";
import { type Batch, createBatch } from "./batch.ts";
import { type Entry, NO_NAMES } from "./entry.ts";
import type { Cache } from "./tail-cache.ts";

export interface WriterParts {
  readonly journal: Journal;
  readonly commits: CommitObserver | undefined;
  readonly cache: Cache;
  /** Event time. */
  readonly now: () => number;
  readonly wallTime: () => number;
  /** Once for each task in a commit, after it. */
  readonly onCommitted: (taskId: TaskId) => void;
  /** The journal could not write: what was to be written did not happen. */
  readonly onRefused: (entries: readonly Entry[]) => void;
  /** Whether somebody holds a lease on it. */
  readonly isRunning: (taskId: TaskId) => boolean;
}

/** Puts events at the end of logs; all of one turn of the event loop are one commit. */
export interface Writer {
  /** All of them or, if the lifecycle refuses one, none. Resolves when they are committed. */
  record(entry: Entry, events: readonly TaskEvent[]): Promise<void>;
  /** Puts something on a shelf, in the same commit. */
  put(put: Put): Promise<void>;
  /** Changes a push config, likewise. */
  push(change: PushChange): Promise<void>;
  /** What is recorded but not yet committed. */
  readonly pending: Promise<void> | null;
  /** The newest revision that can be read. */
  readonly committedRev: number;
  flush(): void;
}

function countSteps(changes: readonly Change[]): number {
  let count = 0;
  for (const { steps } of changes) count += steps.length;
  return count;
}

/** Roughly what a change weighs in memory, so that the hot end can be bounded. */
const weightOf = ({ events, snapshot }: Change): number => 2 * events.length + (snapshot?.length ?? 0) + 500;

export function createWriter(parts: WriterParts): Writer {
  const { journal, cache } = parts;
  let batch: Batch | null = null;
  let newestRev = journal.lastRev;
  let committedRev = newestRev;

  function record(entry: Entry, events: readonly TaskEvent[]): Promise<void> {
    checkRoom(entry.seq, events);
    const before = entry.task;
    const { at, entries, done } = (batch ??= begin());
    extend(entry, events, at);
    if (before?.status !== entry.task?.status) {
      entry.rev = ++newestRev;
      if (hasArrived(before, entry.task)) entry.arrived = newestRev;
    }
    if (!entry.dirty) {
      entry.dirty = true;
      cache.hold(entry);
      entries.push(entry);
    }
    return done;
  }

  function put(one: Put): Promise<void> {
    batch ??= begin();
    batch.puts.push(one);
    return batch.done;
  }

  function push(change: PushChange): Promise<void> {
    batch ??= begin();
    batch.pushes.push(change);
    return batch.done;
  }

  function begin(): Batch {
    setImmediate(flush);
    return createBatch(parts.now());
  }

  function flush(): void {
    const writing = batch;
    if (!writing) return;
    batch = null;
    // All that was to be written may have been refused.
    const { entries, puts, pushes } = writing;
    if (entries.length === 0 && puts.length === 0 && pushes.length === 0) return writing.resolve();
    cache.cool();
    const day = dayOf(parts.wallTime());
    const changes = entries.map(entry => toChange(entry, day));
    const done = parts.commits?.begin();
    try {
      journal.commit(changes, puts, pushes);
    } catch (cause) {
      parts.commits?.failed();
      parts.onRefused(writing.entries);
      writing.reject(new Fault("unavailable", "The store cannot write now; nothing was recorded", {}, cause));
      return;
    }
    done?.(changes.length, countSteps(changes));
    committedRev = newestRev;
    for (let i = 0; i < changes.length; i++) written(writing.entries[i] as Entry, changes[i] as Change);
    writing.resolve();
    for (const entry of writing.entries) parts.onCommitted(entry.taskId);
  }

  function toChange(entry: Entry, day: number): Change {
    const task = (entry.last as HotStep).task;
    entry.task = task;
    // To come into the lists, or to leave them, is a move as well.
    if (entry.visible && isHidden(entry.visible) !== isHidden(task)) entry.rev ??= ++newestRev;
    const steps = entry.steps.slice(entry.committed - entry.seq);
    return {
      scope: entry.scope,
      task,
      steps,
      events: pack(steps),
      isNew: entry.committed === 0,
      rev: entry.rev,
      arrived: entry.arrived,
      day,
      names: entry.names,
      snapshot: entry.rev !== null && wantsSnapshot(entry, task) ? snapshotText(task) : null,
    };
  }

  function written(entry: Entry, change: Change): void {
    entry.dirty = false;
    entry.rev = null;
    entry.arrived = null;
    entry.names = NO_NAMES;
    entry.unwrittenChars = 0;
    entry.committed = entry.seq;
    entry.visible = change.task;
    if (change.snapshot !== null) entry.snapshotSeq = entry.seq;
    cache.committed(entry, weightOf(change));
    if (!parts.isRunning(entry.taskId)) cache.rest(entry);
  }

  return {
    record,
    put,
    push,
    flush,
    get pending() {
      return batch?.done ?? null;
    },
    get committedRev() {
      return committedRev;
    },
  };
}
