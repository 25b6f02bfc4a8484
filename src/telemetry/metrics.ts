/** Every metric with its name, help text and labels. */
import { Counter, Gauge, Histogram, type Meter, type MetricFacts } from "./meters.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

export const METRICS = {
  build: {
    name: "dragoman_build_info",
    kind: "gauge",
    labels: ["version", "node"],
    help: "Always 1; its labels tell which version runs on which Node",
  },
  calls: {
    name: "dragoman_calls_total",
    kind: "counter",
    labels: ["dialect", "binding", "operation", "outcome"],
    help: "Calls that have ended; the outcome is ok or the code of a fault",
  },
  callSeconds: {
    name: "dragoman_call_seconds",
    kind: "histogram",
    labels: ["binding", "operation"],
    help: "How long calls took, streams to their end",
    buckets: SECONDS,
  },
  firstEventSeconds: {
    name: "dragoman_first_event_seconds",
    kind: "histogram",
    labels: ["operation"],
    help: "How long readers of streams waited for the first event",
    buckets: SECONDS,
  },
  lagSeconds: {
    name: "dragoman_log_lag_seconds",
    kind: "histogram",
    labels: [],
    help: "How old events were when a reader that follows a log got them",
    buckets: SECONDS,
  },
  streams: { name: "dragoman_streams_open", kind: "gauge", labels: [], help: "Open streams" },
  unread: {
    name: "dragoman_unread_bytes",
    kind: "gauge",
    labels: [],
    help: "Bytes of large answers that callers have not read yet",
  },
  runs: {
    name: "dragoman_runs_total",
    kind: "counter",
    labels: ["agent", "outcome"],
    help: "Runs that have ended; the outcome is the state of the task, broken or released",
  },
  runSeconds: {
    name: "dragoman_run_seconds",
    kind: "histogram",
    labels: ["agent"],
    help: "How long runs took",
    buckets: SECONDS,
  },
  queueSeconds: {
    name: "dragoman_queue_seconds",
    kind: "histogram",
    labels: ["agent"],
    help: "How long due tasks waited for their run",
    buckets: SECONDS,
  },
  attempts: {
    name: "dragoman_attempts_total",
    kind: "counter",
    labels: ["agent"],
    help: "Runs that were begun",
  },
  crashes: {
    name: "dragoman_crashes_total",
    kind: "counter",
    labels: ["agent"],
    help: "Runs that were begun because the one before was cut off",
  },
  running: { name: "dragoman_runs_running", kind: "gauge", labels: [], help: "Runs under way" },
  waiting: { name: "dragoman_tasks_waiting", kind: "gauge", labels: [], help: "Tasks that wait for a run" },
  unfinished: {
    name: "dragoman_tasks_unfinished",
    kind: "gauge",
    labels: ["agent"],
    help: "Tasks that wait for a run or are worked on",
  },
  usage: {
    name: "dragoman_usage_total",
    kind: "counter",
    labels: ["agent", "counter"],
    help: "What agents counted with ctx.usage",
  },
  events: {
    name: "dragoman_events_total",
    kind: "counter",
    labels: [],
    help: "Events that were committed",
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
    help: "How long commits took",
    buckets: SECONDS,
  },
  commitFailures: {
    name: "dragoman_commit_failures_total",
    kind: "counter",
    labels: [],
    help: "Commits that the store could not write",
  },
  storeBytes: {
    name: "dragoman_store_bytes",
    kind: "gauge",
    labels: [],
    help: "Bytes of the store on disk; 0: it is in memory",
  },
  swept: {
    name: "dragoman_swept_tasks_total",
    kind: "counter",
    labels: ["agent"],
    help: "Tasks that a retention no longer kept, whole or their events",
  },
  pushAttempts: {
    name: "dragoman_push_attempts_total",
    kind: "counter",
    labels: ["outcome"],
    help: "Attempts to deliver to a webhook; the outcome is taken or failed",
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
    help: "For how long the oldest delivery to a webhook has failed; 0: none does",
  },
  outbound: {
    name: "dragoman_outbound_calls_total",
    kind: "counter",
    labels: ["target", "outcome"],
    help: "Calls to others; the outcome is the class of the status, or failed",
  },
  outboundSeconds: {
    name: "dragoman_outbound_seconds",
    kind: "histogram",
    labels: ["target"],
    help: "How long calls to others took, to the head of their reply",
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
