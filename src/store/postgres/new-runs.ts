import {
  applyAll,
  BEGINNING,
  type RecordedEvent,
  type Scope,
  type Seq,
  type Task,
  type TaskEvent,
} from "../../model/index.ts";
import type { AppendCondition, Run, RunStarter } from "../../ports/index.ts";
import { findNames } from "../kernel/caller-names.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import type { RunAllowance, RunLimits } from "./run-limits.ts";

export interface NewRunsParts extends Pick<StoreParts, "now" | "ticks" | "runQuota"> {
  readonly limits: RunLimits;
}

/** After a failed commit, no run begins before its task is recorded for this long. */
const PAUSE_MS = 1_000;

export const STARTED: TaskEvent = { type: "started", attempt: 1 };

/**
 * Begins runs of new tasks before their first commit: the task, the start and the first output are one statement. Only
 * where no other task and no other node can have a say in it: see docs/decisions/0028.
 */
export class NewRuns {
  readonly #parts: NewRunsParts;
  #starter: RunStarter | undefined;
  /** The shares of callers, counted once in a turn of the event loop. */
  #allowance: RunAllowance | undefined;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: NewRunsParts) {
    this.#parts = parts;
  }

  setStarter(starter: RunStarter): void {
    this.#starter = starter;
  }

  /** A commit has failed: agents must not work for tasks that cannot be recorded. */
  pause(): void {
    this.#pausedUntil = this.#parts.ticks() + PAUSE_MS;
  }

  /** The run of the task that these events create; undefined: the task has to wait in the queue. */
  take(scope: Scope, events: readonly TaskEvent[], condition: AppendCondition): Run | undefined {
    const [created] = events;
    const starter = this.#starter;
    if (!starter || created?.type !== "created" || !isUncontested(created, condition)) return undefined;
    // The name of a call is checked by the commit: the same call on two nodes would begin two runs.
    if (findNames(events, 1).length > 0) return undefined;
    if (this.#parts.ticks() < this.#pausedUntil || !starter.accepts(created.agent)) return undefined;
    if (!this.#isWithinLimits(starter, scope)) return undefined;
    const at = this.#parts.now();
    const recorded = [...events, STARTED].map(
      (event, i): RecordedEvent => ({ seq: (i + 1) as Seq, at, event }),
    );
    const task = applyAll(null, recorded) as Task;
    return { scope, worker: starter.worker, attempt: 1, afterCrash: false, dueAt: at, task };
  }

  start(run: Run, recorded: Promise<void>): void {
    this.#starter?.start(run, recorded);
  }

  /** Quotas are counted in the database. Shares are those of this node; a caller whose tasks wait for its share waits, too. */
  #isWithinLimits(starter: RunStarter, scope: Scope): boolean {
    const { limits, runQuota } = this.#parts;
    const { tenant, caller } = runQuota(scope);
    if (Number.isFinite(tenant) || Number.isFinite(caller) || limits.stalls.has(scope)) return false;
    if (!limits.hasShares) return true;
    this.#allowance ??= this.#countRuns(starter);
    return this.#allowance.findLimit(scope) === undefined && this.#allowance.take(scope);
  }

  #countRuns(starter: RunStarter): RunAllowance {
    setImmediate(() => (this.#allowance = undefined));
    return this.#parts.limits.createAllowance(undefined, starter.running()) as RunAllowance;
  }
}

/** No other task can come before it: no call knows its context yet, or tasks of its context do not wait for each other. */
function isUncontested(created: TaskEvent & { type: "created" }, condition: AppendCondition): boolean {
  if (!("after" in condition) || condition.after !== BEGINNING || condition.free) return false;
  return condition.opensContext === true || created.alone === true;
}
