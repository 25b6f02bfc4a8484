import { existsSync, readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, type HeapSpaceInfo } from "node:v8";
import { Histogram, type Meter } from "./meters.ts";

/** Metrics of the process and of Node, by the names that Prometheus dashboards for Node know. */
export function createProcessMetrics(): readonly Meter[] {
  const cpu = process.cpuUsage;
  const memory = process.memoryUsage;
  return [
    counter("process_cpu_user_seconds_total", "User CPU time", () => cpu().user / MICROSECONDS),
    counter("process_cpu_system_seconds_total", "System CPU time", () => cpu().system / MICROSECONDS),
    counter("process_cpu_seconds_total", "User and system CPU time", () => {
      const { user, system } = cpu();
      return (user + system) / MICROSECONDS;
    }),
    gauge("process_start_time_seconds", "Start in Unix time", () => Math.round(performance.timeOrigin / 1e3)),
    gauge("process_resident_memory_bytes", "Resident memory", () => memory().rss),
    gauge("nodejs_heap_size_total_bytes", "Size of the JavaScript heap", () => memory().heapTotal),
    gauge("nodejs_heap_size_used_bytes", "Used part of the JavaScript heap", () => memory().heapUsed),
    gauge("nodejs_external_memory_bytes", "Objects outside of the heap", () => memory().external),
    heapSpace("nodejs_heap_space_size_total_bytes", "Size of each heap space", one => one.space_size),
    heapSpace("nodejs_heap_space_size_used_bytes", "Used part of each space", one => one.space_used_size),
    heapSpace(
      "nodejs_heap_space_size_available_bytes",
      "Rest of each space",
      one => one.space_available_size,
    ),
    labelled("version", "nodejs_version_info", "Version of Node", () => [[process.version, 1]]),
    labelled("type", "nodejs_active_resources", "Resources that keep the process alive", countResources),
    gauge(
      "nodejs_active_resources_total",
      "All such resources",
      () => process.getActiveResourcesInfo().length,
    ),
    // Not on every system, and not in every container.
    ...(existsSync("/proc/self/limits") ? createProcMetrics() : []),
    ...createEventLoopMetrics(),
    createGcMetric(),
  ];
}

const MICROSECONDS = 1e6;
const NANOSECONDS = 1e9;

/** Measured when Prometheus asks. */
const metric = (kind: "counter" | "gauge", name: string, help: string, measure: () => number): Meter => ({
  facts: { name, kind, help, labels: [] },
  samples: () => [{ name, labels: {}, value: measure() }],
});
const counter = metric.bind(null, "counter");
const gauge = metric.bind(null, "gauge");

const labelled = (
  label: string,
  name: string,
  help: string,
  measure: () => Iterable<readonly [label: string, value: number]>,
): Meter => ({
  facts: { name, kind: "gauge", help, labels: [label] },
  samples: () => Array.from(measure(), ([text, value]) => ({ name, labels: { [label]: text }, value })),
});

const heapSpace = (name: string, help: string, sizeOf: (space: HeapSpaceInfo) => number): Meter =>
  labelled("space", name, help, () =>
    getHeapSpaceStatistics().map(one => [one.space_name.replace(/_space$/, ""), sizeOf(one)] as const),
  );

function countResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

function createProcMetrics(): readonly Meter[] {
  const numberIn = (file: string, pattern: RegExp): number =>
    Number(pattern.exec(readFileSync(`/proc/self/${file}`, "utf8"))?.[1] ?? Number.NaN);
  const kilobytes = (pattern: RegExp) => () => 1_024 * numberIn("status", pattern);
  return [
    gauge("process_virtual_memory_bytes", "Virtual memory", kilobytes(/^VmSize:\s+(\d+) kB/m)),
    gauge("process_heap_bytes", "Data segment of the process", kilobytes(/^VmData:\s+(\d+) kB/m)),
    gauge("process_open_fds", "Open file descriptors", () => readdirSync("/proc/self/fd").length - 1),
    gauge("process_max_fds", "Limit of open file descriptors", () =>
      numberIn("limits", /^Max open files\s+(\d+)/m),
    ),
  ];
}

/** The delays of the event loop since the last scrape. */
function createEventLoopMetrics(): readonly Meter[] {
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  const lag = (which: string, help: string, measure: (all: typeof delays) => number): Meter =>
    gauge(`nodejs_eventloop_lag_${which}seconds`, help, () => measure(delays) / NANOSECONDS);
  return [
    lag("min_", "Shortest event loop delay", one => one.min),
    lag("max_", "Longest event loop delay", one => one.max),
    lag("mean_", "Mean event loop delay", one => one.mean),
    lag("stddev_", "Standard deviation of the event loop delay", one => one.stddev),
    lag("p50_", "Median event loop delay", one => one.percentile(50)),
    lag("p90_", "90th percentile of the event loop delay", one => one.percentile(90)),
    lag("p99_", "99th percentile of the event loop delay", one => one.percentile(99)),
    // The last of them, so that all are of the same time.
    lag("", "Mean event loop delay since the last scrape", one => {
      const { mean } = one;
      one.reset();
      return mean;
    }),
  ];
}

/** By `detail.kind` of a garbage collection entry. */
const GC_KINDS: Readonly<Record<number, string>> = {
  1: "minor",
  2: "minor",
  4: "major",
  8: "incremental",
  16: "weakcb",
};

function createGcMetric(): Meter {
  const histogram = new Histogram<readonly ["kind"]>({
    name: "nodejs_gc_duration_seconds",
    kind: "histogram",
    help: "Duration of garbage collections by kind",
    labels: ["kind"],
    buckets: [0.001, 0.01, 0.1, 1, 2, 5],
  });
  const observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) {
      const { kind = 0 } = (entry as { readonly detail?: { readonly kind?: number } }).detail ?? {};
      histogram.observe([GC_KINDS[kind] ?? "other"], entry.duration / 1_000);
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  return histogram;
}
