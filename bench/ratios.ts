import type { Comparison, Target } from "./scenarios.ts";

/** The result of one round of one entry. */
export interface Reading {
  /** Operations (or chunks) per second; not measured for memory. */
  perSecond: number | undefined;
  /** CPU µs per operation (or chunk), or KiB per stream. */
  cost: number;
}

export interface Spread {
  median: number;
  lowest: number;
  highest: number;
}

export interface Compared {
  /** Ours / theirs: more is better. */
  perSecond: Spread | undefined;
  cost: Spread;
  verdict: "ok" | "below" | "above" | undefined;
}

/** Readings of one entry by round; a round that failed is undefined, so that rounds still pair up. */
export type Rounds = (Reading | undefined)[];

export function compare(ours: Rounds, theirs: Rounds, { target }: Comparison): Compared | undefined {
  const costs = pair(ours, theirs, reading => reading.cost);
  if (costs.length === 0) return undefined;
  const lessIsBetter = target !== undefined && "atMost" in target;
  const cost = toSpread(costs.map(([mine, other]) => (lessIsBetter ? mine / other : other / mine)));
  const rates = pair(ours, theirs, reading => reading.perSecond);
  const perSecond = rates.length > 0 ? toSpread(rates.map(([mine, other]) => mine / other)) : undefined;
  return { perSecond, cost, verdict: toVerdict(cost.median, perSecond?.median, target) };
}

/** Ratios are computed for each round: a disturbance of a round affects both sides of it. */
function pair(
  ours: Rounds,
  theirs: Rounds,
  read: (reading: Reading) => number | undefined,
): [number, number][] {
  return ours.flatMap((reading, round) => {
    const mine = reading && read(reading);
    const other = theirs[round] && read(theirs[round]);
    return mine === undefined || other === undefined ? [] : [[mine, other] as [number, number]];
  });
}

export function toSpread(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  return { median, lowest: sorted[0]!, highest: sorted.at(-1)! };
}

function toVerdict(
  median: number,
  perSecond: number | undefined,
  target: Target | undefined,
): Compared["verdict"] {
  if (target === undefined) return undefined;
  if ("atLeast" in target)
    return median >= target.atLeast && (perSecond ?? 0) >= (target.perSecond ?? 0) ? "ok" : "below";
  return median <= target.atMost ? "ok" : "above";
}
