import { checkFully, checkQuickly, type Expected, readTask } from "./check.ts";
import { type Connection, openConnection } from "./connection.ts";
import { isFrontEnd } from "./front-ends.ts";
import { openGrpcConnection } from "./grpc.ts";
import type { Order, Outcome, RpcWire, Work } from "./order.ts";
import { createWebhook, type Webhook } from "./webhook.ts";
import {
  type CallWriter,
  createBareWriter,
  createFrontEndWriter,
  createGetWriter,
  createKeys,
  createListWriter,
  createMessageWriter,
  createPushWriter,
  createResumeWriter,
} from "./wire.ts";

/** After so many failures the rest of a round is useless. */
const FAILURES_MAX = 10;

const ECHO = "echo the quick brown fox";

interface Worker {
  connection: Connection;
  write: CallWriter;
  /** Its deliveries are the operations. */
  webhook?: Webhook;
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
  const webhook = order.work.kind === "push" ? await createWebhook() : undefined;
  const workers = await Promise.all(
    Array.from({ length: order.connections }, () => openWorker(order, nextKey(), webhook)),
  );
  return () => drive(order, workers, nextKey).finally(() => webhook?.close());
}

async function openWorker(order: Order, key: string, webhook: Webhook | undefined): Promise<Worker> {
  if (order.over !== "jsonrpc") return await openBareWorker(order);
  const connection = await openConnection(order.port);
  if (webhook) return { connection, write: createPushWriter(ECHO, webhook.url, order.port), webhook };
  return { connection, write: await createWriter(order, connection, key) };
}

/** Without the envelope of JSON-RPC. */
async function openBareWorker({ wire, work, over, port }: Order): Promise<Worker> {
  const connection = await (over === "grpc" ? openGrpcConnection(port) : openConnection(port));
  if (isFrontEnd(wire)) return { connection, write: createFrontEndWriter(wire, work, toText(work), port) };
  return { connection, write: createBareWriter(over, ECHO, port) };
}

async function createWriter(order: Order, connection: Connection, key: string): Promise<CallWriter> {
  const { work, port } = order;
  const wire = order.wire as RpcWire;
  if (work.kind === "list") return createListWriter(port);
  if (work.kind === "stream") return createMessageWriter(wire, "stream", toText(work), port);
  const send = createMessageWriter(wire, "send", toText(work), port);
  if (work.kind === "send") return send;
  const expected: Expected = { wire, over: "jsonrpc", work: { kind: "send" }, key, text: ECHO };
  const answer = await connection.call(send(key));
  checkQuickly(answer, expected);
  const taskId = String(readTask(answer, expected).id);
  return work.kind === "resume" ? createResumeWriter(taskId, port) : createGetWriter(wire, taskId, port);
}

async function drive(order: Order, workers: Worker[], nextKey: () => string): Promise<Outcome> {
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const tally: Tally = { started: 0, finished: 0, lastEndMs: startMs, failures: [] };
  // Calls that are still pending then are aborted, and count as failures.
  const cut = setTimeout(() => closeAll(workers, new Error("no response in time")), order.ms + order.drainMs);
  await Promise.all(workers.map(worker => driveWorker(order, worker, tally, startMs + order.ms, nextKey)));
  clearTimeout(cut);
  closeAll(workers);
  const cpu = process.cpuUsage(cpuBefore);
  return {
    operations: tally.finished,
    elapsedMs: tally.lastEndMs - startMs,
    failures: tally.failures.length,
    failure: tally.failures[0],
    generatorMs: (cpu.user + cpu.system) / 1000,
  };
}

async function driveWorker(order: Order, worker: Worker, tally: Tally, endMs: number, nextKey: () => string) {
  const { wire, over, work } = order;
  while (performance.now() < endMs && tally.started < order.operationsMax) {
    const expected: Expected = { wire, over, work, key: nextKey(), text: ECHO };
    const check = tally.started++ === 0 ? checkFully : checkQuickly;
    try {
      const answer = await worker.connection.call(worker.write(expected.key));
      check(answer, expected);
      const operations = (await worker.webhook?.delivered(String(readTask(answer, expected).id))) ?? 1;
      tally.finished += operations;
      tally.lastEndMs = performance.now();
    } catch (error) {
      tally.failures.push((error as Error).message);
      if (tally.failures.length >= FAILURES_MAX) return;
    }
  }
}

function closeAll(workers: Worker[], why?: Error): void {
  for (const worker of workers) worker.connection.close(why);
}

function toText(work: Work): string {
  return "chunks" in work ? `stream ${work.chunks}` : ECHO;
}
