import { ChurnMap } from "../../lib/churn-map.ts";
import { LIMITS, type Scope, sizeOf, type TaskId, taskSize } from "../../model/index.ts";
import type { Backend } from "./backend.ts";
import { belongsTo, createTaskEntry, type TaskEntry } from "./task-entry.ts";

export interface TailCacheParts {
  readonly backend: Backend;
  readonly tailEventsMax: number;
  readonly tailCacheTasksMax: number;
  readonly tailCacheBytesMax: number;
}

/** Long tails take longer to be read by all streams: a tail is kept for one check per this many events. */
const EVENTS_PER_CHECK = 16;

/** Approximate memory of an entry without its steps and without the content of its task. */
const BARE_BYTES = 2_000;

function sizeWithoutSteps({ commit: { task } }: TaskEntry): number {
  return task ? BARE_BYTES + taskSize(task, WITH_ARTIFACTS) + sizeOf(task.reply) : BARE_BYTES;
}
const WITH_ARTIFACTS = { artifacts: true } as const;

/**
 * The tasks in memory. Tasks that are being written or running are pinned. Of the others, those that a caller read by id
 * stay until the least recently used are evicted. The rest leave with the commit after they were unpinned: most are never
 * read again, and caching them costs more than reading a few a second time.
 */
export function createTailCache(parts: TailCacheParts) {
  const { backend } = parts;
  const entries = new ChurnMap<TaskId, TaskEntry>();
  /** Entries that can be evicted, the least recently used first. */
  const evictable = new ChurnMap<TaskId, TaskEntry>();
  let unpinned: TaskEntry[] = [];
  let bytes = 0;

  function load(taskId: TaskId): TaskEntry | null {
    const loaded = backend.load(taskId);
    if (!loaded) return null;
    const entry = createTaskEntry(taskId, loaded.scope);
    const { tail, commit, cache } = entry;
    tail.task = commit.task = loaded.task;
    tail.seq = commit.seq = loaded.seq;
    commit.snapshotSeq = loaded.snapshotSeq;
    commit.since = loaded.since;
    cache.isIdle = cache.isRequested = true;
    entries.set(taskId, entry);
    resize(entry, sizeWithoutSteps(entry));
    evictFor(entry);
    return entry;
  }

  function resize({ cache }: TaskEntry, size: number): void {
    bytes += size - cache.bytes;
    cache.bytes = size;
  }

  function dropTail(entry: TaskEntry): void {
    entry.tail.steps = [];
    entry.tail.last = null;
    resize(entry, sizeWithoutSteps(entry));
  }

  function dropIfIdle(entry: TaskEntry): void {
    const { tail, commit, cache } = entry;
    if (tail.steps.length === 0 || commit.isPending) return;
    if (cache.checkedSeq !== commit.seq) cache.checks = 0;
    cache.checkedSeq = commit.seq;
    if (cache.checks++ * EVENTS_PER_CHECK >= tail.steps.length) dropTail(entry);
  }

  /** Makes room for an entry by evicting the least recently used ones. */
  function evictFor(newest: TaskEntry): void {
    evictable.set(newest.taskId, newest);
    while (evictable.size > parts.tailCacheTasksMax || bytes > parts.tailCacheBytesMax) {
      const oldest = evictable.first();
      if (!oldest || oldest === newest) return;
      remove(oldest);
    }
  }

  function remove(entry: TaskEntry): void {
    entries.delete(entry.taskId);
    evictable.delete(entry.taskId);
    bytes -= entry.cache.bytes;
  }

  /** From memory or from the backend; null: not found for this scope. */
  function find(scope: Scope, taskId: TaskId): TaskEntry | null {
    const entry = entries.get(taskId) ?? load(taskId);
    if (!entry || !belongsTo(entry, scope)) return null;
    if (entry.cache.isIdle && evictable.delete(taskId)) evictable.set(taskId, entry);
    return entry;
  }

  const isTooLarge = ({ tail, cache }: TaskEntry): boolean =>
    tail.steps.length > parts.tailEventsMax || cache.bytes > LIMITS.tailBytesMax;

  return {
    find,
    /** As `find`, for a caller that may read the task again. */
    findAndKeep(scope: Scope, taskId: TaskId): TaskEntry | null {
      const entry = find(scope, taskId);
      if (entry) entry.cache.isRequested = true;
      return entry;
    },
    /** From memory only, in any scope. */
    peek: (taskId: TaskId): TaskEntry | undefined => entries.get(taskId),
    /** The entry is in use and stays in memory. */
    pin(entry: TaskEntry): void {
      entries.set(entry.taskId, entry);
      if (entry.cache.isIdle) evictable.delete(entry.taskId);
      entry.cache.isIdle = false;
    },
    /** `written`: the approximate memory of the committed events; `count`: their number. */
    onCommitted(entry: TaskEntry, written: number, count: number): void {
      const { tail, cache } = entry;
      resize(entry, cache.bytes + written);
      const { length } = tail.steps;
      // The older half is dropped, but no event of this commit: streams that follow the log have read the others, and slower
      // readers go to the backend. An event that stays for long costs a full garbage collection (docs/decisions/0043).
      const kept = isTooLarge(entry) ? length >> 1 : Math.max(length >> 1, count);
      if (kept === length || length <= 1) return;
      tail.steps = tail.steps.slice(-kept);
      resize(entry, Math.ceil((cache.bytes * tail.steps.length) / length));
    },
    /** The task is neither written nor running for now. */
    unpin(entry: TaskEntry): void {
      entry.cache.isIdle = true;
      unpinned.push(entry);
    },
    /** Evicts entries that were unpinned before the last commit: streams that waited for them have read them. */
    evictUnpinned(): void {
      for (const entry of unpinned) {
        if (!entry.cache.isIdle || entries.get(entry.taskId) !== entry) continue;
        if (!entry.cache.isRequested) {
          remove(entry);
          continue;
        }
        dropTail(entry);
        evictFor(entry);
      }
      unpinned = [];
    },
    /** Drops the events of logs without new events: streams that follow them have read them. */
    evictIdleTails: (): void => entries.forEach(dropIfIdle),
    remove,
  };
}

export type TailCache = ReturnType<typeof createTailCache>;
