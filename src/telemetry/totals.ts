import type { HistogramTotals, MeterTotals } from "../ports/index.ts";
import type { Counter, Histogram } from "./meters.ts";
import type { Meters } from "./metrics.ts";

export function readTotals(meters: Meters): MeterTotals {
  const labelled = (
    counter: Counter,
  ): readonly { labels: Readonly<Record<string, string>>; count: number }[] =>
    counter.samples().map(({ labels, value }) => ({ labels, count: value }));
  const pushes = labelled(meters.pushAttempts as Counter);
  const pushed = (outcome: string): number => pushes.find(one => one.labels.outcome === outcome)?.count ?? 0;
  return {
    calls: labelled(meters.calls as Counter).map(({ labels, count }) => ({
      dialect: labels.dialect ?? "",
      operation: labels.operation ?? "",
      outcome: labels.outcome ?? "",
      count,
    })),
    callSeconds: toTotals(meters.callSeconds as Histogram),
    firstEventSeconds: toTotals(meters.firstEventSeconds as Histogram),
    commitSeconds: toTotals(meters.commitSeconds as Histogram),
    events: sum(meters.events as Counter),
    runs: labelled(meters.runs as Counter).map(({ labels, count }) => ({
      agent: labels.agent ?? "",
      outcome: labels.outcome ?? "",
      count,
    })),
    crashes: labelled(meters.crashes as Counter).map(({ labels, count }) => ({
      agent: labels.agent ?? "",
      count,
    })),
    pushes: { taken: pushed("taken"), failed: pushed("failed"), givenUp: sum(meters.pushGivenUp as Counter) },
  };
}

const toTotals = (histogram: Histogram): HistogramTotals => ({
  bounds: histogram.facts.buckets ?? [],
  counts: histogram.totals(),
});

const sum = (counter: Counter): number => counter.samples().reduce((total, { value }) => total + value, 0);
