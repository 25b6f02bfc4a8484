import {
  accepts,
  apply,
  Fault,
  isHidden,
  isTerminal,
  LIMITS,
  type Seq,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import { type Batch, createBatch } from "./batch.ts";
import type { Cache } from "./cache.ts";
import { type Entry, NO_NAMES } from "./entry.ts";
import type { Change, Journal, Put } from "./journal.ts";
import { HotStep } from "./step.ts";

export interface WriterParts {
  readonly journal: Journal;
  readonly cache: Cache;
  readonly now: () => number;
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
  /** What is recorded but not yet committed. */
  readonly pending: Promise<void> | null;
  /** The newest revision that can be read. */
  readonly committedRev: number;
  flush(): void;
}

export function createWriter(parts: WriterParts): Writer {
  const { journal, cache } = parts;
  let batch: Batch | null = null;
  let newestRev = journal.lastRev;
  let committedRev = newestRev;

  function record(entry: Entry, events: readonly TaskEvent[]): Promise<void> {
    if (entry.seq + events.length > LIMITS.eventsMax && events.some(isMore))
      throw new Fault("too-large", `A task has at most ${LIMITS.eventsMax} events`);
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

  function begin(): Batch {
    setImmediate(flush);
    return createBatch(parts.now());
  }

  function flush(): void {
    const writing = batch;
    if (!writing) return;
    batch = null;
    // All that was to be written may have been refused.
    if (writing.entries.length === 0 && writing.puts.length === 0) return writing.resolve();
    cache.cool();
    const changes = writing.entries.map(toChange);
    try {
      journal.commit(changes, writing.puts);
    } catch (cause) {
      parts.onRefused(writing.entries);
      writing.reject(new Fault("unavailable", "The store cannot write now; nothing was recorded", {}, cause));
      return;
    }
    committedRev = newestRev;
    for (let i = 0; i < changes.length; i++) written(writing.entries[i] as Entry, changes[i] as Change);
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
      arrived: entry.arrived,
      names: entry.names,
      snapshot: entry.rev !== null && wantsSnapshot(entry, task),
      bytes: 0,
    };
  }

  function written(entry: Entry, change: Change): void {
    entry.dirty = false;
    entry.rev = null;
    entry.arrived = null;
    entry.names = NO_NAMES;
    entry.committed = entry.seq;
    entry.visible = change.task;
    if (change.snapshot) entry.snapshotSeq = entry.seq;
    cache.committed(entry, change.bytes);
    if (!parts.isRunning(entry.taskId)) cache.rest(entry);
  }

  return {
    record,
    put,
    flush,
    get pending() {
      return batch?.done ?? null;
    },
    get committedRev() {
      return committedRev;
    },
  };
}

/** What a full log no longer takes; an end, a cancel and a start always have room. */
const isMore = (event: TaskEvent): boolean =>
  event.type === "artifact" ||
  event.type === "usage" ||
  event.type === "noted" ||
  event.type === "incoming" ||
  (event.type === "status" && event.state === "working");

/** A run that was given back keeps its place. */
const hasArrived = (before: Task | null, task: Task | null): boolean =>
  before?.turn !== task?.turn || (task?.status.state === "submitted" && before?.status.state !== "working");

/** Puts the events at the hot end of a log; if the lifecycle refuses one, none of them. */
function extend(entry: Entry, events: readonly TaskEvent[], at: number): void {
  const { task, last, seq } = entry;
  for (const event of events) {
    if (accepts(entry.task, event)) extendByOne(entry, event, at);
    else {
      const refusal = refused(entry.taskId, entry.task, event);
      entry.steps.length -= entry.seq - seq;
      Object.assign(entry, { task, last, seq });
      throw refusal;
    }
  }
}

function extendByOne(entry: Entry, event: TaskEvent, at: number): void {
  const seq = (entry.seq + 1) as Seq;
  // Artifacts move nothing that a writer is checked against: they are folded when somebody looks, or at the commit.
  const lazy = event.type === "artifact";
  if (!lazy) entry.task = apply(entry.last?.task ?? entry.task, { seq, at, event });
  entry.last = new HotStep(seq, at, event, entry.last ?? entry.task, lazy ? null : entry.task);
  entry.steps.push(entry.last);
  entry.seq = seq;
}

/** From here on a log is long: to fold so many events takes about as long as to read the task from a snapshot. */
const LONG = 1_000;

/**
 * At the end, and for long logs when they have doubled, so that all snapshots together cost no more than the log.
 * A short log needs none: to fold a few events costs less than to write the task twice.
 */
function wantsSnapshot(entry: Entry, task: Task): boolean {
  const since = entry.seq - entry.snapshotSeq;
  return since >= (isTerminal(task.status.state) ? LONG : Math.max(LONG, entry.snapshotSeq));
}

function refused(taskId: TaskId, task: Task | null, event: TaskEvent): Fault {
  const state = task?.status.state ?? "not there";
  return new Fault("conflict", `A task that is ${state} takes no ${event.type}`, { taskId });
}
