import { Fault, LIMITS, type Quotas, type Scope } from "../model/index.ts";
import { keyOf, NAMES, quotaOf, WHOSE, type Whose } from "./quotas.ts";

interface Bucket {
  /** Calls that may be made at once. */
  level: number;
  at: number;
}

/**
 * Calls per second: a bucket that fills at that speed, for each caller and each tenant. Where several nodes serve, each
 * lets an equal share through.
 */
export function createCallLimit(
  quotas: Quotas,
  ticks: () => number,
  nodes: () => number,
): (scope: Scope) => void {
  const buckets = new Map<string, Bucket>();

  function bucketOf(key: string, burst: number): Bucket {
    const found = buckets.get(key);
    if (found) return found;
    // Whoever has been away longest has a full bucket again, or nearly.
    if (buckets.size >= LIMITS.callersMax) buckets.delete(buckets.keys().next().value as string);
    const fresh = { level: burst, at: ticks() };
    buckets.set(key, fresh);
    return fresh;
  }

  /** How long until there is room; 0: there is. */
  function fill(
    scope: Scope,
    whose: Whose,
  ): { readonly bucket?: Bucket; readonly waitMs: number; readonly speed: number } {
    const { callsPerSecond: speed, callsBurst } = quotaOf(quotas, scope, whose);
    if (speed === undefined) return { waitMs: 0, speed: 0 };
    const burst = Math.max(1, (callsBurst ?? 2 * speed) / nodes());
    const key = `${whose} ${keyOf(scope, whose)}`;
    const bucket = bucketOf(key, burst);
    const time = ticks();
    const share = speed / nodes();
    bucket.level = Math.min(burst, bucket.level + ((time - bucket.at) / 1_000) * share);
    bucket.at = time;
    // The most recent ones are at the end.
    buckets.delete(key);
    buckets.set(key, bucket);
    return { bucket, speed, waitMs: bucket.level >= 1 ? 0 : ((1 - bucket.level) / share) * 1_000 };
  }

  return scope => {
    const filled = WHOSE.map(whose => ({ whose, ...fill(scope, whose) }));
    const short = filled.find(one => one.waitMs > 0);
    if (short)
      throw new Fault(
        "rate-limited",
        `${capital(NAMES[short.whose])} may make ${short.speed} calls per second; wait a moment`,
        { retryAfterMs: short.waitMs },
      );
    // Only a call that is made counts, for both.
    for (const { bucket } of filled) if (bucket) bucket.level -= 1;
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
