import type { Scope } from "../../model/index.ts";
import { type Bound, callerOf, overQuota, overShare, Stalls } from "../kernel/share.ts";
import type { RunQuota } from "../single-node/queue.ts";
import { addRuns, type RunCounts } from "./run-counts.ts";

export interface SharesParts {
  readonly runQuota: (scope: Scope) => RunQuota;
  /** Runs at once in this process, of which no tenant and no caller takes all; undefined: they may. */
  readonly runsShared?: number | undefined;
  readonly ticks: () => number;
}

/** Who may begin one more run, at one moment. */
export interface Room {
  boundOf(scope: Scope): Bound | undefined;
  /** A task of this caller has to wait. */
  stop(scope: Scope): void;
  /** Counts one more run, if it may begin; false: it has to wait. */
  take(scope: Scope): boolean;
}

/** How the runs of this node are shared out. Each node leaves a part of its own free, so none has to ask the others. */
export class NodeShares {
  readonly #parts: SharesParts;
  readonly stalls: Stalls;

  constructor(parts: SharesParts) {
    this.#parts = parts;
    this.stalls = new Stalls(parts.ticks);
  }

  /** `counts`: runs of all nodes, if there are quotas. `running`: the runs of this node. undefined: nothing is bounded. */
  open(counts: RunCounts | undefined, running: readonly Scope[]): Room | undefined {
    const { runsShared, runQuota } = this.#parts;
    if (runsShared === undefined && counts === undefined) return undefined;
    const own: RunCounts = new Map();
    for (const scope of running) addRuns(own, scope, 1);
    let free = (runsShared ?? Number.POSITIVE_INFINITY) - running.length;
    const boundOf = (scope: Scope): Bound | undefined => {
      const quota = runQuota(scope);
      const over = counts && overQuota(quota, ...runsOf(counts, scope));
      return over ?? (runsShared === undefined ? undefined : overShare(quota, ...runsOf(own, scope), free));
    };
    const stop = (scope: Scope): void => {
      const bound = boundOf(scope);
      if (bound) this.stalls.stop(scope, bound);
    };
    return {
      boundOf,
      stop,
      take(scope) {
        stop(scope);
        if (boundOf(scope)) return false;
        if (counts) addRuns(counts, scope, 1);
        addRuns(own, scope, 1);
        free -= 1;
        return true;
      },
    };
  }
}

const runsOf = (counts: RunCounts, scope: Scope): readonly [number, number] => [
  counts.get(scope.tenant) ?? 0,
  counts.get(callerOf(scope)) ?? 0,
];
