/** Every metric with its name, help text and labels. */
import { Counter, Gauge, Histogram, type Meter, type MetricFacts } from "./meters.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

export const METRICS = {
  build: {
    name: "dragoman_build_info",
    kind: "gauge",
    labels: ["version", "node"],
    help: "Always 1; the labels have the versions of the server and of Node",
  },
  calls: {
    name: "dragoman_calls_total",
    kind: "counter",
    labels: ["dialect", "binding", "operation", "outcome"],
    help: "Finished calls; the outcome is ok or the code of a fault",
  },
  callSeconds: {
    name: "dragoman_call_seconds",
    kind: "histogram",
    labels: ["binding", "operation"],
    help: "Duration of calls, streams to their end",
    buckets: SECONDS,
  },
  firstEventSeconds: {
    name: "dragoman_first_event_seconds",
    kind: "histogram",
    labels: ["operation"],
    help: "Time until the first event of a stream",
    buckets: SECONDS,
  },
  lagSeconds: {
    name: "dragoman_log_lag_seconds",
    kind: "histogram",
    labels: [],
    help: "Age of events when a reader at the end of a log gets them",
    buckets: SECONDS,
  },
  streams: { name: "dragoman_streams_open", kind: "gauge", labels: [], help: "Open streams" },
  unread: {
    name: "dragoman_unread_bytes",
    kind: "gauge",
    labels: [],
    help: "Bytes of large responses that callers have not read yet",
  },
  runs: {
    name: "dragoman_runs_total",
    kind: "counter",
    labels: ["agent", "outcome"],
    help: "Finished runs; the outcome is the state of the task, broken or released",
  },
  runSeconds: {
    name: "dragoman_run_seconds",
    kind: "histogram",
    labels: ["agent"],
    help: "Duration of runs",
    buckets: SECONDS,
  },
  queueSeconds: {
    name: "dragoman_queue_seconds",
    kind: "histogram",
    labels: ["agent"],
    help: "Time that due tasks waited for their run",
    buckets: SECONDS,
  },
  attempts: {
    name: "dragoman_attempts_total",
    kind: "counter",
    labels: ["agent"],
    help: "Started runs",
  },
  crashes: {
    name: "dragoman_crashes_total",
    kind: "counter",
    labels: ["agent"],
    help: "Started runs whose previous run was interrupted",
  },
  running: { name: "dragoman_runs_running", kind: "gauge", labels: [], help: "Current runs" },
  waiting: { name: "dragoman_tasks_waiting", kind: "gauge", labels: [], help: "Tasks that wait for a run" },
  unfinished: {
    name: "dragoman_tasks_unfinished",
    kind: "gauge",
    labels: ["agent"],
    help: "Tasks that wait for a run or are running",
  },
  usage: {
    name: "dragoman_usage_total",
    kind: "counter",
    labels: ["agent", "counter"],
    help: "Counters that agents report with ctx.usage",
  },
  events: {
    name: "dragoman_events_total",
    kind: "counter",
    labels: [],
    help: "Committed events",
  },
  commitTasks: {
    name: "dragoman_commit_tasks",
    kind: "histogram",
    labels: [],
    help: "Tasks in one commit",
    buckets: SIZES,
  },
  commitSeconds: {
    name: "dragoman_commit_seconds",
    kind: "histogram",
    labels: [],
    help: "Duration of commits",
    buckets: SECONDS,
  },
  commitFailures: {
    name: "dragoman_commit_failures_total",
    kind: "counter",
    labels: [],
    help: "Failed commits",
  },
  storeBytes: {
    name: "dragoman_store_bytes",
    kind: "gauge",
    labels: [],
    help: "Bytes of the store on disk; 0: in memory",
  },
  swept: {
    name: "dragoman_swept_tasks_total",
    kind: "counter",
    labels: ["agent"],
    help: "Tasks that retention deleted, or whose events it deleted",
  },
  pushAttempts: {
    name: "dragoman_push_attempts_total",
    kind: "counter",
    labels: ["outcome"],
    help: "Delivery attempts to webhooks; the outcome is taken or failed",
  },
  pushGivenUp: {
    name: "dragoman_push_given_up_total",
    kind: "counter",
    labels: [],
    help: "Deliveries to webhooks that were given up",
  },
  pushOldest: {
    name: "dragoman_push_oldest_seconds",
    kind: "gauge",
    labels: [],
    help: "Time since the first failure of the oldest failing delivery; 0: none fails",
  },
  outbound: {
    name: "dragoman_outbound_calls_total",
    kind: "counter",
    labels: ["target", "outcome"],
    help: "Outbound requests; the outcome is the class of the status, or failed",
  },
  outboundSeconds: {
    name: "dragoman_outbound_seconds",
    kind: "histogram",
    labels: ["target"],
    help: "Duration of outbound requests, to the head of the response",
    buckets: SECONDS,
  },
} as const satisfies Readonly<Record<string, MetricFacts>>;

type Table = typeof METRICS;
interface Kinds<Names extends readonly string[]> {
  counter: Counter<Names>;
  gauge: Gauge<Names>;
  histogram: Histogram<Names>;
}
/** One meter per metric. */
export type Meters = { readonly [M in keyof Table]: Kinds<Table[M]["labels"]>[Table[M]["kind"]] };

const KINDS: Readonly<Record<MetricFacts["kind"], new (facts: MetricFacts) => Meter>> = {
  counter: Counter,
  gauge: Gauge,
  histogram: Histogram,
};

export function createMeters(): Meters {
  const meters = Object.entries(METRICS).map(([name, facts]) => [name, new KINDS[facts.kind](facts)]);
  return Object.fromEntries(meters) as Meters;
}
