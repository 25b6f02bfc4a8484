/** The whole server in memory, with a clock that ticks once for each request and ids that are counted. */

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createHttpServer } from "../../src/http/server.ts";
import { systemTimers } from "../../src/lib/timers.ts";
import { FAULTS, Fault, type FaultCode, type TaskId, textOf } from "../../src/model/index.ts";
import type { Agent, Dialect, ExecuteOperation, Operation } from "../../src/ports/index.ts";
import { toAgent } from "../../src/runtime/function/index.ts";
import { type ServerSettings, wireServer } from "../../src/server/wiring.ts";
import type { ExchangeFile } from "./corpus.ts";
import { createCorpusAgents, NAMED_ONLY, ResumeSignal } from "./corpus-agents.ts";
import { createTestLog, SETTINGS } from "./server.ts";

export const CLOCK_START = Date.UTC(2026, 0, 1);
export const TICK_MS = 1_000;
/** Turns of the event loop: more than a run needs that does not wait. */
const TURNS_MAX = 1_000;

export interface CorpusServer {
  readonly port: number;
  readonly dialects: readonly Dialect[];
  /** Moves the clock on by one second. */
  tick(): void;
  /** Lets waiting agents continue, to the end of their runs. */
  resumeAgents(): Promise<void>;
  close(): Promise<void>;
}

export async function startCorpusServer(
  file: Pick<ExchangeFile, "settings" | "agents">,
): Promise<CorpusServer> {
  const settings = toSettings(file.settings);
  const resume = new ResumeSignal();
  let now = CLOCK_START;
  const agents = createCorpusAgents(resume)
    // Agents that were added later are served where they are named: earlier exchanges list all the others.
    .filter(one => file.agents?.includes(one.name) ?? !NAMED_ONLY.includes(one.name))
    .map(toAgent);
  const defaultAgent = (agents[0] as Agent).name;
  const parts = { settings, agents, defaultAgent, log: createTestLog(), addresses: {}, hasGrpc: false };
  const { router, limits, unread, dialects, start, close } = await wireServer(parts, {
    clock: {
      ...systemTimers,
      now: () => now,
      wallTime: () => now,
      ticks: () => now,
      notBefore() {},
      async follow() {},
    },
    randomHex: createCounter(),
    wrapExecute: withFaults,
  });
  const http = createHttpServer({
    ...router,
    limits,
    unread,
    now: () => now,
    connectionsMax: settings.connectionsMax,
    httpFastPath: settings.httpFastPath,
    heartbeatMs: settings.heartbeatMs,
    streamsMax: settings.streamsMax,
    tls: undefined,
    hostCheck: undefined,
    grpc: undefined,
  });
  const runner = start();
  http.server.listen(0, "127.0.0.1");
  await once(http.server, "listening");
  return {
    port: (http.server.address() as AddressInfo).port,
    dialects,
    tick: () => void (now += TICK_MS),
    async resumeAgents() {
      resume.fire();
      for (let turns = 0; runner.running > 0 && turns < TURNS_MAX; turns++) await setImmediate();
    },
    close: () => close([http]),
  };
}

function toSettings(changes: ExchangeFile["settings"]): ServerSettings {
  for (const name of Object.keys(changes))
    if (!Object.hasOwn(SETTINGS, name)) throw new Error(`Unknown setting: ${name}`);
  // No deliveries: the webhooks of the corpus do not exist.
  return { ...SETTINGS, drainMs: 0, pushesMax: 0, ...changes };
}

/** In place of random ids: 1, 2, 3, … */
function createCounter(): (bytes: number) => string {
  let count = 0;
  return bytes => (++count).toString(16).padStart(2 * bytes, "0");
}

/**
 * A get at the agent `refuser` is answered with the fault that its task id names: no request causes some of them. So is a
 * subscription to a context, and a stream with this text, in dialects that have no get.
 */
function withFaults(core: ExecuteOperation): ExecuteOperation {
  return (operation, scope, signal) => {
    const code = operation.agent === "refuser" ? readFaultCode(operation) : undefined;
    if (code === undefined) return core(operation, scope, signal);
    if (code === "internal") throw new Error("the password of the database is hunter2");
    const later = code === "rate-limited" && { retryAfterMs: 1_500 };
    throw new Fault(code, FAULTS[code], { taskId: code as string as TaskId, ...later });
  };
}

function readFaultCode(operation: Operation): FaultCode | undefined {
  if (operation.op === "get") return operation.taskId as string as FaultCode;
  const name =
    operation.op === "subscribe"
      ? operation.contextId
      : operation.op === "stream" && textOf(operation.send.message.parts);
  return typeof name === "string" && Object.hasOwn(FAULTS, name) ? (name as FaultCode) : undefined;
}
