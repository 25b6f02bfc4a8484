import { LIMITS, type Scope } from "../../model/index.ts";

/** How many concurrent runs a caller, and all callers of its tenant together, may have. */
export interface RunQuota {
  readonly caller: number;
  readonly tenant: number;
}

/** Which limit prevents another run. */
export type QuotaLevel = "tenant" | "caller";

/**
 * A tenant that has a run gets another only if its runs are at most this many times the remaining free slots. A single
 * tenant holds at most seven eighths of all slots, two tenants seven fifteenths each, and so on: a tenant without a run
 * always finds a free slot.
 */
const SHARE_RATIO = 7;

const leavesRoom = (held: number, free: number): boolean =>
  free > 0 && (held === 0 || held + 1 <= SHARE_RATIO * (free - 1));

/** How many more of the free slots a tenant could take. */
const tenantRoom = (held: number, free: number): number =>
  Math.max(held === 0 ? Math.min(free, 1) : 0, Math.floor((SHARE_RATIO * free - held) / (SHARE_RATIO + 1)));

/** `ofTenant`, `ofCaller`: the number of current runs. */
export function findExceededQuota(
  quota: RunQuota,
  ofTenant: number,
  ofCaller: number,
): QuotaLevel | undefined {
  if (ofTenant >= quota.tenant) return "tenant";
  return ofCaller >= quota.caller ? "caller" : undefined;
}

/** `free`: the free run slots of this process. A configured quota replaces the fair share. */
export function findExceededShare(
  quota: RunQuota,
  ofTenant: number,
  ofCaller: number,
  free: number,
): QuotaLevel | undefined {
  if (quota.tenant !== Number.POSITIVE_INFINITY) return undefined;
  if (!leavesRoom(ofTenant, free)) return "tenant";
  if (quota.caller !== Number.POSITIVE_INFINITY) return undefined;
  return leavesRoom(ofCaller, tenantRoom(ofTenant, free)) ? undefined : "caller";
}

export const toCallerKey = ({ tenant, principal }: Pick<Scope, "tenant" | "principal">): string =>
  `${tenant}\n${principal}`;

/** Since when a tenant or a caller with due tasks has been at its limit of concurrent runs. */
export class StallTimes {
  readonly #ticks: () => number;
  readonly #since = new Map<string, number>();

  constructor(ticks: () => number) {
    this.#ticks = ticks;
  }

  get isEmpty(): boolean {
    return this.#since.size === 0;
  }

  has(scope: Scope): boolean {
    return this.#since.size > 0 && (this.#since.has(scope.tenant) || this.#since.has(toCallerKey(scope)));
  }

  start(scope: Scope, level: QuotaLevel): void {
    const key = level === "tenant" ? scope.tenant : toCallerKey(scope);
    if (this.#since.has(key)) return;
    if (this.#since.size >= LIMITS.callersMax) this.#since.delete(this.#since.keys().next().value as string);
    this.#since.set(key, this.#ticks());
  }

  /** A run of the caller begins, or could begin. */
  end(scope: Scope): void {
    if (this.#since.size === 0) return;
    this.#since.delete(scope.tenant);
    this.#since.delete(toCallerKey(scope));
  }

  clear(): void {
    this.#since.clear();
  }

  ms(scope: Scope): number {
    const since = this.#since.get(scope.tenant) ?? this.#since.get(toCallerKey(scope));
    return since === undefined ? 0 : this.#ticks() - since;
  }
}
