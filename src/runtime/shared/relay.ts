import type { Said } from "../../agent/definition.ts";

/** Resolves when it was heard; rejects when nobody listens any more. */
export type Say<S = Said> = (said: S) => Promise<void>;

interface Waiting<S> {
  readonly said: S;
  resolve(): void;
  reject(error: unknown): void;
}

/** Work that says things while it is waited for: gives what it says, one by one, and then what it returns. */
export async function* relay<T, S = Said>(work: (say: Say<S>) => Promise<T>): AsyncGenerator<S, T> {
  const waiting: Waiting<S>[] = [];
  let news = Promise.withResolvers<void>();
  let outcome: (() => T) | undefined;
  const say: Say<S> = said =>
    new Promise((resolve, reject) => {
      waiting.push({ said, resolve, reject });
      news.resolve();
    });
  const ended = (give: () => T): void => {
    outcome = give;
    news.resolve();
  };
  work(say).then(
    value => ended(() => value),
    error =>
      ended(() => {
        throw error;
      }),
  );
  try {
    for (;;) {
      const next = waiting[0];
      if (next) {
        yield next.said;
        waiting.shift();
        next.resolve();
      } else if (outcome) return outcome();
      else {
        await news.promise;
        news = Promise.withResolvers<void>();
      }
    }
  } finally {
    for (const one of waiting) one.reject(new Error("nobody listens any more"));
  }
}
