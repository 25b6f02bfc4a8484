/**
 * Several nodes on one Postgres: throughput and delay of events that one node runs and another one streams,
 * and the takeover after a kill.
 */
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
import { type ClusterReading, type ClusterResult, describeReading, type Setting } from "./cluster/report.ts";
import { beginTask, type Chunk, now, openStreams, type Streams, type TaskStream } from "./cluster/streams.ts";
import { measureWaiting } from "./cluster/waiting.ts";
import { createGenerator } from "./generator.ts";
import { readCpuMs, readFamilyCpuMs } from "./proc.ts";
import type { Tools } from "./run.ts";

export { describeCluster } from "./cluster/report.ts";

const SETTINGS: Setting[] = [
  { nodes: 1, notify: "NOTIFY" },
  { nodes: 2, notify: "NOTIFY" },
  { nodes: 3, notify: "NOTIFY" },
  { nodes: 2, notify: "NATS" },
  { nodes: 3, notify: "NATS" },
];

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
  const result: ClusterResult = { readings: [], leaseMs: LEASE_MS, problems: [] };
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
    tools.print(`  ${label}: ${describeReading(reading)}`);
  } catch (error) {
    result.problems.push(`cluster, ${label}: ${(error as Error).message}`);
    tools.print(`  ${label}: ${(error as Error).message}`);
  }
}

async function measure(setting: Setting, postgres: PostgresServer, tools: Tools): Promise<ClusterReading> {
  const waiting = await measureWaiting(setting.nodes, await postgres.createDatabase(), tools.children);
  return { ...(await measureRest(setting, postgres, tools)), waiting };
}

type WithoutWaiting = Omit<ClusterReading, "waiting">;

async function measureRest(
  setting: Setting,
  postgres: PostgresServer,
  tools: Tools,
): Promise<WithoutWaiting> {
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
    const sends = await measureSends(setting.nodes > 1 ? [successor, ...runs] : runs, postgres, children);
    const reading = { ...setting, ...flood, ...drip, ...sends };
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
async function measureSends(
  nodes: readonly Node[],
  postgres: PostgresServer,
  children: Children,
): Promise<Pick<ClusterReading, "sends" | "sendCpu">> {
  const generators = nodes.map(() => createGenerator(children));
  const connections = Math.ceil(SEND_CONNECTIONS / nodes.length);
  const order = { wire: "v1", over: "jsonrpc", work: { kind: "send" }, connections } as const;
  const send = async (ms: number): Promise<Pick<ClusterReading, "sends" | "sendCpu">> => {
    await Promise.all(
      generators.map((one, i) =>
        one.prepare({ ...order, port: (nodes[i] as Node).port, ms, drainMs: 20_000, operationsMax: 1e6 }),
      ),
    );
    const readCpu = (): [number, number] => [
      nodes.reduce((sum, node) => sum + readCpuMs(node.group), 0),
      readFamilyCpuMs(postgres.group),
    ];
    const before = readCpu();
    const outcomes = await Promise.all(generators.map(one => one.go()));
    const after = readCpu();
    const failed = outcomes.find(one => one.failures > 0);
    if (failed) throw new Error(`${failed.failures} sends failed: ${failed.failure}`);
    const all = outcomes.reduce((sum, one) => sum + one.operations, 0);
    const perSend = (which: 0 | 1): number => (1_000 * (after[which] - before[which])) / all;
    return {
      sends: outcomes.reduce((sum, one) => sum + one.operations / (one.elapsedMs / 1_000), 0),
      sendCpu: { nodes: perSend(0), postgres: perSend(1) },
    };
  };
  await send(SENDS_WARM_MS);
  const sent = await send(SENDS_MS);
  for (const one of generators) await one.end();
  return sent;
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
