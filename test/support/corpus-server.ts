/** The whole house in memory, composed as in main.ts, but with a clock that ticks once for each request and ids that are counted. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAnonymousGuard } from "../../src/auth/anonymous.ts";
import { createLocalBus } from "../../src/bus/local.ts";
import { createCatalog } from "../../src/catalog.ts";
import { createCore } from "../../src/core/index.ts";
import { createDialects } from "../../src/dialect/index.ts";
import type { ServerSettings } from "../../src/main.ts";
import { createMint, FAULTS, Fault, type FaultCode, LIMITS } from "../../src/model/index.ts";
import { createPipeline } from "../../src/pipeline.ts";
import { type Agent, type Core, DUE, type Dialect, type Operation } from "../../src/ports.ts";
import { createRunner } from "../../src/runner/claim.ts";
import { toAgent } from "../../src/runtime/function.ts";
import { createMemoryStore } from "../../src/store/memory/index.ts";
import { createHttp } from "../../src/transport/http.ts";
import { createRoutes } from "../../src/transport/routes.ts";
import { createCast, Lever } from "./corpus-agents.ts";
import { createTestLog, SETTINGS } from "./server.ts";

export const CLOCK_START = Date.UTC(2026, 0, 1);
export const TICK_MS = 1_000;

export interface House {
  readonly port: number;
  readonly dialects: readonly Dialect[];
  /** A second later. */
  tick(): void;
  /** Lets agents that wait go on. */
  goOn(): void;
  /** What was decoded since the last look. */
  decoded(): Operation | undefined;
  close(): Promise<void>;
}

export async function openHouse(changes: Partial<ServerSettings>): Promise<House> {
  const settings = { ...SETTINGS, drainMs: 0, ...changes };
  const lever = new Lever();
  let now = CLOCK_START;
  let operation: Operation | undefined;
  const clock = (): number => now;
  const newId = createMint({ now: clock, random: createCounter() });
  const log = createTestLog();
  const bus = createLocalBus();
  const store = createMemoryStore({
    ...LIMITS,
    now: clock,
    onCommitted: taskId => bus.ring(taskId),
    onDue: () => bus.ring(DUE),
  });
  const agents = createCast(lever).map(toAgent);
  const catalog = createCatalog(agents, (agents[0] as Agent).name, clock);
  const core = refusing(createCore({ ...settings, store, bus, catalog, newId, isOpen: () => true }));
  const dialects = createDialects(settings).map(one => overheard(one, heard => (operation = heard)));
  const pipeline = createPipeline({ dialects, guard: createAnonymousGuard(), core, catalog, log });
  const http = createHttp({
    ...settings,
    pipeline,
    log,
    locate: createRoutes(dialects),
    limits: { ...LIMITS, ...settings },
    modifiedAt: () => catalog.modifiedAt,
  });
  const runner = createRunner({ ...settings, store, bus, catalog, log, newId, worker: "corpus" });
  http.server.listen(0, "127.0.0.1");
  await once(http.server, "listening");
  return {
    port: (http.server.address() as AddressInfo).port,
    dialects,
    tick: () => void (now += TICK_MS),
    goOn: () => lever.pull(),
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

/** Chance without chance: 1, 2, 3, … */
function createCounter(): (bytes: number) => Uint8Array {
  let count = 0;
  return bytes => {
    const drawn = new Uint8Array(bytes);
    new DataView(drawn.buffer).setUint32(bytes - 4, ++count);
    return drawn;
  };
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
