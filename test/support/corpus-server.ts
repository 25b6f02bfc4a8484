/** The whole house in memory, but with a clock that ticks once for each request and ids that are counted. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createHttp } from "../../src/http/server.ts";
import { FAULTS, Fault, type FaultCode } from "../../src/model/index.ts";
import type { Agent, Dialect, ExecuteOperation, Operation } from "../../src/ports/index.ts";
import { toAgent } from "../../src/runtime/function/index.ts";
import { compose, type ServerSettings } from "../../src/server/wiring.ts";
import type { Story } from "./corpus.ts";
import { createCast, Lever } from "./corpus-agents.ts";
import { createTestLog, SETTINGS } from "./server.ts";

export const CLOCK_START = Date.UTC(2026, 0, 1);
export const TICK_MS = 1_000;
/** Of the event loop: more than any run needs that waits for nobody. */
const TURNS_MAX = 1_000;

export interface House {
  readonly port: number;
  readonly dialects: readonly Dialect[];
  /** A second later. */
  tick(): void;
  /** Lets agents that wait go on, to the end of their runs. */
  goOn(): Promise<void>;
  /** What was decoded since the last look. */
  decoded(): Operation | undefined;
  close(): Promise<void>;
}

export async function openHouse(story: Pick<Story, "settings" | "cast">): Promise<House> {
  const settings = toSettings(story.settings);
  const lever = new Lever();
  let now = CLOCK_START;
  let operation: Operation | undefined;
  const agents = createCast(lever)
    .filter(one => story.cast?.includes(one.name) ?? true)
    .map(toAgent);
  const parts = { settings, agents, fallback: (agents[0] as Agent).name, log: createTestLog() };
  const { kernel, dialects, begin, close } = await compose(parts, undefined, {
    clock: { now: () => now, wallTime: () => now, ticks: () => now, notBefore() {}, async follow() {} },
    chance: createCounter(),
    around: { core: refusing, dialect: one => overheard(one, heard => (operation = heard)) },
  });
  const http = createHttp({
    ...kernel,
    now: () => now,
    connectionsMax: settings.connectionsMax,
    httpFastPath: settings.httpFastPath,
    heartbeatMs: settings.heartbeatMs,
    streamsMax: settings.streamsMax,
    tls: undefined,
    hosts: undefined,
    grpc: undefined,
  });
  const runner = begin();
  http.server.listen(0, "127.0.0.1");
  await once(http.server, "listening");
  return {
    port: (http.server.address() as AddressInfo).port,
    dialects,
    tick: () => void (now += TICK_MS),
    async goOn() {
      lever.pull();
      for (let turns = 0; runner.running > 0 && turns < TURNS_MAX; turns++) await setImmediate();
    },
    decoded() {
      const heard = operation;
      operation = undefined;
      return heard;
    },
    close: () => close([http]),
  };
}

function toSettings(changes: Story["settings"]): ServerSettings {
  for (const name of Object.keys(changes))
    if (!Object.hasOwn(SETTINGS, name)) throw new Error(`there is no setting ${name}`);
  // Nothing is delivered: the webhooks of these stories are nowhere.
  return { ...SETTINGS, drainMs: 0, pushesMax: 0, ...changes };
}

/** Chance without chance: 1, 2, 3, … */
function createCounter(): (bytes: number) => string {
  let count = 0;
  return bytes => (++count).toString(16).padStart(2 * bytes, "0");
}

/** The dialect itself; what it decodes is heard on the way. */
const overheard = (dialect: Dialect, hear: (operation: Operation) => void): Dialect => ({
  ...dialect,
  decode(call) {
    const operation = dialect.decode(call);
    hear(operation);
    return operation;
  },
});

/** Some faults have no cause that a request could bring about, yet every one has its form on the wire. */
function refusing(core: ExecuteOperation): ExecuteOperation {
  return (operation, scope, signal) => {
    if (operation.op !== "get" || operation.agent !== "refuser") return core(operation, scope, signal);
    const code = operation.taskId as string as FaultCode;
    if (code === "internal") throw new Error("the password of the database is hunter2");
    const later = code === "rate-limited" && { retryAfterMs: 1_500 };
    throw new Fault(code, FAULTS[code], { taskId: operation.taskId, ...later });
  };
}
