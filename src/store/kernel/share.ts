import { LIMITS, type Scope } from "../../model/index.ts";
import type { RunQuota } from "../single-node/queue.ts";

/** What keeps a caller from one more run: too many of its tenant's, or of its own. */
export type Bound = "tenant" | "caller";

/**
 * A tenant that has a run gets another one only while it leaves a part of the room free: what it holds is at most so many
 * times what is left. One tenant alone holds seven eighths of all runs at most, two seven fifteenths each, and so on: there
 * is always room for one that has none.
 */
const TIMES = 7;

const leavesRoom = (held: number, room: number): boolean =>
  room > 0 && (held === 0 || held + 1 <= TIMES * (room - 1));

/** How many more a tenant could begin, of those that are free. */
const roomOf = (held: number, free: number): number =>
  Math.max(held === 0 ? Math.min(free, 1) : 0, Math.floor((TIMES * free - held) / (TIMES + 1)));

/** `ofTenant`, `ofCaller`: how many run. */
export function overQuota(quota: RunQuota, ofTenant: number, ofCaller: number): Bound | undefined {
  if (ofTenant >= quota.tenant) return "tenant";
  return ofCaller >= quota.caller ? "caller" : undefined;
}

/** `free`: how many runs of this process are; a quota takes the place of the share. */
export function overShare(
  quota: RunQuota,
  ofTenant: number,
  ofCaller: number,
  free: number,
): Bound | undefined {
  if (quota.tenant !== Number.POSITIVE_INFINITY) return undefined;
  if (!leavesRoom(ofTenant, free)) return "tenant";
  if (quota.caller !== Number.POSITIVE_INFINITY) return undefined;
  return leavesRoom(ofCaller, roomOf(ofTenant, free)) ? undefined : "caller";
}

export const callerOf = ({ tenant, principal }: Pick<Scope, "tenant" | "principal">): string =>
  `${tenant}\n${principal}`;

/** Since when a tenant or a caller that wants a run has got none, because as many run as may. */
export class Stalls {
  readonly #ticks: () => number;
  readonly #since = new Map<string, number>();

  constructor(ticks: () => number) {
    this.#ticks = ticks;
  }

  get isEmpty(): boolean {
    return this.#since.size === 0;
  }

  stop(scope: Scope, bound: Bound): void {
    const key = bound === "tenant" ? scope.tenant : callerOf(scope);
    if (this.#since.has(key)) return;
    if (this.#since.size >= LIMITS.callersMax) this.#since.delete(this.#since.keys().next().value as string);
    this.#since.set(key, this.#ticks());
  }

  /** It gets one, or could. */
  go(scope: Scope): void {
    if (this.#since.size === 0) return;
    this.#since.delete(scope.tenant);
    this.#since.delete(callerOf(scope));
  }

  clear(): void {
    this.#since.clear();
  }

  ms(scope: Scope): number {
    const since = this.#since.get(scope.tenant) ?? this.#since.get(callerOf(scope));
    return since === undefined ? 0 : this.#ticks() - since;
  }
}
