import type { BatchSource } from "../lib/batch-source.ts";
import type { Wakeable } from "../lib/latch.ts";
import { Fault, type Quotas, type Scope } from "../model/index.ts";
import type { StepBatch, Steps } from "../ports/index.ts";
import { keyOf, NAMES, quotaOf, WHOSE } from "./quotas.ts";

const RETRY_MS = 5_000;

/** Open streams, for each caller and each tenant. Where several nodes serve, each has room for an equal share. */
export function createStreamLimit(quotas: Quotas, nodes: () => number) {
  const open = new Map<string, number>();

  function change(keys: readonly string[], by: 1 | -1): void {
    for (const key of keys) {
      const count = (open.get(key) ?? 0) + by;
      if (count === 0) open.delete(key);
      else open.set(key, count);
    }
  }
  const keysOf = (scope: Scope): readonly string[] => WHOSE.map(whose => `${whose} ${keyOf(scope, whose)}`);

  return {
    check(scope: Scope): void {
      for (const whose of WHOSE) {
        const { streams } = quotaOf(quotas, scope, whose);
        if (streams === undefined) continue;
        const share = Math.ceil(streams / nodes());
        if ((open.get(`${whose} ${keyOf(scope, whose)}`) ?? 0) >= share)
          throw new Fault(
            "rate-limited",
            `${streams} streams are open, which is all that ${NAMES[whose]} may have; close one first`,
            { retryAfterMs: RETRY_MS },
          );
      }
    },
    /** Counts a stream from its first word that is wanted to its end, however it ends. */
    count(scope: Scope, steps: Steps): Steps {
      const keys = keysOf(scope);
      return new Counted(steps, by => change(keys, by));
    },
  };
}

class Counted implements BatchSource<StepBatch> {
  readonly #steps: Steps;
  readonly #change: (by: 1 | -1) => void;
  #state: "new" | "open" | "over" = "new";
  readonly compacted?: true;

  constructor(steps: Steps, change: (by: 1 | -1) => void) {
    this.#steps = steps;
    this.#change = change;
    if (steps.compacted) this.compacted = true;
  }

  get isOver(): boolean {
    return this.#steps.isOver;
  }

  wakes(sleeper: Wakeable): void {
    this.#steps.wakes(sleeper);
  }

  async take(): Promise<StepBatch | null> {
    if (this.#state === "new") {
      this.#state = "open";
      this.#change(1);
    }
    try {
      const bunch = await this.#steps.take();
      if (this.#steps.isOver) this.#end();
      return bunch;
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
