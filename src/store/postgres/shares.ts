import type { Scope } from "../../model/index.ts";
import type { RunQuota } from "../hot/queue.ts";
import { callerOf, overShare, Stalls } from "../hot/share.ts";

export interface SharesParts {
  readonly runQuota: (scope: Scope) => RunQuota;
  /** Runs at once in this process, of which no tenant and no caller takes all; undefined: they may. */
  readonly runsShared?: number | undefined;
  readonly ticks: () => number;
}

/** How the runs of this node are shared out. Each node leaves a part of its own free, so none has to ask the others. */
export class NodeShares {
  readonly #parts: SharesParts;
  readonly stalls: Stalls;

  constructor(parts: SharesParts) {
    this.#parts = parts;
    this.stalls = new Stalls(parts.ticks);
  }

  /** Those of the candidates that may begin, beside what this node has running. */
  within<One>(
    found: readonly One[],
    scopeOf: (one: One) => Scope,
    running: readonly Scope[],
  ): readonly One[] {
    const { runsShared, runQuota } = this.#parts;
    if (runsShared === undefined) return found;
    const counts = new Map<string, number>();
    const count = (key: string): number => counts.get(key) ?? 0;
    let free = runsShared;
    const add = (scope: Scope): void => {
      for (const key of [scope.tenant, callerOf(scope)]) counts.set(key, count(key) + 1);
      free -= 1;
    };
    for (const scope of running) add(scope);
    return found.filter(one => {
      const scope = scopeOf(one);
      const bound = overShare(runQuota(scope), count(scope.tenant), count(callerOf(scope)), free);
      if (bound) this.stalls.stop(scope, bound);
      else add(scope);
      return !bound;
    });
  }
}
