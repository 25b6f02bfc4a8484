import { ChurnMap } from "../../lib/churn-map.ts";
import { LIMITS, type Scope, sizeOf, type TaskId, taskSize } from "../../model/index.ts";
import type { Journal } from "./backend.ts";
import { belongsTo, createEntry, type Entry, trim } from "./entry.ts";

export interface CacheParts {
  readonly journal: Journal;
  readonly hotEventsMax: number;
  readonly hotTasksMax: number;
  readonly hotBytesMax: number;
}

/**
 * The tasks in memory. Those that are being written or run stay. Of the others those that somebody asked for stay for a
 * while, the longest unused are let go first; all the rest go as soon as those who waited for them have read them, for most
 * are never asked for again, and to keep them would cost more than to read a few once more.
 */
export interface Cache {
  /** From memory or from the journal; null: not there for this scope. */
  find(scope: Scope, taskId: TaskId): Entry | null;
  /** The same for somebody who may ask again. */
  want(scope: Scope, taskId: TaskId): Entry | null;
  /** From memory only, whoever asks. */
  peek(taskId: TaskId): Entry | undefined;
  /** The entry is in use: it is not let go. */
  hold(entry: Entry): void;
  /** The entry was committed, with so many bytes. */
  committed(entry: Entry, bytes: number): void;
  /** Nothing more is going on with the entry for now. */
  rest(entry: Entry): void;
  /** What settled before the last commit has been read by whoever waited for it. */
  cool(): void;
  /** Looks at all logs, and lets go of the hot ends of those that have fallen silent: whoever reads along has read them. */
  hush(): void;
  forget(entry: Entry): void;
}

/** The more was said, the longer its readers take: so many steps are read between two looks at a silent log. */
const STEPS_PER_LOOK = 16;

/** Roughly what an entry weighs without its steps and what was said in it. */
const BARE_BYTES = 2_000;

function weightOf({ visible }: Entry): number {
  return visible ? BARE_BYTES + taskSize(visible, WHOLE) + sizeOf(visible.reply) : BARE_BYTES;
}
const WHOLE = { artifacts: true } as const;

export function createCache(parts: CacheParts): Cache {
  const { journal } = parts;
  const entries = new ChurnMap<TaskId, Entry>();
  /** Those that may be let go, the longest unused first. */
  const resting = new ChurnMap<TaskId, Entry>();
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
    entry.rests = entry.wanted = true;
    entries.set(taskId, entry);
    weigh(entry, weightOf(entry));
    makeRoom(entry);
    return entry;
  }

  function weigh(entry: Entry, weight: number): void {
    bytes += weight - entry.bytes;
    entry.bytes = weight;
  }

  function strip(entry: Entry): void {
    entry.steps = [];
    entry.last = null;
    weigh(entry, weightOf(entry));
  }

  function quieten(entry: Entry): void {
    if (entry.steps.length === 0 || entry.dirty) return;
    if (entry.heard !== entry.committed) entry.looks = 0;
    entry.heard = entry.committed;
    if (entry.looks++ * STEPS_PER_LOOK >= entry.steps.length) strip(entry);
  }

  function makeRoom(newest: Entry): void {
    resting.set(newest.taskId, newest);
    while (resting.size > parts.hotTasksMax || bytes > parts.hotBytesMax) {
      const oldest = resting.first();
      if (!oldest || oldest === newest) return;
      forget(oldest);
    }
  }

  function forget(entry: Entry): void {
    entries.delete(entry.taskId);
    resting.delete(entry.taskId);
    bytes -= entry.bytes;
  }

  function find(scope: Scope, taskId: TaskId): Entry | null {
    const entry = entries.get(taskId) ?? load(taskId);
    if (!entry || !belongsTo(entry, scope)) return null;
    if (entry.rests && resting.delete(taskId)) resting.set(taskId, entry);
    return entry;
  }

  return {
    find,
    want(scope, taskId) {
      const entry = find(scope, taskId);
      if (entry) entry.wanted = true;
      return entry;
    },
    peek: taskId => entries.get(taskId),
    hold(entry) {
      entries.set(entry.taskId, entry);
      if (entry.rests) resting.delete(entry.taskId);
      entry.rests = false;
    },
    committed(entry, written) {
      weigh(entry, entry.bytes + written);
      const count = entry.steps.length;
      if (trim(entry, parts.hotEventsMax, LIMITS.hotLogBytesMax))
        weigh(entry, Math.ceil((entry.bytes * entry.steps.length) / count));
    },
    rest(entry) {
      entry.rests = true;
      cooling.push(entry);
    },
    cool() {
      for (const entry of cooling) {
        if (!entry.rests || entries.get(entry.taskId) !== entry) continue;
        if (!entry.wanted) {
          forget(entry);
          continue;
        }
        strip(entry);
        makeRoom(entry);
      }
      cooling = [];
    },
    hush: () => entries.forEach(quieten),
    forget,
  };
}
