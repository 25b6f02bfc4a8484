/** The results of the cluster as tables: what was measured, and the targets. */
import { availableParallelism } from "node:os";
import { toSpread } from "../ratios.ts";
import { toTable } from "../report.ts";

/** The number of nodes, and how they notify each other. */
export interface Setting {
  nodes: number;
  notify: "NOTIFY" | "NATS";
}

/** The result of one round of one setting. */
export interface ClusterReading extends Setting {
  perSecond: number;
  /** Microseconds of CPU for each event: in the nodes that run, in the node that streams, in Postgres. */
  cpu: { runs: number; reads: number; postgres: number };
  p50Ms: number;
  p99Ms: number;
  /** Calls per second of all nodes together, each with its own callers. */
  sends: number;
  /** Microseconds of CPU for each of these calls. */
  sendCpu: { nodes: number; postgres: number };
  /** Runs per second of all nodes together, of agents that wait. */
  waiting: number;
  /**
   * After a kill: until all its runs have output elsewhere, and until all have ended; undefined: no node can
   * take over.
   */
  takeOverMs: number | undefined;
  doneMs: number | undefined;
}

export interface ClusterResult {
  readings: ClusterReading[];
  leaseMs: number;
  problems: string[];
}

/**
 * The result of a prototype of 120 lines, without HTTP: two processes that run, one that reads from Postgres
 * itself.
 */
const PROTOTYPE = ["prototype", "NOTIFY", "30200", "", "11.0", "48.0", "", "", "", "", "4.3 s"];
const HEAD = [
  "nodes",
  "notify",
  "events/s",
  "µs CPU/event: runs, reads, Postgres",
  "p50 ms",
  "p99 ms",
  "sends/s",
  "µs CPU/send: nodes, Postgres",
  "waiting runs/s",
  "taken over",
  "all done",
];

/** Below that, three nodes, their load generators and Postgres share cores, and their calls per second are those of the machine. */
const CORES_FOR_THREE = 8;

export function describeCluster({ readings, leaseMs, problems }: ClusterResult): string {
  const settings = new Map(readings.map(one => [`${one.notify} ${one.nodes}`, one]));
  const rows = [...settings.values()].map(({ nodes, notify }) =>
    toCells(toMedian(readings.filter(one => one.nodes === nodes && one.notify === notify))),
  );
  return [
    "",
    ...toTable(HEAD, [...rows, PROTOTYPE]),
    "",
    ...toTable(["cluster", "measured", "target", ""], toVerdicts(readings, leaseMs)),
    "",
    "Medians. events/s: received by a client of one node while the others run them (with one node: on the same).",
    `p50, p99: from the agent to the client, at about 1,000 events/s. taken over, all done: the last of the\nruns of a node after kill -9, with a lease of ${leaseMs / 1_000} s and 2 s of work each.`,
    ...problems,
    "",
  ].join("\n");
}

/** One round in one line. */
export const describeReading = (reading: ClusterReading): string => toCells(reading).slice(2).join("  ");

/** Of nodes on NOTIFY: with two nodes, and three nodes against one. */
function toVerdicts(readings: readonly ClusterReading[], leaseMs: number): string[][] {
  const find = (nodes: number): ClusterReading | undefined => {
    const found = readings.filter(one => one.nodes === nodes && one.notify === "NOTIFY");
    return found.length > 0 ? toMedian(found) : undefined;
  };
  const [one, two, three] = [find(1), find(2), find(3)];
  const ratio = (of: (reading: ClusterReading) => number): number | undefined =>
    one && three ? of(three) / of(one) : undefined;
  const takeOver = two?.takeOverMs === undefined ? undefined : two.takeOverMs / leaseMs;
  const cores = availableParallelism();
  const sends = toRow(
    `sends/s of three nodes against one, ${cores} cores`,
    ratio(got => got.sends),
    1.8,
    true,
  );
  const cpu = ratio(got => got.sendCpu.nodes + got.sendCpu.postgres);
  return [
    toRow("events/s seen on another node", two?.perSecond, 60_000, true),
    toRow("p50 ms at 1,000 events/s", two?.p50Ms, 3, false),
    toRow("p99 ms at 1,000 events/s", two?.p99Ms, 15, false),
    toRow("taken over after a kill, in leases", takeOver, 1.5, false),
    cores < CORES_FOR_THREE ? [...sends.slice(0, 3), `needs ${CORES_FOR_THREE} cores`] : sends,
    toRow(
      "runs/s of agents that wait, of three nodes against one",
      ratio(got => got.waiting),
      1.8,
      true,
    ),
    ["CPU of nodes and Postgres for a send, of three nodes against one", toText(cpu), "", ""],
  ];
}

const toText = (value: number | undefined): string => value?.toPrecision(3) ?? "not measured";

function toRow(what: string, value: number | undefined, limit: number, isLeast: boolean): string[] {
  const isReached = value !== undefined && (isLeast ? value >= limit : value <= limit);
  const shown = value !== undefined && value >= 1_000 ? Math.round(value).toString() : toText(value);
  return [what, shown, `${isLeast ? "≥" : "≤"} ${limit}`, isReached ? "ok" : "missed"];
}

function toMedian(found: readonly ClusterReading[]): ClusterReading {
  const median = (of: (one: ClusterReading) => number | undefined): number =>
    toSpread(found.map(one => of(one) ?? Number.NaN)).median;
  return {
    ...(found[0] as ClusterReading),
    perSecond: median(one => one.perSecond),
    cpu: {
      runs: median(one => one.cpu.runs),
      reads: median(one => one.cpu.reads),
      postgres: median(one => one.cpu.postgres),
    },
    p50Ms: median(one => one.p50Ms),
    p99Ms: median(one => one.p99Ms),
    sends: median(one => one.sends),
    sendCpu: {
      nodes: median(one => one.sendCpu.nodes),
      postgres: median(one => one.sendCpu.postgres),
    },
    waiting: median(one => one.waiting),
    takeOverMs: median(one => one.takeOverMs),
    doneMs: median(one => one.doneMs),
  };
}

function toCells({ nodes, notify, perSecond, cpu, p50Ms, p99Ms, sends, ...more }: ClusterReading): string[] {
  const { sendCpu, waiting, takeOverMs, doneMs } = more;
  const seconds = (ms: number | undefined): string =>
    ms === undefined || Number.isNaN(ms) ? "" : `${(ms / 1_000).toFixed(1)} s`;
  return [
    String(nodes),
    nodes === 1 ? "" : notify,
    Math.round(perSecond).toString(),
    [cpu.runs, cpu.reads, cpu.postgres].map(one => one.toFixed(1)).join(", "),
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    Math.round(sends).toString(),
    [sendCpu.nodes, sendCpu.postgres].map(one => one.toFixed(0)).join(", "),
    waiting.toFixed(0),
    seconds(takeOverMs),
    seconds(doneMs),
  ];
}
