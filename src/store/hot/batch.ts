import type { Entry } from "./entry.ts";

/** All appends of one turn of the event loop: committed together, resolved together. */
export interface Batch {
  readonly entries: Entry[];
  readonly done: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export function createBatch(): Batch {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // A writer may not be waiting; whoever is gets the same rejection.
  promise.catch(() => {});
  return { entries: [], done: promise, resolve, reject };
}
