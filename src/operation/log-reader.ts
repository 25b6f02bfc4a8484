import type { BatchSource } from "../lib/batch-source.ts";
import { Latch, type Wakeable } from "../lib/latch.ts";
import type { LoopBudget } from "../lib/loop-budget.ts";
import {
  Fault,
  LIMITS,
  reached,
  type Scope,
  type Seq,
  type Step,
  type TaskId,
  type Until,
} from "../model/index.ts";
import type { Bus, Lazy, StepBatch, Steps, Store } from "../ports/index.ts";

export interface TailParts {
  readonly store: Store;
  readonly bus: Bus;
  /** Shared by all readers that catch up. */
  readonly loop: LoopBudget;
}

/** A reader that gets so many events at once catches up, and takes turns with other such readers; live readers never wait. */
const BULK = 64;

/** What is read: whose task, from where, and until when. */
export interface Reading {
  readonly scope: Scope;
  readonly taskId: TaskId;
  readonly after: Seq;
  readonly until: Until;
}

/**
 * The one reader of events: what is committed after a place, then what comes, until there is enough or nobody wants more.
 * A slow caller lags in the log, not in memory.
 */
export const tail = (parts: TailParts, reading: Reading): Steps => new Reader(parts, reading);

/**
 * Reads on as `tail` does, and gives only the last step; undefined: there was none. `signal`: ends the reading, never a
 * run. `is`: when to stop earlier.
 */
export async function lastOf(
  parts: TailParts,
  reading: Reading,
  signal: Lazy<AbortSignal>,
  is: (step: Step) => boolean = () => false,
): Promise<{ readonly step: Step | undefined; readonly enough: boolean }> {
  const reader = new Reader(parts, reading);
  const bell = new Latch();
  const leave = (): void => reader.close();
  let gone: AbortSignal | undefined;
  let step: Step | undefined;
  reader.wakes(bell);
  try {
    while (!reader.isOver) {
      const bunch = await reader.take();
      if (bunch) {
        step = bunch.steps.at(-1) as Step;
        if (is(step)) break;
      } else if (!reader.isOver) {
        // Made when it is needed: whoever is answered at once needs none.
        if (!gone) {
          gone = signal();
          gone.addEventListener("abort", leave, { once: true });
        }
        if (gone.aborted) break;
        await bell.wait();
      }
    }
  } finally {
    gone?.removeEventListener("abort", leave);
    reader.close();
  }
  return { step, enough: reader.enough };
}

class Reader implements BatchSource<StepBatch>, Wakeable {
  readonly #parts: TailParts;
  readonly #reading: Reading;
  #place: Seq;
  #listens = false;
  #sleeper: Wakeable | undefined;
  isOver = false;
  /** The last step that was given ends the reading. */
  enough = false;

  constructor(parts: TailParts, reading: Reading) {
    this.#parts = parts;
    this.#reading = reading;
    this.#place = reading.after;
  }

  async take(): Promise<StepBatch | null> {
    for (let failures = 0; !this.isOver; ) {
      let steps: readonly Step[];
      try {
        steps = await this.#read();
      } catch (error) {
        await this.#bear(error, ++failures);
        continue;
      }
      if (steps.length > 0) {
        const turn = steps.length < BULK ? undefined : this.#parts.loop.take(steps.length);
        if (turn) {
          await turn;
          if (this.isOver) break;
        }
        return { steps: this.#cut(steps), closing: this.enough };
      }
      if (this.#listens || this.isOver) break;
      // Begin to listen before the next look, so that nothing falls between the look and the wait.
      this.#listens = true;
      this.#parts.bus.subscribe(this.#reading.taskId, this);
    }
    return null;
  }

  wakes(sleeper: Wakeable): void {
    this.#sleeper = sleeper;
  }

  wake(): void {
    this.#sleeper?.wake();
  }

  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.#listens) this.#parts.bus.unsubscribe(this.#reading.taskId, this);
    this.wake();
  }

  #read(): Promise<readonly Step[]> {
    const { scope, taskId } = this.#reading;
    return this.#parts.store.log.read(scope, taskId, this.#place, LIMITS.readMax);
  }

  /** A store that cannot be read now, because its database is being restarted, may be a moment later. */
  async #bear(error: unknown, failures: number): Promise<void> {
    const isPassing = error instanceof Fault && error.code === "unavailable";
    if (isPassing && failures < LIMITS.readTriesMax && !this.isOver)
      return new Promise(resolve => void setTimeout(resolve, LIMITS.readRetryMs).unref());
    this.close();
    throw error;
  }

  #cut(steps: readonly Step[]): readonly Step[] {
    const end = steps.findIndex(step => isEnough(step, this.#reading.until));
    this.enough = end !== -1;
    const cut = this.enough && end + 1 < steps.length ? steps.slice(0, end + 1) : steps;
    this.#place = (cut.at(-1) as Step).seq;
    if (this.enough) this.close();
    return cut;
  }
}

/**
 * Whether a reader has enough after this step. An answer to some of several questions leaves the task at rest: there is
 * nothing to wait for either. A snapshot in a log stands for all that was compacted.
 */
export function isEnough(step: Step, until: Until): boolean {
  switch (step.event?.type) {
    case undefined:
    case "status":
    case "reply":
    case "answered":
      return reached(until, step.task.status.state);
    default:
      return false;
  }
}

/** Tells that a reader named a place whose events are gone. */
export const asCompacted = (steps: Steps): Steps => Object.assign(steps, { compacted: true as const });
