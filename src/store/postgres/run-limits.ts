import type { Scope } from "../../model/index.ts";
import {
  findExceededQuota,
  findExceededShare,
  type QuotaLevel,
  StallTimes,
  toCallerKey,
} from "../kernel/run-quota.ts";
import type { StoreParts } from "../kernel/store-parts.ts";
import type { Queryable } from "./database.ts";

/** Runs in progress by tenant, and by caller. */
export type RunCounts = Map<string, number>;
type RunOwner = Pick<Scope, "tenant" | "principal">;

const COUNT_RUNS = `
SELECT o.tenant, o.principal, count(*)::int AS runs FROM task t JOIN owner o ON o.id = t.owner
WHERE t.state < 2 AND t.worker IS NOT NULL AND t.lease_until > $1 GROUP BY 1, 2`;

/** The runs of all nodes. */
export async function countRuns(db: Queryable, at: number): Promise<RunCounts> {
  const counts: RunCounts = new Map();
  for (const row of await db.query<RunOwner & { readonly runs: number }>(COUNT_RUNS, [at]))
    addRuns(counts, row, row.runs);
  return counts;
}

function addRuns(counts: RunCounts, owner: RunOwner, runs: number): void {
  for (const key of [owner.tenant, toCallerKey(owner)]) counts.set(key, (counts.get(key) ?? 0) + runs);
}

const runsOf = (counts: RunCounts, scope: Scope): readonly [tenant: number, caller: number] => [
  counts.get(scope.tenant) ?? 0,
  counts.get(toCallerKey(scope)) ?? 0,
];

export type RunLimitsParts = Pick<StoreParts, "runQuota" | "runsShared" | "ticks">;

/** Which callers may begin one more run, at one moment. */
export interface RunAllowance {
  /** The quota or share that is exhausted; undefined: one more run may begin. */
  findLimit(scope: Scope): QuotaLevel | undefined;
  /** Records that a task of this caller waits, if a limit is the reason. */
  recordStall(scope: Scope): void;
  /** Counts one more run, if it may begin; false: it has to wait. */
  take(scope: Scope): boolean;
}

/** Quotas over all nodes, and shares of this node. Each node leaves a part of its capacity free, so none asks the others. */
export class RunLimits {
  readonly #parts: RunLimitsParts;
  readonly stalls: StallTimes;

  constructor(parts: RunLimitsParts) {
    this.#parts = parts;
    this.stalls = new StallTimes(parts.ticks);
  }

  get hasShares(): boolean {
    return this.#parts.runsShared !== undefined;
  }

  /** `counts`: runs of all nodes, if there are quotas. `running`: the runs of this node. undefined: there are no limits. */
  createAllowance(counts: RunCounts | undefined, running: readonly Scope[]): RunAllowance | undefined {
    const { runsShared, runQuota } = this.#parts;
    if (runsShared === undefined && counts === undefined) return undefined;
    const ofNode: RunCounts = new Map();
    for (const scope of running) addRuns(ofNode, scope, 1);
    let free = (runsShared ?? Number.POSITIVE_INFINITY) - running.length;
    const findLimit = (scope: Scope): QuotaLevel | undefined => {
      const quota = runQuota(scope);
      const exceeded = counts && findExceededQuota(quota, ...runsOf(counts, scope));
      if (exceeded || runsShared === undefined) return exceeded;
      return findExceededShare(quota, ...runsOf(ofNode, scope), free);
    };
    const recordStall = (scope: Scope): void => {
      const limit = findLimit(scope);
      if (limit) this.stalls.start(scope, limit);
    };
    return {
      findLimit,
      recordStall,
      take(scope) {
        recordStall(scope);
        if (findLimit(scope)) return false;
        if (counts) addRuns(counts, scope, 1);
        addRuns(ofNode, scope, 1);
        free -= 1;
        return true;
      },
    };
  }
}
