import { LIMITS } from "../model/index.ts";
import type { PushSubscription } from "../ports/index.ts";

export interface RetryParts {
  readonly wallTime: () => number;
  /** At least 0, below 1. */
  readonly random: () => number;
  readonly pushRetryMs: number;
  readonly pushGiveUpMs: number;
}

/** The time of the next attempt: exponential backoff with jitter; undefined: give up. */
export function nextAttemptAt(
  parts: RetryParts,
  failed: NonNullable<PushSubscription["failed"]>,
  retryAfterMs: number,
): number | undefined {
  const now = parts.wallTime();
  const end = failed.since + parts.pushGiveUpMs;
  if (now >= end) return undefined;
  const delayMs = Math.min(parts.pushRetryMs * 2 ** (failed.count - 1), LIMITS.pushRetryMaxMs);
  const jittered = Math.ceil(delayMs * (0.5 + parts.random() / 2));
  return Math.min(now + Math.max(jittered, retryAfterMs), end);
}

/** The subscription waited for a claim until long after its end. */
export const isOverdue = ({ wallTime, pushGiveUpMs }: RetryParts, { failed }: PushSubscription): boolean =>
  failed !== undefined && wallTime() > failed.since + pushGiveUpMs + LIMITS.pushRetryMaxMs;

/** RFC 9110 §10.2.3: seconds, or a date. */
export function readRetryAfter(value: string | null, now: number): number {
  if (value === null) return 0;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return ms > 0 ? ms : 0;
}
