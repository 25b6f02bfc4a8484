import { LIMITS } from "../model/index.ts";

/** How many deliveries are under way to each host. One that does not answer gets less room: the others keep theirs. */
export function createHosts() {
  const underWay = new Map<string, number>();
  /** How often in a row there was no answer. */
  const silent = new Map<string, number>();
  const busy = new Set<string>();

  function change(host: string, by: number): void {
    const count = (underWay.get(host) ?? 0) + by;
    if (count > 0) underWay.set(host, count);
    else underWay.delete(host);
    if (count >= roomOf(host)) busy.add(host);
    else busy.delete(host);
  }

  const roomOf = (host: string): number =>
    (silent.get(host) ?? 0) < LIMITS.pushSilencesMax
      ? LIMITS.pushesPerHostMax
      : LIMITS.pushesPerSilentHostMax;

  return {
    /** Those that take no more for now. */
    busy: busy as ReadonlySet<string>,
    begin: (host: string): void => change(host, 1),
    end: (host: string): void => change(host, -1),
    /** What came of an attempt. */
    tell(host: string, answered: boolean): void {
      const silences = (silent.get(host) ?? 0) + 1;
      silent.delete(host);
      if (!answered) silent.set(host, silences);
      if (silent.size > LIMITS.pushSilentHostsMax) silent.delete(silent.keys().next().value as string);
      change(host, 0);
    },
  };
}

export type Hosts = ReturnType<typeof createHosts>;
