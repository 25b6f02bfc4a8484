import { collectDefaultMetrics, Registry } from "prom-client";
import { expect, it } from "vitest";
import { Counter, Gauge, Histogram, SERIES_MAX } from "./meters.ts";
import { METRICS } from "./metrics.ts";
import { createProcessMetrics } from "./process-metrics.ts";
import { toPrometheusText } from "./prometheus-text.ts";

const facts = { help: "", labels: ["agent"] } as const;

it("a counter has a series for each set of labels, and one for all that are too many", () => {
  const counter = new Counter<["agent"]>({ ...facts, name: "c", kind: "counter" });
  for (let i = 0; i < SERIES_MAX + 50; i++) counter.add([`a${i}`]);
  const samples = counter.samples();
  expect(samples).toHaveLength(SERIES_MAX + 1);
  expect(samples.at(-1)).toEqual({ name: "c", labels: { agent: "other" }, value: 50 });
});

it("a histogram counts upwards, as Prometheus wants it", () => {
  const histogram = new Histogram<[]>({
    name: "h",
    kind: "histogram",
    labels: [],
    help: "",
    buckets: [1, 10],
  });
  for (const value of [0.5, 1, 2, 100]) histogram.observe([], value);
  expect(histogram.samples().map(({ name, labels, value }) => [name, labels.le, value])).toEqual([
    ["h_bucket", "1", 2],
    ["h_bucket", "10", 3],
    ["h_bucket", "+Inf", 4],
    ["h_sum", undefined, 103.5],
    ["h_count", undefined, 4],
  ]);
});

it("a gauge shows what was set last, or what it follows", () => {
  const gauge = new Gauge<[]>({ name: "g", kind: "gauge", labels: [], help: "" });
  gauge.set([], 3);
  expect(gauge.samples()[0]?.value).toBe(3);
  gauge.follow(() => 7);
  expect(gauge.samples()[0]?.value).toBe(7);
});

it("the value of a label cannot break the text", () => {
  const counter = new Counter<["agent"]>({ ...facts, name: "c_total", kind: "counter" });
  counter.add(['a"b\\c\nd']);
  expect(toPrometheusText([counter])).toContain('c_total{agent="a\\"b\\\\c\\nd"} 1');
});

it("metrics are named as Prometheus recommends: a prefix, a unit, and what only grows ends in total", () => {
  for (const { name, kind } of Object.values(METRICS)) {
    expect(name).toMatch(/^dragoman_[a-z_]+$/);
    expect(name.endsWith("_total")).toBe(kind === "counter");
  }
});

/** Metrics of prom-client that read private functions of Node. */
const PRIVATE = /^nodejs_active_(?:handles|requests)/;

it("metrics of the process have the names, types and labels that prom-client gives them", async () => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const judge = (await registry.getMetricsAsJSON()).filter(({ name }) => !PRIVATE.test(name));
  const ours = new Map(createProcessMetrics().map(meter => [meter.facts.name, meter]));
  expect([...ours.keys()].toSorted()).toEqual(judge.map(({ name }) => name).toSorted());
  for (const { name, type, values } of judge as unknown as readonly Judged[]) {
    const meter = ours.get(name);
    expect([name, meter?.facts.kind]).toEqual([name, type]);
    const labels = new Set(
      values
        .flatMap(({ labels }) => Object.keys(labels))
        .filter(one => one in { kind: 1, space: 1, type: 1 }),
    );
    for (const label of labels) expect([name, meter?.facts.labels]).toEqual([name, [label]]);
  }
});

interface Judged {
  readonly name: string;
  readonly type: string;
  readonly values: readonly { readonly labels: object }[];
}
