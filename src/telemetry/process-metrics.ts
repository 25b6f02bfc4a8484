import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics } from "node:v8";
import { Histogram, type Meter, type Sample } from "./meters.ts";

/** Metrics of the process and of Node, by the names that Prometheus dashboards for Node know. */
export function createProcessMetrics(): readonly Meter[] {
  return [...cpuMetrics(), ...memoryMetrics(), ...fileMetrics(), ...eventLoopMetrics(), gcMetric()];
}

type Label = readonly [name: string, value: string];

const sample = (name: string, value: number, ...labels: readonly Label[]): Sample => ({
  name,
  value,
  labels: Object.fromEntries(labels),
});

/** A metric that is measured when Prometheus asks. */
const measured = (kind: "counter" | "gauge", name: string, help: string, measure: () => number): Meter => ({
  facts: { name, kind, help, labels: [] },
  samples: () => [sample(name, measure())],
});

/** The same with one label: one sample per value of it. */
const measuredBy = (
  label: string,
  name: string,
  help: string,
  measure: () => Iterable<readonly [value: string, measured: number]>,
): Meter => ({
  facts: { name, kind: "gauge", help, labels: [label] },
  samples: () => Array.from(measure(), ([value, number]) => sample(name, number, [label, value])),
});

const MICROSECONDS = 1e6;
const NANOSECONDS = 1e9;

function cpuMetrics(): readonly Meter[] {
  const startedAt = Math.round(performance.timeOrigin / 1_000);
  const seconds = (of: (usage: NodeJS.CpuUsage) => number) => () => of(process.cpuUsage()) / MICROSECONDS;
  return [
    measured(
      "counter",
      "process_cpu_user_seconds_total",
      "User CPU time spent in seconds",
      seconds(one => one.user),
    ),
    measured(
      "counter",
      "process_cpu_system_seconds_total",
      "System CPU time spent in seconds",
      seconds(one => one.system),
    ),
    measured(
      "counter",
      "process_cpu_seconds_total",
      "User and system CPU time spent in seconds",
      seconds(one => one.user + one.system),
    ),
    measured(
      "gauge",
      "process_start_time_seconds",
      "Start time of the process in Unix time",
      () => startedAt,
    ),
    measuredBy("version", "nodejs_version_info", "Version of Node", () => [[process.version, 1]]),
  ];
}

function memoryMetrics(): readonly Meter[] {
  const memory = (of: (usage: NodeJS.MemoryUsage) => number) => () => of(process.memoryUsage());
  const spaces = (of: (space: ReturnType<typeof getHeapSpaceStatistics>[number]) => number) => () =>
    getHeapSpaceStatistics().map(one => [one.space_name.replace(/_space$/, ""), of(one)] as const);
  return [
    measured(
      "gauge",
      "process_resident_memory_bytes",
      "Resident memory in bytes",
      memory(one => one.rss),
    ),
    measured(
      "gauge",
      "nodejs_heap_size_total_bytes",
      "Size of the JavaScript heap in bytes",
      memory(one => one.heapTotal),
    ),
    measured(
      "gauge",
      "nodejs_heap_size_used_bytes",
      "Used part of the JavaScript heap in bytes",
      memory(one => one.heapUsed),
    ),
    measured(
      "gauge",
      "nodejs_external_memory_bytes",
      "Memory of objects outside of the heap in bytes",
      memory(one => one.external),
    ),
    measuredBy(
      "space",
      "nodejs_heap_space_size_total_bytes",
      "Size of each heap space in bytes",
      spaces(one => one.space_size),
    ),
    measuredBy(
      "space",
      "nodejs_heap_space_size_used_bytes",
      "Used part of each heap space in bytes",
      spaces(one => one.space_used_size),
    ),
    measuredBy(
      "space",
      "nodejs_heap_space_size_available_bytes",
      "Available part of each heap space in bytes",
      spaces(one => one.space_available_size),
    ),
  ];
}

/** Linux tells these in /proc; elsewhere there is nothing to tell. */
function fileMetrics(): readonly Meter[] {
  if (process.platform !== "linux") return [];
  const bytesOf = (line: string) => () =>
    1_024 * numberIn("/proc/self/status", new RegExp(`^${line}:\\s+(\\d+) kB`, "m"));
  return [
    measured("gauge", "process_virtual_memory_bytes", "Virtual memory in bytes", bytesOf("VmSize")),
    measured("gauge", "process_heap_bytes", "Data segment of the process in bytes", bytesOf("VmData")),
    measured(
      "gauge",
      "process_open_fds",
      "Open file descriptors",
      () => readdirSync("/proc/self/fd").length - 1,
    ),
    measured("gauge", "process_max_fds", "Limit of open file descriptors", () =>
      numberIn("/proc/self/limits", /^Max open files\s+(\d+)/m),
    ),
  ];
}

const numberIn = (file: string, pattern: RegExp): number =>
  Number(pattern.exec(readFileSync(file, "utf8"))?.[1] ?? Number.NaN);

/** The delays of the event loop since the last scrape. */
function eventLoopMetrics(): readonly Meter[] {
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  const lag = (which: string, help: string, measure: () => number): Meter =>
    measured("gauge", `nodejs_eventloop_lag_${which}seconds`, help, () => measure() / NANOSECONDS);
  const percentile = (rank: number): Meter =>
    lag(`p${rank}_`, `${rank}th percentile of the event loop delay`, () => delays.percentile(rank));
  const resources = (): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>();
    for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
    return counts;
  };
  const last: Meter = {
    facts: {
      name: "nodejs_eventloop_lag_seconds",
      kind: "gauge",
      help: "Mean event loop delay since the last scrape",
      labels: [],
    },
    // The last of the list, so that all of them tell of the same time.
    samples: () => {
      const value = delays.mean / NANOSECONDS;
      delays.reset();
      return [sample("nodejs_eventloop_lag_seconds", value)];
    },
  };
  return [
    lag("min_", "Shortest event loop delay", () => delays.min),
    lag("max_", "Longest event loop delay", () => delays.max),
    lag("mean_", "Mean event loop delay", () => delays.mean),
    lag("stddev_", "Standard deviation of the event loop delay", () => delays.stddev),
    percentile(50),
    percentile(90),
    percentile(99),
    last,
    measuredBy("type", "nodejs_active_resources", "Resources that keep the event loop alive", resources),
    measured(
      "gauge",
      "nodejs_active_resources_total",
      "All resources that keep the event loop alive",
      () => process.getActiveResourcesInfo().length,
    ),
  ];
}

/** By the bits of `detail.kind` of a garbage collection entry. */
const GC_KINDS: ReadonlyMap<number, string> = new Map([
  [1, "minor"],
  [2, "minor"],
  [4, "major"],
  [8, "incremental"],
  [16, "weakcb"],
]);

function gcMetric(): Meter {
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
      histogram.observe([GC_KINDS.get(kind) ?? "other"], entry.duration / 1_000);
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  return histogram;
}
