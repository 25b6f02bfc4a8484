import {
  Bell,
  Fault,
  LIMITS,
  reached,
  type Scope,
  type Seq,
  type Step,
  type TaskId,
  type Until,
} from "../model/index.ts";
import type { Bus, Lazy, Steps, Store } from "../ports.ts";

export interface TailParts {
  readonly store: Store;
  readonly bus: Bus;
}

/** What is read: whose task, from where, and until when. */
export interface Reading {
  readonly scope: Scope;
  readonly taskId: TaskId;
  readonly after: Seq;
  readonly until: Until;
  /** Ends the reading, never a run. */
  readonly signal: Lazy<AbortSignal>;
}

/**
 * The one reader of events: what is committed after a place, then what comes, until there is enough or the caller is
 * gone. A slow caller lags in the log, not in memory.
 */
export const tail = (parts: TailParts, reading: Reading): Steps => new Reader(parts, reading);

/** Reads on as `tail` does, and gives only the last step; undefined: there was none. `is`: when to stop earlier. */
export async function lastOf(
  parts: TailParts,
  reading: Reading,
  is: (step: Step) => boolean = () => false,
): Promise<{ readonly step: Step | undefined; readonly enough: boolean }> {
  const reader = new Reader(parts, reading);
  let step: Step | undefined;
  try {
    for (let read = await reader.next(); !read.done; read = await reader.next()) {
      step = read.value.steps.at(-1) as Step;
      if (is(step)) break;
    }
  } finally {
    reader.close();
  }
  return { step, enough: reader.enough };
}

/** An object and not a generator: what stands between an open stream and its log costs memory as long as it is open. */
class Reader implements AsyncIterableIterator<Bunch, undefined> {
  readonly #parts: TailParts;
  readonly #reading: Reading;
  #place: Seq;
  #ear: Ear | undefined;
  #over = false;
  /** The last step that was given ends the reading. */
  enough = false;

  constructor(parts: TailParts, reading: Reading) {
    this.#parts = parts;
    this.#reading = reading;
    this.#place = reading.after;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** All that is there, at least one step; done: that was all, or the caller is gone. */
  async next(): Promise<IteratorResult<Bunch, undefined>> {
    for (let failures = 0; !this.enough && !this.#over; ) {
      let steps: readonly Step[];
      try {
        steps = await this.#read();
      } catch (error) {
        await this.#bear(error, ++failures);
        continue;
      }
      if (steps.length > 0) return { value: { steps: this.#cut(steps), closing: this.enough }, done: false };
      // Begin to listen before the next look, so that nothing falls between the look and the wait.
      if (!this.#ear) this.#ear = this.#listen();
      else await this.#ear.bell.rung();
      if (this.#ear.signal.aborted) break;
    }
    this.close();
    return DONE;
  }

  async return(): Promise<IteratorResult<Bunch, undefined>> {
    this.close();
    return DONE;
  }

  #read(): Promise<readonly Step[]> {
    const { scope, taskId } = this.#reading;
    return this.#parts.store.log.read(scope, taskId, this.#place, LIMITS.readMax);
  }

  /** A store that cannot be read now, because its database is being restarted, may be a moment later. */
  async #bear(error: unknown, failures: number): Promise<void> {
    const isPassing = error instanceof Fault && error.code === "unavailable";
    if (isPassing && failures < LIMITS.readTriesMax && !this.#reading.signal().aborted)
      return new Promise(resolve => void setTimeout(resolve, LIMITS.readRetryMs).unref());
    this.close();
    throw error;
  }

  #cut(steps: readonly Step[]): readonly Step[] {
    const end = steps.findIndex(step => isEnough(step, this.#reading.until));
    this.enough = end !== -1;
    const cut = this.enough && end + 1 < steps.length ? steps.slice(0, end + 1) : steps;
    this.#place = (cut.at(-1) as Step).seq;
    return cut;
  }

  #listen(): Ear {
    const bell = new Bell();
    const signal = this.#reading.signal();
    signal.addEventListener("abort", bell.wake, { once: true });
    return { bell, signal, deafen: this.#parts.bus.listen(this.#reading.taskId, bell.wake) };
  }

  close(): void {
    this.#over = true;
    if (!this.#ear) return;
    const { bell, signal, deafen } = this.#ear;
    signal.removeEventListener("abort", bell.wake);
    deafen();
  }
}

export type Bunch = Steps extends AsyncIterable<infer One> ? One : never;
export const DONE: IteratorReturnResult<undefined> = { value: undefined, done: true };

/** How a reader hears that there is more, or that nobody wants it any longer. */
interface Ear {
  readonly bell: Bell;
  readonly signal: AbortSignal;
  deafen(): void;
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
