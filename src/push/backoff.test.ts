import { expect, it } from "vitest";
import { LIMITS } from "../model/index.ts";
import type { PushSubscription } from "../ports/index.ts";
import { isOverdue, nextAttemptAt, readRetryAfter } from "./backoff.ts";

const HOUR = 3_600_000;
const parts = { wallTime: () => 0, random: () => 0.5, pushRetryMs: 1_000, pushGiveUpMs: 24 * HOUR };
const waits = (count: number, more: object = {}, after = 0): number | undefined =>
  nextAttemptAt({ ...parts, ...more }, { count, since: 0 }, after);

it("waits twice as long each time, up to an hour", () => {
  expect([1, 2, 3, 4].map(count => waits(count))).toEqual([750, 1_500, 3_000, 6_000]);
  for (const count of [20, 100, 5_000]) expect(waits(count)).toBe(0.75 * HOUR);
});

it("adds jitter: between half of the delay and all of it", () => {
  expect(waits(1, { random: () => 0 })).toBe(500);
  expect(waits(1, { random: () => 0.999_999 })).toBe(1_000);
  expect(waits(1, { random: () => 0.123_45 })).toBe(562);
});

it("waits as long as Retry-After says, but not beyond the end", () => {
  expect(waits(1, {}, 60_000)).toBe(60_000);
  expect(waits(5, {}, 10)).toBe(12_000);
  expect(waits(1, {}, 100 * HOUR)).toBe(24 * HOUR);
});

it("gives up after a last attempt at the end", () => {
  const wallTime = (): number => 24 * HOUR - 10;
  expect(waits(30, { wallTime })).toBe(24 * HOUR);
  expect(waits(31, { wallTime: () => 24 * HOUR })).toBeUndefined();
  expect(waits(1, { pushGiveUpMs: 0 })).toBeUndefined();
});

it("a subscription that waited for its claim until long after the end is overdue", () => {
  const subscription = { failed: { count: 3, since: 0 } } as PushSubscription;
  const late = 24 * HOUR + LIMITS.pushRetryMaxMs;
  expect(isOverdue({ ...parts, wallTime: () => late }, subscription)).toBe(false);
  expect(isOverdue({ ...parts, wallTime: () => late + 1 }, subscription)).toBe(true);
  expect(isOverdue({ ...parts, wallTime: () => late + 1 }, {} as PushSubscription)).toBe(false);
});

it.each([
  [null, 0],
  ["0", 0],
  ["120", 120_000],
  ["-5", 0],
  ["soon", 0],
  ["9999999999999", 0],
  ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
  ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
])("Retry-After: %s is %d ms", (value, ms) => {
  expect(readRetryAfter(value, Date.UTC(2026, 0, 1))).toBe(ms);
});
