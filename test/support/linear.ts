import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";

/**
 * How much the input grows in all, and how much more than that the cost may grow: quadratic cost would be 8
 * times as much. Inputs that outgrow the caches of the processor, and V8's sorting of numeric names, were seen to
 * take 3 times as much.
 */
const GROWTH = [1, 2, 4, 8] as const;
const SLACK = 4;
const ROUNDS = 5;
const MEASURED_MAX = 6;
/** The minimum duration of a measurement, in microseconds. */
const MEASURED_US = 1_000;

/** Microseconds of CPU of one run: the minimum of several rounds. Other processes do not count. */
async function costOf<T>(work: (input: T) => unknown, input: T): Promise<number> {
  let runs = 1;
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; ) {
    await setImmediate();
    const before = process.cpuUsage();
    for (let i = 0; i < runs; i++) await work(input);
    const { user, system } = process.cpuUsage(before);
    if (user + system < MEASURED_US) {
      runs *= 2;
      continue;
    }
    least = Math.min(least, (user + system) / runs);
    round += 1;
  }
  return least;
}

/** `size`: of the smallest input of `make`. */
export async function expectLinear<T>(
  work: (input: T) => unknown,
  make: (size: number) => T,
  size: number,
): Promise<void> {
  const smallest = make(size);
  for (const growth of GROWTH) {
    const input = make(size * growth);
    let ratio = Number.POSITIVE_INFINITY;
    // Other processes evict caches and slow the processor down: both costs are measured under the same load, and the
    // smallest of several ratios counts.
    for (let round = 0; ratio >= growth * SLACK && round < MEASURED_MAX; round++)
      ratio = Math.min(ratio, (await costOf(work, input)) / (await costOf(work, smallest)));
    // Checked at every size: work that is too slow at one size would not end at the next.
    expect(ratio, `${growth} times the input`).toBeLessThan(growth * SLACK);
  }
}
