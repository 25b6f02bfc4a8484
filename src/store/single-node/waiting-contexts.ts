import { type ContextId, isSettled, isTerminal, type Task, type TaskState } from "../../model/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import type { Backend } from "./backend.ts";

/** 128 KiB. A prime: the keys of generated ids ascend in steps. */
const BITS = 1_048_573;

const isWaiting = (state: TaskState): boolean => isSettled(state) && !isTerminal(state);

/**
 * The contexts in which a task may wait for its caller. Each message that names a context asks for such a task, and nearly
 * none has one: a bit in memory saves the query. Bits are never cleared, so a set one only means that it is worth to look.
 */
export class WaitingContexts {
  readonly #backend: Pick<Backend, "newest" | "waitingContexts">;
  readonly #bits = new Uint8Array(Math.ceil(BITS / 8));
  #isLoaded = false;

  constructor(backend: Pick<Backend, "newest" | "waitingContexts">) {
    this.#backend = backend;
  }

  onCommitted({ status, contextId }: Task): void {
    if (isWaiting(status.state)) this.#set(contextKey(contextId));
  }

  readonly newest: Backend["newest"] = (scope, agent, filter) => {
    const { contextId, states } = filter;
    const isWorth = contextId === undefined || !states || this.#mayHave(contextId, states);
    return isWorth ? this.#backend.newest(scope, agent, filter) : [];
  };

  /** false: no task of this context is in one of these states. */
  #mayHave(contextId: ContextId, states: readonly TaskState[]): boolean {
    if (!states.every(isWaiting)) return true;
    if (!this.#isLoaded) for (const key of this.#backend.waitingContexts()) this.#set(key);
    this.#isLoaded = true;
    const at = contextKey(contextId) % BITS;
    return ((this.#bits[at >> 3] as number) & (1 << (at & 7))) !== 0;
  }

  #set(key: number): void {
    const at = key % BITS;
    this.#bits[at >> 3] = (this.#bits[at >> 3] as number) | (1 << (at & 7));
  }
}
