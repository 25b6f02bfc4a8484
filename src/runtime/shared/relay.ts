import type { AgentOutput } from "../../agent/context.ts";

/** Resolves when the output was read; rejects when the reader has stopped. */
export type Emit<T = AgentOutput> = (output: T) => Promise<void>;

interface Pending<T> {
  readonly output: T;
  resolve(): void;
  reject(error: unknown): void;
}

/** Runs `work` and yields what it emits, one by one; then returns its result. */
export async function* relay<R, T = AgentOutput>(work: (emit: Emit<T>) => Promise<R>): AsyncGenerator<T, R> {
  const pending: Pending<T>[] = [];
  let changed = Promise.withResolvers<void>();
  let getResult: (() => R) | undefined;
  const emit: Emit<T> = output =>
    new Promise((resolve, reject) => {
      pending.push({ output, resolve, reject });
      changed.resolve();
    });
  const end = (get: () => R): void => {
    getResult = get;
    changed.resolve();
  };
  work(emit).then(
    value => end(() => value),
    error =>
      end(() => {
        throw error;
      }),
  );
  try {
    for (;;) {
      const next = pending[0];
      if (next) {
        yield next.output;
        pending.shift();
        next.resolve();
      } else if (getResult) return getResult();
      else {
        await changed.promise;
        changed = Promise.withResolvers<void>();
      }
    }
  } finally {
    for (const { reject } of pending) reject(new Error("the output is no longer read"));
  }
}
