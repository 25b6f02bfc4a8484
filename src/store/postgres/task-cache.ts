import { ChurnMap } from "../../lib/churn-map.ts";
import {
  applyAll,
  LIMITS,
  type RecordedEvent,
  type Scope,
  type Seq,
  type Step,
  type Task,
  type TaskId,
} from "../../model/index.ts";
import { HotStep } from "../kernel/log-step.ts";
import { fewer } from "../single-node/entry.ts";

/** What this node knows of a task: how it stands, and the newest events. Others may have written since. */
export interface Known {
  readonly taskId: TaskId;
  readonly key: number;
  readonly scope: Scope;
  /** After event `seq`. */
  task: Task;
  seq: number;
  /** Events up to this one are no longer kept. */
  since: number;
  snapshotSeq: number;
  /** The newest events, without gaps, up to `seq`. */
  steps: HotStep[];
  /** What it weighs in memory, roughly. */
  bytes: number;
  /** Somebody may have written since it was looked at. */
  stale: boolean;
}

/** Puts what others wrote behind what is known. */
export function extend(known: Known, events: readonly RecordedEvent[]): void {
  for (const { seq, at, event } of events) {
    if (seq <= known.seq) continue;
    known.steps.push(new HotStep(seq, at, event, known.steps.at(-1) ?? known.task, null));
    known.seq = seq;
  }
  const last = known.steps.at(-1);
  if (last?.seq === known.seq) known.task = last.task;
}

/** Puts what this node wrote behind what is known; what was read meanwhile may have it already. */
export function extendByOwn(known: Known, steps: readonly HotStep[]): void {
  const news = steps.filter(step => step.seq > known.seq);
  const [first] = news;
  if (!first) return;
  if (first.seq !== known.seq + 1) {
    known.stale = true;
    return;
  }
  known.steps.push(...news);
  const last = news.at(-1) as HotStep;
  known.task = last.task;
  known.seq = last.seq;
}

/** The steps after a place, if all of them are known. */
export function stepsAfter(known: Known, after: Seq, max: number): readonly Step[] | null {
  if (after >= known.seq) return [];
  const first = known.steps[0]?.seq;
  if (first === undefined || first > after + 1) return null;
  const from = after + 1 - first;
  return known.steps.slice(from, from + fewer(max, known.bytes, known.steps.length));
}

export function fold(base: Task | null, events: readonly RecordedEvent[]): Task {
  return applyAll(base, events) as Task;
}

export interface MemoryParts {
  readonly hotTasksMax: number;
  readonly hotEventsMax: number;
  readonly hotBytesMax: number;
}

/** Somebody looks at tasks in the database; what other nodes write meanwhile may not be in what he sees. */
export interface Watch {
  isDoubted(taskId: TaskId): boolean;
  end(): void;
}

interface Watched {
  watches: number;
  doubts: number;
}

/** The tasks that this node knows; the longest unused are let go. */
export class Memory {
  readonly #parts: MemoryParts;
  readonly #tasks = new ChurnMap<TaskId, Known>();
  /** Tasks that are being looked at. */
  readonly #watched = new ChurnMap<TaskId, Watched>();
  /** Tasks that ended in the newest commit. */
  #ended: TaskId[] = [];
  #bytes = 0;

  constructor(parts: MemoryParts) {
    this.#parts = parts;
  }

  find(taskId: TaskId): Known | undefined {
    const known = this.#tasks.get(taskId);
    if (known) {
      this.#tasks.delete(taskId);
      this.#tasks.set(taskId, known);
    }
    return known;
  }

  /** `bytes`: so much was added to it. */
  keep(known: Known, bytes: number): void {
    this.forget(known.taskId);
    known.bytes += bytes;
    this.#trim(known);
    this.#tasks.set(known.taskId, known);
    this.#bytes += known.bytes;
    while (this.#tasks.size > this.#parts.hotTasksMax || this.#bytes > this.#parts.hotBytesMax) {
      const oldest = this.#tasks.first();
      if (!oldest || oldest === known) return;
      this.forget(oldest.taskId);
    }
  }

  /** The older half of them goes at once: to cut a list at its beginning costs as much as the rest is long. */
  #trim(known: Known): void {
    const { steps } = known;
    if (steps.length <= this.#parts.hotEventsMax && known.bytes <= LIMITS.hotLogBytesMax) return;
    known.steps = steps.slice(Math.ceil(steps.length / 2));
    known.bytes = Math.ceil(known.bytes / 2);
  }

  /** Somebody else may have written. */
  doubt(taskId: TaskId): void {
    const known = this.#tasks.get(taskId);
    if (known) known.stale = true;
    const watched = this.#watched.get(taskId);
    if (watched) watched.doubts += 1;
  }

  doubtAll(): void {
    for (const known of this.#tasks.values()) known.stale = true;
    for (const watched of this.#watched.values()) watched.doubts += 1;
  }

  forget(taskId: TaskId): void {
    this.#bytes -= this.#tasks.get(taskId)?.bytes ?? 0;
    this.#tasks.delete(taskId);
  }

  /**
   * Called after each commit, with the tasks that ended in it. Those that ended in the commit before are forgotten: their
   * readers have read them meanwhile, and later readers are rare. A task that stayed would move to V8's old generation and
   * cost a full collection.
   */
  ended(taskIds: TaskId[]): void {
    for (const taskId of this.#ended) this.forget(taskId);
    this.#ended = taskIds;
  }

  /** To be begun before the database is asked, and ended when what it said is kept. */
  watch(taskIds: readonly TaskId[]): Watch {
    const before = new Map(taskIds.map(taskId => [taskId, this.#beginWatch(taskId)]));
    return {
      isDoubted: taskId => this.#watched.get(taskId)?.doubts !== before.get(taskId),
      end: () => {
        for (const taskId of before.keys()) this.#endWatch(taskId);
      },
    };
  }

  #beginWatch(taskId: TaskId): number {
    const watched = this.#watched.get(taskId) ?? { watches: 0, doubts: 0 };
    watched.watches += 1;
    this.#watched.set(taskId, watched);
    return watched.doubts;
  }

  #endWatch(taskId: TaskId): void {
    const watched = this.#watched.get(taskId);
    if (watched && --watched.watches === 0) this.#watched.delete(taskId);
  }
}
