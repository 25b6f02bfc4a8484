/** Meters as the text that Prometheus reads. */
import type { Metric, Registry } from "prom-client";
import type { Meter } from "./meters.ts";

export interface Exposition {
  readonly type: string;
  text(): Promise<string>;
}

/** With what the process tells about itself. Loaded with the first question: most servers are never asked. */
export async function createExposition(meters: readonly Meter[]): Promise<Exposition> {
  const { Registry, collectDefaultMetrics } = (await import("prom-client")).default;
  const register: Registry = new Registry();
  for (const meter of meters) register.registerMetric(toMetric(meter));
  collectDefaultMetrics({ register });
  return { type: register.contentType, text: () => register.metrics() };
}

/** What a registry asks of a metric. */
const toMetric = (meter: Meter): Metric =>
  ({
    name: meter.facts.name,
    async get() {
      const { name, help, kind: type } = meter.facts;
      const values = meter.samples().map(one => ({ ...one, metricName: one.name }));
      return { name, help, type, values, aggregator: "sum" };
    },
  }) as unknown as Metric;
