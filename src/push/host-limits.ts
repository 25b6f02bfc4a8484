import { LIMITS } from "../model/index.ts";

/** Limits the concurrent deliveries per host. A host that does not respond gets fewer, so that others keep theirs. */
export function createHostLimits() {
  const active = new Map<string, number>();
  /** Attempts in a row without a response. */
  const failures = new Map<string, number>();
  const busy = new Set<string>();

  function change(host: string, by: number): void {
    const count = (active.get(host) ?? 0) + by;
    if (count > 0) active.set(host, count);
    else active.delete(host);
    const isFailing = (failures.get(host) ?? 0) >= LIMITS.pushNoResponseMax;
    if (count >= (isFailing ? LIMITS.pushesPerFailingHostMax : LIMITS.pushesPerHostMax)) busy.add(host);
    else busy.delete(host);
  }

  return {
    /** Hosts at their limit. */
    busy: busy as ReadonlySet<string>,
    begin: (host: string): void => change(host, 1),
    end: (host: string): void => change(host, -1),
    recordAttempt(host: string, hasResponse: boolean): void {
      const count = (failures.get(host) ?? 0) + 1;
      failures.delete(host);
      if (!hasResponse) failures.set(host, count);
      if (failures.size > LIMITS.pushFailingHostsMax) failures.delete(failures.keys().next().value as string);
      change(host, 0);
    },
  };
}

export type HostLimits = ReturnType<typeof createHostLimits>;
