import type { BatchSource } from "../lib/batch-source.ts";
import { Latch, type Wakeable } from "../lib/latch.ts";
import type { LoopBudget } from "../lib/loop-budget.ts";
import {
  Fault,
  isReached,
  LIMITS,
  type Scope,
  type Seq,
  type Step,
  type TaskId,
  type Until,
} from "../model/index.ts";
import type { Bus, Lazy, StepBatch, Store } from "../ports/index.ts";

export interface LogReaderParts {
  readonly store: Store;
  readonly bus: Bus;
  /** Shared by all readers that catch up. */
  readonly loop: LoopBudget;
}

/** A reader that gets so many events at once is catching up, and shares the loop budget; live readers never wait. */
const CATCH_UP_EVENTS = 64;

export interface LogRange {
  readonly scope: Scope;
  readonly taskId: TaskId;
  readonly after: Seq;
  readonly until: Until;
}

/** `signal`, or the end of so many milliseconds. */
export const withTimeout = (signal: Lazy<AbortSignal>, ms: number): Lazy<AbortSignal> => {
  return () => AbortSignal.any([signal(), AbortSignal.timeout(ms)]);
};

/**
 * Reads on until the range ends, and returns only the last step; undefined: there was none. `signal` ends the reading, never
 * a run. `isMatch` ends it earlier.
 */
export async function readUntil(
  parts: LogReaderParts,
  range: LogRange,
  signal: Lazy<AbortSignal>,
  isMatch: (step: Step) => boolean = () => false,
): Promise<{ readonly step: Step | undefined; readonly isFinal: boolean }> {
  const reader = new LogReader(parts, range);
  const latch = new Latch();
  const close = (): void => reader.close();
  let abort: AbortSignal | undefined;
  let step: Step | undefined;
  reader.setListener(latch);
  try {
    while (!reader.isOver) {
      const batch = await reader.take();
      if (batch) {
        step = batch.steps.at(-1) as Step;
        if (isMatch(step)) break;
      } else if (!reader.isOver) {
        // Created on the first wait: a call that is answered at once needs none.
        if (!abort) {
          abort = signal();
          abort.addEventListener("abort", close, { once: true });
        }
        if (abort.aborted) break;
        await latch.wait();
      }
    }
  } finally {
    abort?.removeEventListener("abort", close);
    reader.close();
  }
  return { step, isFinal: reader.isFinal };
}

/**
 * The only reader of logs: the committed events of a range, then new ones as they are committed. A slow caller lags in the
 * log, not in memory.
 */
export class LogReader implements BatchSource<StepBatch>, Wakeable {
  readonly #parts: LogReaderParts;
  readonly #range: LogRange;
  #after: Seq;
  #isSubscribed = false;
  #listener: Wakeable | undefined;
  isOver = false;
  /** The last step ends the range. */
  isFinal = false;
  /** The events after the one that the reader named were deleted. */
  readonly compacted?: true;

  constructor(parts: LogReaderParts, range: LogRange, isCompacted = false) {
    this.#parts = parts;
    this.#range = range;
    this.#after = range.after;
    if (isCompacted) this.compacted = true;
  }

  async take(): Promise<StepBatch | null> {
    for (let failures = 0; !this.isOver; ) {
      let steps: readonly Step[];
      try {
        const { scope, taskId } = this.#range;
        steps = await this.#parts.store.log.read(scope, taskId, this.#after, LIMITS.readMax);
      } catch (error) {
        await this.#waitOrThrow(error, ++failures);
        continue;
      }
      if (steps.length > 0) {
        const budget = steps.length < CATCH_UP_EVENTS ? undefined : this.#parts.loop.take(steps.length);
        if (budget) {
          await budget;
          if (this.isOver) break;
        }
        return { steps: this.#cut(steps), closing: this.isFinal };
      }
      if (this.#isSubscribed || this.isOver) break;
      // Subscribe before the next read, so that no event is missed between the read and the wait.
      this.#isSubscribed = true;
      this.#parts.bus.subscribe(this.#range.taskId, this);
    }
    return null;
  }

  setListener(listener: Wakeable): void {
    this.#listener = listener;
  }

  wake(): void {
    this.#listener?.wake();
  }

  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.#isSubscribed) this.#parts.bus.unsubscribe(this.#range.taskId, this);
    this.wake();
  }

  /** A store may be unavailable for a moment, while its database restarts. */
  async #waitOrThrow(error: unknown, failures: number): Promise<void> {
    const isTransient = error instanceof Fault && error.code === "unavailable";
    if (isTransient && failures < LIMITS.readTriesMax && !this.isOver)
      return new Promise(resolve => void setTimeout(resolve, LIMITS.readRetryMs).unref());
    this.close();
    throw error;
  }

  #cut(steps: readonly Step[]): readonly Step[] {
    const end = steps.findIndex(step => isFinal(step, this.#range.until));
    this.isFinal = end !== -1;
    const cut = this.isFinal && end + 1 < steps.length ? steps.slice(0, end + 1) : steps;
    this.#after = (cut.at(-1) as Step).seq;
    if (this.isFinal) this.close();
    return cut;
  }
}

/**
 * Whether a reader ends after this step. An answer to some of several questions leaves the task settled: there is nothing to
 * wait for either. A snapshot in a log stands for all compacted events.
 */
export function isFinal(step: Step, until: Until): boolean {
  switch (step.event?.type) {
    case undefined:
    case "status":
    case "reply":
    case "answered":
      return isReached(until, step.task.status.state);
    default:
      return false;
  }
}
