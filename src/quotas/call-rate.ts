import { Fault, LIMITS, type Quotas, type Scope } from "../model/index.ts";
import { keyOf, QUOTA_SUBJECTS, type QuotaSubject, quotaOf, SUBJECT_NAMES } from "./quotas.ts";

interface Bucket {
  /** Calls that may be made at once. */
  level: number;
  at: number;
}

/** A token bucket for each caller and each tenant. Where several nodes serve, each has an equal share of the rate. */
export function createCallLimit(
  quotas: Quotas,
  ticks: () => number,
  nodes: () => number,
): (scope: Scope) => void {
  /** The least recently used first. */
  const buckets = new Map<string, Bucket>();

  function takeBucket(key: string, burst: number): Bucket {
    const bucket = buckets.get(key) ?? { level: burst, at: ticks() };
    // The least recently used bucket is full again, or nearly.
    if (!buckets.delete(key) && buckets.size >= LIMITS.callersMax)
      buckets.delete(buckets.keys().next().value as string);
    buckets.set(key, bucket);
    return bucket;
  }

  /** `waitMs`: how long until a call is allowed; 0: it is. */
  function fill(
    scope: Scope,
    subject: QuotaSubject,
  ): { readonly bucket?: Bucket; readonly waitMs: number; readonly rate: number } {
    const { callsPerSecond: rate, callsBurst } = quotaOf(quotas, scope, subject);
    if (rate === undefined) return { waitMs: 0, rate: 0 };
    const burst = Math.max(1, (callsBurst ?? 2 * rate) / nodes());
    const bucket = takeBucket(`${subject} ${keyOf(scope, subject)}`, burst);
    const time = ticks();
    const share = rate / nodes();
    bucket.level = Math.min(burst, bucket.level + ((time - bucket.at) / 1_000) * share);
    bucket.at = time;
    return { bucket, rate, waitMs: bucket.level >= 1 ? 0 : ((1 - bucket.level) / share) * 1_000 };
  }

  return scope => {
    const filled = QUOTA_SUBJECTS.map(subject => ({ subject, ...fill(scope, subject) }));
    const exceeded = filled.find(one => one.waitMs > 0);
    if (exceeded)
      throw new Fault(
        "rate-limited",
        `Rate limit exceeded: ${SUBJECT_NAMES[exceeded.subject]} may make ${exceeded.rate} calls per second`,
        { retryAfterMs: exceeded.waitMs },
      );
    // A refused call does not count, for either subject.
    for (const { bucket } of filled) if (bucket) bucket.level -= 1;
  };
}
