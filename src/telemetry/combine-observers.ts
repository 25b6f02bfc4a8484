import type { Fault, Scope, Step } from "../model/index.ts";
import type { CallObserver, Observer, Operation, OperationResult } from "../ports/index.ts";

/** Several observers as one; undefined: there is none. */
export function combineObservers(observers: readonly Observer[]): Observer | undefined {
  const [only, ...others] = observers;
  if (others.length === 0) return only;
  return {
    startCall: (call, dialect) =>
      new CombinedCallObserver(observers.map(one => one.startCall(call, dialect))),
  };
}

class CombinedCallObserver implements CallObserver {
  readonly #all: readonly CallObserver[];

  constructor(all: readonly CallObserver[]) {
    this.#all = all;
  }

  onOperation(operation: Operation, scope: Scope): Operation {
    let current = operation;
    for (const one of this.#all) current = one.onOperation(current, scope);
    return current;
  }

  onSteps(steps: readonly Step[]): void {
    for (const one of this.#all) one.onSteps(steps);
  }

  onResult(result: OperationResult): void {
    for (const one of this.#all) one.onResult(result);
  }

  onFault(fault: Fault): void {
    for (const one of this.#all) one.onFault(fault);
  }

  onEnd(): void {
    for (const one of this.#all) one.onEnd();
  }

  logFields(): object {
    return Object.assign({}, ...this.#all.map(one => one.logFields()));
  }

  headers(): ReturnType<CallObserver["headers"]> {
    let headers: ReturnType<CallObserver["headers"]>;
    for (const one of this.#all) {
      const own = one.headers();
      if (own) headers = { ...headers, ...own };
    }
    return headers;
  }
}
