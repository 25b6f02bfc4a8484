import type { Fault, Step } from "../model/index.ts";
import type { CallObserver, ObservedCall, Observer, Operation } from "../ports/index.ts";
import type { Meters } from "./metrics.ts";

export interface MeterParts {
  readonly meters: Meters;
  /** The event clock. */
  readonly now: () => number;
  /** The wall clock. */
  readonly wallTime: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}

export const meteredCalls = (parts: MeterParts): Observer => ({
  startCall: (call, dialect) => new MeteredCall(parts, call, dialect),
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

  onOperation(operation: Operation): Operation {
    this.#operation = operation.op;
    return operation;
  }

  onSteps(steps: readonly Step[]): void {
    const { meters, now } = this.#parts;
    if (!this.#reads) {
      this.#reads = true;
      meters.firstEventSeconds.observe([this.#operation], this.#seconds());
    }
    const first = steps[0];
    // Events from before the reader joined are no lag.
    if (first && first.at >= this.#at) meters.lagSeconds.observe([], (now() - first.at) / 1_000);
  }

  onResult(): void {}

  onFault({ code }: Fault): void {
    this.#outcome = code;
  }

  onEnd(): void {
    const { calls, callSeconds } = this.#parts.meters;
    calls.add([this.#dialect, this.#binding, this.#operation, this.#outcome]);
    callSeconds.observe([this.#binding, this.#operation], this.#seconds());
  }

  logFields(): object {
    return NONE;
  }

  headers(): undefined {}

  #seconds(): number {
    return (this.#parts.ticks() - this.#began) / 1_000;
  }
}

const NONE = Object.freeze({});
