import type { PushChange, Put } from "./backend.ts";
import type { Entry } from "./entry.ts";

/** All appends of one turn of the event loop: they have one time, are committed together and resolved together. */
export interface Batch {
  readonly at: number;
  readonly entries: Entry[];
  readonly puts: Put[];
  readonly pushes: PushChange[];
  readonly done: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export function createBatch(at: number): Batch {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // A writer may not be waiting; whoever is gets the same rejection.
  promise.catch(() => {});
  return { at, entries: [], puts: [], pushes: [], done: promise, resolve, reject };
}
