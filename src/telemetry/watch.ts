import type { Fault, Scope, Step } from "../model/index.ts";
import type { Answer, CallObserver, Observer, Operation } from "../ports/index.ts";

/** Several that watch, as one; undefined: nobody does. */
export function watchedBy(watches: readonly Observer[]): Observer | undefined {
  const [only, ...others] = watches;
  if (others.length === 0) return only;
  return { begin: (call, dialect) => new Several(watches.map(watch => watch.begin(call, dialect))) };
}

class Several implements CallObserver {
  readonly #all: readonly CallObserver[];

  constructor(all: readonly CallObserver[]) {
    this.#all = all;
  }

  asked(operation: Operation, scope: Scope): Operation {
    let asked = operation;
    for (const one of this.#all) asked = one.asked(asked, scope);
    return asked;
  }

  read(steps: readonly Step[]): void {
    for (const one of this.#all) one.read(steps);
  }

  answered(answer: Answer): void {
    for (const one of this.#all) one.answered(answer);
  }

  refused(fault: Fault): void {
    for (const one of this.#all) one.refused(fault);
  }

  ended(): void {
    for (const one of this.#all) one.ended();
  }

  facts(): object {
    return Object.assign({}, ...this.#all.map(one => one.facts()));
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
