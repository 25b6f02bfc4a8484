import { ChurnMap } from "../../lib/churn-map.ts";
import {
  LIMITS,
  type RecordedEvent,
  type Scope,
  type Seq,
  type Step,
  type Task,
  type TaskId,
} from "../../model/index.ts";
import { LogStep } from "../kernel/log-step.ts";
import { limitByBytes } from "../kernel/log-tail.ts";
import type { StoreParts } from "../kernel/store-parts.ts";

/** A task as this node last saw it, with its newest events. Other nodes may have written since. */
export interface CachedTask {
  readonly taskId: TaskId;
  readonly key: number;
  readonly scope: Scope;
  /** After event `seq`. */
  task: Task;
  seq: number;
  /** Events up to this one were compacted and are gone. */
  compactedSeq: number;
  snapshotSeq: number;
  /** The newest events, without gaps, up to `seq`. */
  steps: LogStep[];
  /** Approximate size in memory. */
  bytes: number;
  /** Another node may have written since the task was read. */
  isStale: boolean;
}

/** Adds events that were read from the database. */
export function appendRead(cached: CachedTask, events: readonly RecordedEvent[]): void {
  for (const { seq, at, event } of events) {
    if (seq <= cached.seq) continue;
    cached.steps.push(new LogStep(seq, at, event, cached.steps.at(-1) ?? cached.task, null));
    cached.seq = seq;
  }
  const last = cached.steps.at(-1);
  if (last?.seq === cached.seq) cached.task = last.task;
}

/** Adds steps that this node has committed; a read may have added some of them before the commit was acknowledged. */
export function appendWritten(cached: CachedTask, steps: readonly LogStep[]): void {
  const added = steps.filter(step => step.seq > cached.seq);
  const [first] = added;
  if (!first) return;
  // After a gap the steps are not added: the task is read again.
  if (first.seq !== cached.seq + 1) {
    cached.isStale = true;
    return;
  }
  cached.steps.push(...added);
  const last = added.at(-1) as LogStep;
  cached.task = last.task;
  cached.seq = last.seq;
}

/** The cached steps after `after`; null: some of them are not cached. */
export function stepsAfter(cached: CachedTask, after: Seq, max: number): readonly Step[] | null {
  if (after >= cached.seq) return [];
  const first = cached.steps[0]?.seq;
  if (first === undefined || first > after + 1) return null;
  const from = after + 1 - first;
  return cached.steps.slice(from, from + limitByBytes(max, cached.bytes, cached.steps.length));
}

export type TaskCacheParts = Pick<StoreParts, "tailCacheTasksMax" | "tailEventsMax" | "tailCacheBytesMax">;

/**
 * Tells whether tasks were invalidated while the database was being read or written: the result may then lack events of
 * other nodes.
 */
export interface InvalidationWatch {
  isInvalidated(taskId: TaskId): boolean;
  end(): void;
}

interface WatchedTask {
  watches: number;
  invalidations: number;
}

/** The responses to two commits may arrive together, before a reader has run. */
const UNREAD_COMMITS = 2;

/** The tasks that this node has seen last; the least recently used are evicted. */
export class TaskCache {
  readonly #parts: TaskCacheParts;
  readonly #tasks = new ChurnMap<TaskId, CachedTask>();
  readonly #watched = new ChurnMap<TaskId, WatchedTask>();
  /** Tasks that ended in the newest commits. */
  readonly #ended: TaskId[][] = [];
  #bytes = 0;

  constructor(parts: TaskCacheParts) {
    this.#parts = parts;
  }

  find(taskId: TaskId): CachedTask | undefined {
    const cached = this.#tasks.get(taskId);
    if (cached) {
      this.#tasks.delete(taskId);
      this.#tasks.set(taskId, cached);
    }
    return cached;
  }

  /** `addedBytes`: by how much the task has grown. */
  put(cached: CachedTask, addedBytes: number): void {
    this.evict(cached.taskId);
    cached.bytes += addedBytes;
    this.#trim(cached);
    this.#tasks.set(cached.taskId, cached);
    this.#bytes += cached.bytes;
    while (this.#tasks.size > this.#parts.tailCacheTasksMax || this.#bytes > this.#parts.tailCacheBytesMax) {
      const oldest = this.#tasks.first();
      if (!oldest || oldest === cached) return;
      this.evict(oldest.taskId);
    }
  }

  /** Drops the older half at once: dropping single steps at the front costs as much as the rest is long. */
  #trim(cached: CachedTask): void {
    const { steps } = cached;
    if (steps.length <= this.#parts.tailEventsMax && cached.bytes <= LIMITS.tailBytesMax) return;
    cached.steps = steps.slice(Math.ceil(steps.length / 2));
    cached.bytes = Math.ceil(cached.bytes / 2);
  }

  /** Another node may have written to the task. */
  invalidate(taskId: TaskId): void {
    const cached = this.#tasks.get(taskId);
    if (cached) cached.isStale = true;
    const watched = this.#watched.get(taskId);
    if (watched) watched.invalidations += 1;
  }

  invalidateAll(): void {
    for (const cached of this.#tasks.values()) cached.isStale = true;
    for (const watched of this.#watched.values()) watched.invalidations += 1;
  }

  evict(taskId: TaskId): void {
    this.#bytes -= this.#tasks.get(taskId)?.bytes ?? 0;
    this.#tasks.delete(taskId);
  }

  /**
   * Called after each commit with the tasks that ended in it; evicts those that ended some commits before. Their readers have
   * read them meanwhile, and later readers are rare. A task that stayed would move to V8's old generation and cost a full
   * garbage collection.
   */
  evictEnded(taskIds: TaskId[]): void {
    this.#ended.push(taskIds);
    if (this.#ended.length <= UNREAD_COMMITS) return;
    for (const taskId of this.#ended.shift() as TaskId[]) this.evict(taskId);
  }

  /** To be started before the query and ended after the result is in the cache. */
  watch(taskIds: readonly TaskId[]): InvalidationWatch {
    const before = new Map(taskIds.map(taskId => [taskId, this.#startWatch(taskId)]));
    return {
      isInvalidated: taskId => this.#watched.get(taskId)?.invalidations !== before.get(taskId),
      end: () => {
        for (const taskId of before.keys()) {
          const watched = this.#watched.get(taskId);
          if (watched && --watched.watches === 0) this.#watched.delete(taskId);
        }
      },
    };
  }

  #startWatch(taskId: TaskId): number {
    const watched = this.#watched.get(taskId) ?? { watches: 0, invalidations: 0 };
    watched.watches += 1;
    this.#watched.set(taskId, watched);
    return watched.invalidations;
  }
}
