import { setTimeout as sleep } from "node:timers/promises";
import { CONTENDERS } from "./contenders.ts";
import type { Generator } from "./generator.ts";
import type { Order, Outcome, RpcWire } from "./load/order.ts";
import { readCpuMs, readRssKib } from "./proc.ts";
import type { Reading } from "./ratios.ts";
import { IDLE_SENDS_BEFORE, IDLE_STREAMS, type LoadEntry } from "./scenarios.ts";
import type { Server } from "./server.ts";

/** The result of one round of one entry. */
export interface Round {
  reading: Reading | undefined;
  /** Share of one core that the load generator used. */
  generatorShare: number;
  /** The error, if there is no reading. */
  problem: string | undefined;
}

/** Work that a server defers until after its last response belongs to the round. */
const AFTERWORK_MS = 150;
const DRAIN_MS = 20_000;
const OPERATIONS_MAX = 1_000_000;
/** Memory is read after garbage of the opening has been collected, or not: users see both. */
const IDLE_SETTLE_MS = 1_500;
const WARM_MS_MAX = 60_000;
const FILL_MS_MAX = 120_000;
const HOLD_MS_MAX = 60_000;

export async function measureLoad(
  entry: LoadEntry,
  server: Server,
  generator: Generator,
  ms: number,
): Promise<Round> {
  await generator.prepare({ ...toOrder(entry, server.port), ms });
  const before = readCpuMs(server.group);
  const outcome = await generator.go();
  await sleep(AFTERWORK_MS);
  return toRound(outcome, readCpuMs(server.group) - before, entry.units);
}

/** Sends until the server has the tasks that the entry needs. */
export async function fill(entry: LoadEntry, server: Server, generator: Generator): Promise<void> {
  const { tasksBefore = 0 } = entry;
  if (tasksBefore === 0) return;
  const order = toOrder({ ...entry, work: { kind: "send" }, connections: 32 }, server.port);
  await generator.prepare({ ...order, operationsMax: tasksBefore, ms: FILL_MS_MAX });
  const { failures, failure } = await generator.go();
  if (failures > 0) throw new Error(`${failures} of ${tasksBefore} sends failed: ${failure}`);
}

function toOrder(entry: LoadEntry, port: number): Omit<Order, "ms"> {
  const { wire = CONTENDERS[entry.contender].wire, work, over, connections } = entry;
  return { port, wire, over, work, connections, drainMs: DRAIN_MS, operationsMax: OPERATIONS_MAX };
}

function toRound(outcome: Outcome, cpuMs: number, units: number): Round {
  const { operations, elapsedMs, failures, failure } = outcome;
  if (failures > 0 || operations === 0) {
    const problem = `${failures} failed: ${failure ?? "nothing was answered"}`;
    return { reading: undefined, generatorShare: 0, problem };
  }
  const generatorShare = outcome.generatorMs / elapsedMs;
  const done = operations * units;
  const reading = { perSecond: done / (elapsedMs / 1000), cost: (cpuMs * 1000) / done };
  return { reading, generatorShare, problem: undefined };
}

/**
 * The server has answered calls and opened as many streams before: the memory that V8 takes to compile its code and to grow its
 * heap for the first time belongs to no stream.
 */
export async function measureIdle(entry: LoadEntry, server: Server, generator: Generator): Promise<Round> {
  const order = toOrder(entry, server.port);
  await generator.prepare({ ...order, operationsMax: IDLE_SENDS_BEFORE, ms: WARM_MS_MAX });
  const { failures, failure } = await generator.go();
  if (failures > 0) throw new Error(`${failures} sends of the warm-up failed: ${failure}`);
  const openStreams = async (): Promise<void> => {
    const wire = order.wire as RpcWire;
    await generator.hold({ port: order.port, wire, streams: IDLE_STREAMS, ms: HOLD_MS_MAX });
    await sleep(IDLE_SETTLE_MS);
  };
  await openStreams();
  const before = readRssKib(server.group);
  await openStreams();
  const cost = (readRssKib(server.group) - before) / IDLE_STREAMS;
  await generator.release();
  return { reading: { perSecond: undefined, cost }, generatorShare: 0, problem: undefined };
}
