import type { Endpoint, Store } from "../ports/index.ts";
import type { Meter } from "./meters.ts";
import type { Meters } from "./metrics.ts";
import { PROMETHEUS_TYPE, toPrometheusText } from "./prometheus-text.ts";

/** Values that are read when Prometheus asks. */
export interface Sources {
  readonly version: () => string;
  readonly store: Store;
  readonly runsRunning: () => number;
  readonly streamsOpen: () => number;
  readonly unreadBytes: () => number;
}

/** The Prometheus endpoint. */
export function metricsRoute(meters: Meters, sources: Sources): Endpoint {
  let all: readonly Meter[] | undefined;

  async function measure(): Promise<void> {
    const { store } = sources;
    meters.build.set([sources.version(), process.versions.node], 1);
    meters.streams.set([], sources.streamsOpen());
    meters.unread.set([], sources.unreadBytes());
    meters.running.set([], sources.runsRunning());
    meters.waiting.set([], store.runs.waiting());
    meters.storeBytes.set([], await store.maintenance.bytes());
    meters.unfinished.clear();
    for (const [agent, count] of await store.runs.unfinished()) meters.unfinished.set([agent], count);
  }

  return {
    verb: "GET",
    path: "/metrics",
    async serve() {
      // Loaded with the first scrape: most servers never get one.
      const { createProcessMetrics } = await import("./process-metrics.ts");
      all ??= [...Object.values(meters), ...createProcessMetrics()];
      await measure();
      return { status: 200, headers: { "Content-Type": PROMETHEUS_TYPE }, text: toPrometheusText(all) };
    },
  };
}
