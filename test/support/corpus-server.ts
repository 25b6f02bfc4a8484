/** The whole house in memory, composed as in main.ts, but with a clock that ticks once for each request and ids that are counted. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createAnonymousGuard } from "../../src/auth/anonymous.ts";
import { createLocalBus } from "../../src/bus/local.ts";
import { createCatalog } from "../../src/catalog.ts";
import { createCore } from "../../src/core/index.ts";
import { createDialects } from "../../src/dialect/index.ts";
import { type ServerSettings, toDigest } from "../../src/main.ts";
import { createMint, FAULTS, Fault, type FaultCode, LIMITS } from "../../src/model/index.ts";
import { createPipeline } from "../../src/pipeline.ts";
import { type Agent, type Core, type Dialect, DUE, type Operation } from "../../src/ports.ts";
import { createRunner } from "../../src/runner/claim.ts";
import { toAgent } from "../../src/runtime/function.ts";
import { createMemoryStore } from "../../src/store/memory/index.ts";
import { createHttp } from "../../src/transport/http.ts";
import { createRoutes } from "../../src/transport/routes.ts";
import { createStreams } from "../../src/transport/sse.ts";
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
  const clock = (): number => now;
  const newId = createMint({ now: clock, randomHex: createCounter() });
  const log = createTestLog();
  const bus = createLocalBus();
  const store = createMemoryStore({
    ...LIMITS,
    now: clock,
    onCommitted: taskId => bus.ring(taskId),
    onDue: () => bus.ring(DUE),
    onDamaged: (_taskId, error) => {
      throw error;
    },
  });
  const agents = createCast(lever)
    .filter(one => story.cast?.includes(one.name) ?? true)
    .map(toAgent);
  const catalog = createCatalog(agents, (agents[0] as Agent).name, clock);
  const streams = createStreams(settings);
  const core = createCore({
    ...settings,
    store,
    bus,
    catalog,
    newId,
    digest: toDigest,
    isOpen: () => true,
    hasStreamRoom: streams.hasRoom,
  });
  const dialects = createDialects(settings).map(one => overheard(one, heard => (operation = heard)));
  const pipeline = createPipeline({
    dialects,
    guard: createAnonymousGuard(),
    core: refusing(core),
    catalog,
    log,
  });
  const http = createHttp({
    ...settings,
    pipeline,
    log,
    streams,
    locate: createRoutes(dialects, []),
    limits: { ...LIMITS, ...settings },
    modifiedAt: () => catalog.modifiedAt,
    tls: undefined,
    grpc: undefined,
  });
  const runner = createRunner({
    ...settings,
    store,
    bus,
    catalog,
    log,
    newId,
    now: () => now,
    random: () => 0.5,
    worker: "corpus",
  });
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
    async close() {
      await runner.stop();
      await http.close();
      await store.close();
    },
  };
}

function toSettings(changes: Story["settings"]): ServerSettings {
  for (const name of Object.keys(changes))
    if (!Object.hasOwn(SETTINGS, name)) throw new Error(`there is no setting ${name}`);
  return { ...SETTINGS, drainMs: 0, ...changes };
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
function refusing(core: Core): Core {
  return (operation, scope, signal) => {
    if (operation.op !== "get" || operation.agent !== "refuser") return core(operation, scope, signal);
    const code = operation.taskId as string as FaultCode;
    if (code === "internal") throw new Error("the password of the database is hunter2");
    throw new Fault(code, FAULTS[code], { taskId: operation.taskId });
  };
}
