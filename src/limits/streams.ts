import { Fault, type Quotas, type Scope } from "../model/index.ts";
import type { Steps } from "../ports.ts";
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
      const inner = steps[Symbol.asyncIterator]();
      let state: "new" | "open" | "over" = "new";
      const end = (): void => {
        if (state === "open") change(keys, -1);
        state = "over";
      };
      const counted: AsyncIterator<Awaited<ReturnType<typeof inner.next>>["value"]> = {
        async next() {
          if (state === "new") {
            state = "open";
            change(keys, 1);
          }
          try {
            const result = await inner.next();
            if (result.done) end();
            return result;
          } catch (error) {
            end();
            throw error;
          }
        },
        async return() {
          end();
          await inner.return?.();
          return { done: true, value: undefined };
        },
      };
      const wrapped = { [Symbol.asyncIterator]: () => counted };
      return (steps.compacted ? { ...wrapped, compacted: true as const } : wrapped) as Steps;
    },
  };
}
