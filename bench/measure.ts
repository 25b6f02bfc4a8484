import { setTimeout as sleep } from "node:timers/promises";
import { CONTENDERS } from "./contenders.ts";
import type { Generator } from "./generator.ts";
import type { Order, Outcome } from "./load/order.ts";
import { readCpuMs, readRssKib } from "./proc.ts";
import type { Reading } from "./ratios.ts";
import { IDLE_SENDS_BEFORE, IDLE_STREAMS, type LoadEntry } from "./scenarios.ts";
import type { Server } from "./server.ts";

/** What one round of one entry found. */
export interface Round {
  reading: Reading | undefined;
  /** Share of one core that the load generator used. */
  generatorShare: number;
  /** What went wrong; then the reading is missing. */
  problem: string | undefined;
}

/** Work that a server puts off until after its last answer belongs to the round. */
const AFTERWORK_MS = 150;
const DRAIN_MS = 20_000;
const OPERATIONS_MAX = 1_000_000;
/** Memory is read when closures of the burst of opening have been collected, or not: both are what a user sees. */
const IDLE_SETTLE_MS = 1_500;
const WARM_MS_MAX = 60_000;
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

/** The server has worked before, like any that has a thousand callers: what V8 takes to compile it is no stream's. */
export async function measureIdle(entry: LoadEntry, server: Server, generator: Generator): Promise<Round> {
  const order = toOrder(entry, server.port);
  await generator.prepare({ ...order, operationsMax: IDLE_SENDS_BEFORE, ms: WARM_MS_MAX });
  const { failures, failure } = await generator.go();
  if (failures > 0) throw new Error(`${failures} sends of the warm-up failed: ${failure}`);
  await sleep(IDLE_SETTLE_MS);
  const before = readRssKib(server.group);
  await generator.hold({ port: order.port, wire: order.wire, streams: IDLE_STREAMS, ms: HOLD_MS_MAX });
  await sleep(IDLE_SETTLE_MS);
  const cost = (readRssKib(server.group) - before) / IDLE_STREAMS;
  await generator.release();
  return { reading: { perSecond: undefined, cost }, generatorShare: 0, problem: undefined };
}
