import { checkFully, checkQuickly, type Expected, readTask } from "./check.ts";
import { type Connection, openConnection } from "./connection.ts";
import { openGrpcConnection } from "./grpc.ts";
import type { Order, Outcome, Work } from "./order.ts";
import {
  type CallWriter,
  createBareWriter,
  createGetWriter,
  createKeys,
  createMessageWriter,
} from "./wire.ts";

/** After so many failures the rest of a round teaches nothing. */
const FAILURES_MAX = 10;

const ECHO = "echo the quick brown fox";

interface Lane {
  connection: Connection;
  write: CallWriter;
}

interface Tally {
  started: number;
  finished: number;
  lastEndMs: number;
  failures: string[];
}

/** Opens the connections first, so that a round measures operations and nothing else. */
export async function prepare(order: Order): Promise<() => Promise<Outcome>> {
  const nextKey = createKeys();
  const lanes = await Promise.all(
    Array.from({ length: order.connections }, () => openLane(order, nextKey())),
  );
  return () => drive(order, lanes, nextKey);
}

async function openLane(order: Order, key: string): Promise<Lane> {
  if (order.over !== "jsonrpc") return await openBareLane(order);
  const connection = await openConnection(order.port);
  return { connection, write: await createWriter(order, connection, key) };
}

/** Without the envelope of JSON-RPC. */
async function openBareLane({ over, port }: Order): Promise<Lane> {
  const connection = await (over === "grpc" ? openGrpcConnection(port) : openConnection(port));
  return { connection, write: createBareWriter(over, ECHO, port) };
}

async function createWriter(
  { wire, work, port }: Order,
  connection: Connection,
  key: string,
): Promise<CallWriter> {
  if (work.kind === "stream") return createMessageWriter(wire, "stream", toText(work), port);
  const send = createMessageWriter(wire, "send", toText(work), port);
  if (work.kind === "send") return send;
  const expected: Expected = { wire, over: "jsonrpc", work: { kind: "send" }, key, text: ECHO };
  const answer = await connection.call(send(key));
  checkFully(answer, expected);
  return createGetWriter(wire, String(readTask(answer, expected).id), port);
}

async function drive(order: Order, lanes: Lane[], nextKey: () => string): Promise<Outcome> {
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const tally: Tally = { started: 0, finished: 0, lastEndMs: startMs, failures: [] };
  // Whatever still waits then is cut off, and counts as a failure.
  const cut = setTimeout(() => closeAll(lanes, new Error("not answered in time")), order.ms + order.drainMs);
  await Promise.all(lanes.map(lane => driveLane(order, lane, tally, startMs + order.ms, nextKey)));
  clearTimeout(cut);
  closeAll(lanes);
  const cpu = process.cpuUsage(cpuBefore);
  return {
    operations: tally.finished,
    elapsedMs: tally.lastEndMs - startMs,
    failures: tally.failures.length,
    failure: tally.failures[0],
    generatorMs: (cpu.user + cpu.system) / 1000,
  };
}

async function driveLane(order: Order, lane: Lane, tally: Tally, endMs: number, nextKey: () => string) {
  const { wire, over, work } = order;
  while (performance.now() < endMs && tally.started < order.operationsMax) {
    const expected: Expected = { wire, over, work, key: nextKey(), text: ECHO };
    const check = tally.started++ === 0 ? checkFully : checkQuickly;
    try {
      check(await lane.connection.call(lane.write(expected.key)), expected);
      tally.finished++;
      tally.lastEndMs = performance.now();
    } catch (error) {
      tally.failures.push((error as Error).message);
      if (tally.failures.length >= FAILURES_MAX) return;
    }
  }
}

function closeAll(lanes: Lane[], why?: Error): void {
  for (const lane of lanes) lane.connection.close(why);
}

function toText(work: Work): string {
  return work.kind === "stream" ? `stream ${work.chunks}` : ECHO;
}
