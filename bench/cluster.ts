/**
 * Several nodes on one Postgres: throughput and delay of events that one node runs and another one streams,
 * and the takeover after a kill.
 */
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "./children.ts";
import {
  hasNats,
  type Node,
  type PostgresServer,
  startNats,
  startNode,
  startPostgres,
} from "./cluster/processes.ts";
import { beginTask, type Chunk, now, openStreams, type Streams, type TaskStream } from "./cluster/streams.ts";
import { createGenerator } from "./generator.ts";
import { readCpuMs, readFamilyCpuMs } from "./proc.ts";
import { toSpread } from "./ratios.ts";
import { toTable } from "./report.ts";
import type { Tools } from "./run.ts";

/** The number of nodes, and how they notify each other. */
interface Setting {
  nodes: number;
  notify: "NOTIFY" | "NATS";
}
const SETTINGS: Setting[] = [
  { nodes: 1, notify: "NOTIFY" },
  { nodes: 2, notify: "NOTIFY" },
  { nodes: 3, notify: "NOTIFY" },
  { nodes: 2, notify: "NATS" },
  { nodes: 3, notify: "NATS" },
];

/** The result of one round of one setting. */
export interface ClusterReading extends Setting {
  perSecond: number;
  /** Microseconds of CPU for each event: in the nodes that run, in the node that streams, in Postgres. */
  cpu: { runs: number; reads: number; postgres: number };
  p50Ms: number;
  p99Ms: number;
  /** Calls per second of all nodes together, each with its own callers. */
  sends: number;
  /**
   * After a kill: until all its runs have output elsewhere, and until all have ended; undefined: no node can
   * take over.
   */
  takeOverMs: number | undefined;
  doneMs: number | undefined;
}

export interface ClusterResult {
  readings: ClusterReading[];
  problems: string[];
}

/** At full speed: so many runs, each with so many events. */
const FLOODS = 100;
const FLOOD = { count: 2_000, pauseMs: 0 };
/** About 1,000 events a second, for ten seconds. */
const DRIPS = 20;
const DRIP = { count: 500, pauseMs: 20 };
/** Runs that are interrupted, each with two seconds of work. */
const INTERRUPTED = 6;
const TASK = { count: 100, pauseMs: 20 };
const LEASE_MS = 2_000;
/** Sends to all nodes. */
const SEND_CONNECTIONS = 64;
const SENDS_WARM_MS = 3_000;
const SENDS_MS = 3_000;
/** The runs start so much later, when all streams are open. */
const AHEAD_MS = 3_000;
const WAIT_MS_MAX = 120_000;

export async function runCluster(tools: Tools): Promise<ClusterResult> {
  const { children, options, print } = tools;
  print(
    `\ncluster: nodes on one Postgres that writes to disk; ${FLOODS} runs at full speed, then ${DRIPS} at 50 events/s, then a kill`,
  );
  const result: ClusterResult = { readings: [], problems: [] };
  const settings = SETTINGS.filter(({ notify }) => notify === "NOTIFY" || hasNats);
  if (!hasNats) print("  NATS is skipped: nats-server is not installed (Debian package nats-server)");
  const postgres = await startPostgres(children, options.folder);
  try {
    for (let round = 0; round < options.clusterRounds; round++)
      for (const setting of settings) await measureOne(setting, postgres, result, tools);
  } finally {
    await postgres.stop();
  }
  return result;
}

async function measureOne(
  setting: Setting,
  postgres: PostgresServer,
  result: ClusterResult,
  tools: Tools,
): Promise<void> {
  const label = `${setting.nodes} ${setting.notify}`;
  try {
    const reading = await measure(setting, postgres, tools);
    result.readings.push(reading);
    tools.print(`  ${label}: ${toCells(reading).slice(2).join("  ")}`);
  } catch (error) {
    result.problems.push(`cluster, ${label}: ${(error as Error).message}`);
    tools.print(`  ${label}: ${(error as Error).message}`);
  }
}

async function measure(setting: Setting, postgres: PostgresServer, tools: Tools): Promise<ClusterReading> {
  const { children } = tools;
  const data = await postgres.createDatabase();
  const nats = setting.notify === "NATS" ? await startNats(children) : undefined;
  const flags = ["--lease-ms", String(LEASE_MS), ...(nats ? ["--notify", nats.url] : [])];
  const nodes: Node[] = [];
  const start = async (more: readonly string[] = []): Promise<Node> => {
    const node = await startNode(children, data, [...flags, ...more]);
    nodes.push(node);
    return node;
  };
  try {
    // The first node streams, and has at most one run itself; with one node, it does both.
    const reads = await start(setting.nodes > 1 ? ["--runs-max", "1"] : []);
    while (nodes.length < setting.nodes) await start();
    const runs = setting.nodes > 1 ? nodes.slice(1) : nodes;
    const flood = await measureFlood(reads, runs, postgres);
    const drip = await measureDrip(reads, runs);
    if (setting.nodes > 1) await children.end(reads.child);
    const successor = setting.nodes > 1 ? await start() : reads;
    const sends = await measureSends(setting.nodes > 1 ? [successor, ...runs] : runs, children);
    const reading = { ...setting, ...flood, ...drip, sends };
    if (setting.nodes === 1) return { ...reading, takeOverMs: undefined, doneMs: undefined };
    return { ...reading, ...(await measureKill(successor, runs, children.end)) };
  } finally {
    await Promise.all(nodes.map(node => children.end(node.child)));
    await nats?.stop();
  }
}

/**
 * Tasks that run on some nodes in turn, and are streamed from another; they start when all streams are open.
 */
async function begin(
  reads: Node,
  runs: readonly Node[],
  count: number,
  work: { readonly count: number; readonly pauseMs: number },
): Promise<Streams> {
  const beginAt = Math.ceil(now() + AHEAD_MS);
  const text = `flood ${work.count} ${work.pauseMs} ${beginAt}`;
  const ids = await Promise.all(
    Array.from({ length: count }, (_, i) => beginTask((runs[i % runs.length] as Node).url, text)),
  );
  const streams = await openStreams(reads.url, ids);
  if (now() > beginAt) throw new Error("the machine is too slow to begin in time");
  return streams;
}

async function untilOver({ over, each }: Streams): Promise<void> {
  const late = sleep(WAIT_MS_MAX, "late", { ref: false });
  if ((await Promise.race([over, late])) !== "late") return;
  const open = each.filter(one => one.endedAt === undefined).length;
  throw new Error(`${open} of ${each.length} streams were still open after ${WAIT_MS_MAX / 1_000} s`);
}

/** All chunks of other nodes; with one node, all. */
const chunksOf = ({ each }: Streams, reads: Node, runs: readonly Node[]): readonly Chunk[] =>
  each.flatMap(one => one.chunks).filter(chunk => runs.includes(reads) || chunk.pid !== reads.group);

async function measureFlood(
  reads: Node,
  runs: readonly Node[],
  postgres: PostgresServer,
): Promise<Pick<ClusterReading, "perSecond" | "cpu">> {
  const readCpu = () => ({
    runs: runs.reduce((sum, node) => sum + readCpuMs(node.group), 0),
    reads: readCpuMs(reads.group),
    postgres: readFamilyCpuMs(postgres.group),
  });
  const streams = await begin(reads, runs, FLOODS, FLOOD);
  const before = readCpu();
  await untilOver(streams);
  const after = readCpu();
  const all = streams.each.reduce((sum, one) => sum + one.chunks.length, 0);
  if (all !== FLOODS * FLOOD.count)
    throw new Error(`${all} chunks arrived instead of ${FLOODS * FLOOD.count}`);
  const chunks = chunksOf(streams, reads, runs);
  const [first, last] = [Math.min, Math.max].map(of =>
    chunks.reduce((at, one) => of(at, one.receivedAt), chunks[0]?.receivedAt ?? 0),
  ) as [number, number];
  const perChunk = (of: "runs" | "reads" | "postgres"): number => (1_000 * (after[of] - before[of])) / all;
  return {
    perSecond: chunks.length / ((last - first) / 1_000),
    cpu: { runs: perChunk("runs"), reads: perChunk("reads"), postgres: perChunk("postgres") },
  };
}

async function measureDrip(
  reads: Node,
  runs: readonly Node[],
): Promise<Pick<ClusterReading, "p50Ms" | "p99Ms">> {
  const streams = await begin(reads, runs, DRIPS, DRIP);
  await untilOver(streams);
  const delays = chunksOf(streams, reads, runs)
    .map(chunk => chunk.receivedAt - chunk.sentAt)
    .toSorted((a, b) => a - b);
  const at = (share: number): number => delays[Math.floor(share * (delays.length - 1))] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** A load generator for each node; the connections are shared among them. */
async function measureSends(nodes: readonly Node[], children: Children): Promise<number> {
  const generators = nodes.map(() => createGenerator(children));
  const connections = Math.ceil(SEND_CONNECTIONS / nodes.length);
  const order = { wire: "v1", over: "jsonrpc", work: { kind: "send" }, connections } as const;
  let perSecond = 0;
  for (const ms of [SENDS_WARM_MS, SENDS_MS]) {
    await Promise.all(
      generators.map((one, i) =>
        one.prepare({ ...order, port: (nodes[i] as Node).port, ms, drainMs: 20_000, operationsMax: 1e6 }),
      ),
    );
    const outcomes = await Promise.all(generators.map(one => one.go()));
    const failed = outcomes.find(one => one.failures > 0);
    if (failed) throw new Error(`${failed.failures} sends failed: ${failed.failure}`);
    perSecond = outcomes.reduce((sum, one) => sum + one.operations / (one.elapsedMs / 1_000), 0);
  }
  for (const one of generators) await one.end();
  return perSecond;
}

/** The node with most of the runs is killed; the others take them over. */
async function measureKill(
  successor: Node,
  others: readonly Node[],
  end: (child: Node["child"]) => Promise<void>,
): Promise<{ takeOverMs: number; doneMs: number }> {
  const streams = await begin(successor, others, INTERRUPTED * (others.length + 1), TASK);
  while (streams.each.some(one => one.chunks.length === 0)) await sleep(5);
  const runsOf = ({ group }: Node): readonly TaskStream[] =>
    streams.each.filter(one => one.chunks[0]?.pid === group);
  const [killed] = others.toSorted((a, b) => runsOf(b).length - runsOf(a).length) as [Node];
  const interrupted = runsOf(killed);
  if (interrupted.length === 0) throw new Error("no node other than the reading one executed a run");
  await end(killed.child);
  const killedAt = now();
  await untilOver(streams);
  const taken = interrupted.map(
    one => one.chunks.find(chunk => chunk.pid !== killed.group)?.receivedAt ?? Number.NaN,
  );
  const ended = interrupted.map(one => one.endedAt ?? Number.NaN);
  return { takeOverMs: Math.max(...taken) - killedAt, doneMs: Math.max(...ended) - killedAt };
}

/**
 * The result of a prototype of 120 lines, without HTTP: two processes that run, one that reads from Postgres
 * itself.
 */
const PROTOTYPE = ["prototype", "NOTIFY", "30200", "", "11.0", "48.0", "", "", "4.3 s"];
const HEAD = [
  "nodes",
  "notify",
  "events/s",
  "µs CPU/event: runs, reads, Postgres",
  "p50 ms",
  "p99 ms",
  "sends/s",
  "taken over",
  "all done",
];

export function describeCluster({ readings, problems }: ClusterResult): string {
  const rows = SETTINGS.flatMap(({ nodes, notify }) => {
    const found = readings.filter(one => one.nodes === nodes && one.notify === notify);
    return found.length === 0 ? [] : [toCells(toMedian(found))];
  });
  return [
    "",
    ...toTable(HEAD, [...rows, PROTOTYPE]),
    "",
    ...toVerdicts(readings),
    "",
    "Medians. events/s: received by a client of one node while the others run them (with one node: on the same).",
    `p50, p99: from the agent to the client, at about 1,000 events/s. taken over, all done: the last of the\nruns of a node after kill -9, with a lease of ${LEASE_MS / 1_000} s and 2 s of work each.`,
    ...problems,
    "",
  ].join("\n");
}

/** What nodes on NOTIFY should reach: with two nodes, and three nodes against one. */
function toVerdicts(readings: readonly ClusterReading[]): string[] {
  const find = (nodes: number): ClusterReading | undefined => {
    const found = readings.filter(one => one.nodes === nodes && one.notify === "NOTIFY");
    return found.length > 0 ? toMedian(found) : undefined;
  };
  const [one, two, three] = [find(1), find(2), find(3)];
  const toLine = (what: string, value: number | undefined, limit: number, isLeast: boolean): string => {
    const reached = value !== undefined && (isLeast ? value >= limit : value <= limit);
    return `${what}: ${value?.toPrecision(3) ?? "not measured"}, ${isLeast ? "≥" : "≤"} ${limit}: ${reached ? "ok" : "missed"}`;
  };
  const takeOver = two?.takeOverMs === undefined ? undefined : two.takeOverMs / LEASE_MS;
  const ratio = one && three ? three.sends / one.sends : undefined;
  return [
    toLine("events/s seen remotely", two?.perSecond, 60_000, true),
    toLine("p50 ms", two?.p50Ms, 3, false),
    toLine("p99 ms", two?.p99Ms, 15, false),
    toLine("taken over after so many leases", takeOver, 1.5, false),
    toLine(`sends of three nodes against one, on ${availableParallelism()} cores`, ratio, 1.8, true),
  ];
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
    takeOverMs: median(one => one.takeOverMs),
    doneMs: median(one => one.doneMs),
  };
}

function toCells({
  nodes,
  notify,
  perSecond,
  cpu,
  p50Ms,
  p99Ms,
  sends,
  takeOverMs,
  doneMs,
}: ClusterReading): string[] {
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
    seconds(takeOverMs),
    seconds(doneMs),
  ];
}
