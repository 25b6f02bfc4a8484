import type { BatchSource } from "../lib/batch-source.ts";
import type { Wakeable } from "../lib/latch.ts";
import { Fault, type Quotas, type Scope } from "../model/index.ts";
import type { StepBatch, StepStream } from "../ports/index.ts";
import { keyOf, QUOTA_SUBJECTS, type QuotaSubject, quotaOf, SUBJECT_NAMES } from "./quotas.ts";

const RETRY_MS = 5_000;

/** Limits the open streams of each caller and each tenant. Where several nodes serve, each has an equal share. */
export function createStreamLimit(quotas: Quotas, nodes: () => number) {
  const open = new Map<string, number>();

  const toKey = (scope: Scope, subject: QuotaSubject): string => `${subject} ${keyOf(scope, subject)}`;

  function change(keys: readonly string[], by: 1 | -1): void {
    for (const key of keys) {
      const count = (open.get(key) ?? 0) + by;
      if (count === 0) open.delete(key);
      else open.set(key, count);
    }
  }

  return {
    check(scope: Scope): void {
      for (const subject of QUOTA_SUBJECTS) {
        const { streams } = quotaOf(quotas, scope, subject);
        if (streams === undefined) continue;
        const share = Math.ceil(streams / nodes());
        if ((open.get(toKey(scope, subject)) ?? 0) >= share)
          throw new Fault(
            "rate-limited",
            `Quota exceeded: ${SUBJECT_NAMES[subject]} may have ${streams} open streams; close one first`,
            { retryAfterMs: RETRY_MS },
          );
      }
    },
    /** Counts a stream from its first read to its end. */
    count(scope: Scope, steps: StepStream): StepStream {
      const keys = QUOTA_SUBJECTS.map(subject => toKey(scope, subject));
      return new CountedStream(steps, by => change(keys, by));
    },
  };
}

class CountedStream implements BatchSource<StepBatch> {
  readonly #steps: StepStream;
  readonly #change: (by: 1 | -1) => void;
  #state: "new" | "open" | "over" = "new";
  readonly compacted?: true;

  constructor(steps: StepStream, change: (by: 1 | -1) => void) {
    this.#steps = steps;
    this.#change = change;
    if (steps.compacted) this.compacted = true;
  }

  get isOver(): boolean {
    return this.#steps.isOver;
  }

  setListener(listener: Wakeable): void {
    this.#steps.setListener(listener);
  }

  async take(): Promise<StepBatch | null> {
    if (this.#state === "new") {
      this.#state = "open";
      this.#change(1);
    }
    try {
      const batch = await this.#steps.take();
      if (this.#steps.isOver) this.#end();
      return batch;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  close(): void {
    this.#end();
    this.#steps.close();
  }

  #end(): void {
    if (this.#state === "open") this.#change(-1);
    this.#state = "over";
  }
}
