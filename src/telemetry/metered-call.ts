import type { Fault, Step } from "../model/index.ts";
import type { CallObserver, ObservedCall, Observer, Operation } from "../ports/index.ts";
import type { Meters } from "./metrics.ts";

export interface MeterParts {
  readonly meters: Meters;
  /** As events are dated. */
  readonly now: () => number;
  /** As attempts to deliver are dated. */
  readonly wallTime: () => number;
  /** Milliseconds that only serve to measure. */
  readonly ticks: () => number;
}

export const meteredCalls = (parts: MeterParts): Observer => ({
  begin: (call, dialect) => new MeteredCall(parts, call, dialect),
});

class MeteredCall implements CallObserver {
  readonly #parts: MeterParts;
  readonly #binding: ObservedCall["transport"];
  readonly #dialect: string;
  readonly #began: number;
  readonly #at: number;
  #operation: Operation["op"] | "none" = "none";
  #outcome: Fault["code"] | "ok" = "ok";
  #reads = false;

  constructor(parts: MeterParts, call: ObservedCall, dialect: string) {
    this.#parts = parts;
    this.#binding = call.transport;
    this.#dialect = dialect;
    this.#began = parts.ticks();
    this.#at = parts.now();
  }

  asked(operation: Operation): Operation {
    this.#operation = operation.op;
    return operation;
  }

  read(steps: readonly Step[]): void {
    const { meters, now } = this.#parts;
    if (!this.#reads) {
      this.#reads = true;
      meters.firstEventSeconds.observe([this.#operation], this.#seconds());
    }
    const first = steps[0];
    // Whoever reads what happened before he came does not lag.
    if (first && first.at >= this.#at) meters.lagSeconds.observe([], (now() - first.at) / 1_000);
  }

  answered(): void {}

  refused({ code }: Fault): void {
    this.#outcome = code;
  }

  ended(): void {
    const { calls, callSeconds } = this.#parts.meters;
    calls.add([this.#dialect, this.#binding, this.#operation, this.#outcome]);
    callSeconds.observe([this.#binding, this.#operation], this.#seconds());
  }

  facts(): object {
    return NONE;
  }

  headers(): undefined {}

  #seconds(): number {
    return (this.#parts.ticks() - this.#began) / 1_000;
  }
}

const NONE = Object.freeze({});
