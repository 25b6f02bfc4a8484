import { expect, it } from "vitest";
import { createExposition } from "./exposition.ts";
import { Counter, Gauge, Histogram, SERIES_MAX } from "./meters.ts";
import { METRICS } from "./metrics.ts";

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

it("what stands in a label cannot break the text", async () => {
  const counter = new Counter<["agent"]>({ ...facts, name: "c_total", kind: "counter" });
  counter.add(['a"b\\c\nd']);
  const text = await (await createExposition([counter])).text();
  expect(text).toContain('c_total{agent="a\\"b\\\\c\\nd"} 1');
});

it("metrics are named as Prometheus recommends: a prefix, a unit, and what only grows ends in total", () => {
  for (const { name, kind } of Object.values(METRICS)) {
    expect(name).toMatch(/^dragoman_[a-z_]+$/);
    expect(name.endsWith("_total")).toBe(kind === "counter");
  }
});
