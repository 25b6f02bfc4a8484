import type { LoopBudget } from "../../lib/loop-budget.ts";
import type { Scope, TaskId } from "../../model/index.ts";
import type { CommitObserver } from "../../ports/index.ts";
import type { RunQuota } from "./run-quota.ts";

/** The dependencies of every store. */
export interface StoreParts {
  /** Event time: never goes back. */
  readonly now: () => number;
  /** The time of day: for expiry, and for times that are stored beside events. */
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  readonly leaseMs: number;
  /** Events of one log in memory. */
  readonly tailEventsMax: number;
  /** Inactive tasks in memory. */
  readonly tailCacheTasksMax: number;
  /** Approximate memory of all cached tasks. */
  readonly tailCacheBytesMax: number;
  /** The events of a log without new events leave memory after this time. */
  readonly tailIdleMs: number;
  readonly runQuota: (scope: Scope) => RunQuota;
  /** Run slots of this process, of which no single tenant or caller gets all; undefined: no such limit. */
  readonly runsShared?: number | undefined;
  /** Shared by all readers of old parts of logs. */
  readonly loop: LoopBudget;
  /** Called once for each task of a commit, after the commit. */
  readonly onCommitted: (taskId: TaskId) => void;
  /** A task became due. */
  readonly onDue: () => void;
  /** A push notification may be due. */
  readonly onPushDue: () => void;
  /** The stored data of a task cannot be read. */
  readonly onDamaged: (taskId: TaskId, error: unknown) => void;
  readonly commits?: CommitObserver | undefined;
}
