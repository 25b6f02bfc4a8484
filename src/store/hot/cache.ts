import { LIMITS, type Scope, type TaskId } from "../../model/index.ts";
import { belongsTo, createEntry, type Entry, trim } from "./entry.ts";
import type { Journal } from "./journal.ts";

export interface CacheParts {
  readonly journal: Journal;
  readonly hotEventsMax: number;
  readonly hotTasksMax: number;
  readonly hotBytesMax: number;
}

/** The tasks in memory. Those that are being written or run stay; of the others, the longest unused are let go. */
export interface Cache {
  /** From memory or from the journal; null: not there for this scope. */
  find(scope: Scope, taskId: TaskId): Entry | null;
  /** From memory only, whoever asks. */
  peek(taskId: TaskId): Entry | undefined;
  /** The entry is in use: it is not let go. */
  hold(entry: Entry): void;
  /** The entry was committed, with so many bytes. */
  committed(entry: Entry, bytes: number): void;
  /** Nothing more is going on with the entry for now. */
  rest(entry: Entry): void;
  /** What settled before the last commit has been read by whoever waited for it: its steps can go, its task stays. */
  cool(): void;
  forget(entry: Entry): void;
}

/** Roughly what a settled task weighs without its steps. */
const RESTING_BYTES = 2_000;

export function createCache(parts: CacheParts): Cache {
  const { journal } = parts;
  const entries = new Map<TaskId, Entry>();
  /** Those that may be let go, the longest unused first. */
  const resting = new Map<TaskId, Entry>();
  let cooling: Entry[] = [];
  let bytes = 0;

  function load(taskId: TaskId): Entry | null {
    const loaded = journal.load(taskId);
    if (!loaded) return null;
    const entry = createEntry(taskId, loaded.scope);
    entry.task = entry.visible = loaded.task;
    entry.seq = entry.committed = loaded.seq;
    entry.snapshotSeq = loaded.snapshotSeq;
    entry.since = loaded.since;
    entries.set(taskId, entry);
    weigh(entry, loaded.bytes);
    makeRoom(entry);
    return entry;
  }

  function weigh(entry: Entry, weight: number): void {
    bytes += weight - entry.bytes;
    entry.bytes = weight;
  }

  function makeRoom(newest: Entry): void {
    resting.set(newest.taskId, newest);
    for (const old of resting.values()) {
      if (resting.size <= parts.hotTasksMax && bytes <= parts.hotBytesMax) return;
      if (old !== newest) forget(old);
    }
  }

  function forget(entry: Entry): void {
    entries.delete(entry.taskId);
    resting.delete(entry.taskId);
    bytes -= entry.bytes;
  }

  return {
    find(scope, taskId) {
      const entry = entries.get(taskId) ?? load(taskId);
      if (!entry || !belongsTo(entry, scope)) return null;
      if (resting.delete(taskId)) resting.set(taskId, entry);
      return entry;
    },
    peek: taskId => entries.get(taskId),
    hold(entry) {
      entries.set(entry.taskId, entry);
      resting.delete(entry.taskId);
    },
    committed(entry, written) {
      weigh(entry, entry.bytes + written);
      const count = entry.steps.length;
      if (trim(entry, parts.hotEventsMax, LIMITS.hotLogBytesMax))
        weigh(entry, Math.ceil((entry.bytes * entry.steps.length) / count));
    },
    rest(entry) {
      makeRoom(entry);
      cooling.push(entry);
    },
    cool() {
      for (const entry of cooling) {
        if (resting.get(entry.taskId) !== entry) continue;
        entry.steps = [];
        entry.last = null;
        weigh(entry, RESTING_BYTES);
      }
      cooling = [];
    },
    forget,
  };
}
