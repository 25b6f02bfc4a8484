/** Everything but the doors: makes the parts and puts them together. What is opened here is closed here, in reverse order. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { createAnonymousGuard } from "./auth/anonymous.ts";
import { createLocalBus } from "./bus/local.ts";
import { createCatalog } from "./catalog.ts";
import type { Settings } from "./config/config.ts";
import { createCore } from "./core/index.ts";
import type { GrpcAt } from "./dialect/card.ts";
import { createDialects } from "./dialect/index.ts";
import { type AgentName, createMint, LIMITS, type TaskId } from "./model/index.ts";
import { createOwnDocuments } from "./openapi/index.ts";
import { createOutbound } from "./outbound/index.ts";
import { readDocsPage, readVersion } from "./package.ts";
import { createPipeline } from "./pipeline.ts";
import { type Agent, type Bus, type Core, type Dialect, DUE, type Log, type Store } from "./ports.ts";
import { createRunner, type Runner } from "./runner/claim.ts";
import { createSweeper } from "./runner/sweep.ts";
import { createMemoryStore } from "./store/memory/index.ts";
import { createSqliteStore } from "./store/sqlite/index.ts";
import type { KernelParts } from "./transport/kernel.ts";
import { createRoutes } from "./transport/routes.ts";
import { createStreams } from "./transport/sse.ts";

/** What the server needs to know; `Settings` has it all. */
export type ServerSettings = Omit<
  Settings,
  "agents" | "agentsFolder" | "configFiles" | "default" | "logLevel"
>;

export interface ServerParts {
  readonly settings: ServerSettings;
  readonly agents: readonly Agent[];
  readonly fallback: AgentName;
  readonly log: Log;
}

/** Where callers come in. */
export interface Door {
  refuseNew(): void;
  close(): Promise<void>;
}

/** Everything but the doors; nothing runs before it is told to begin. */
export async function compose(parts: ServerParts, grpcAt: GrpcAt | undefined, world = createWorld()) {
  const { settings, log } = parts;
  const { clock, chance, around } = world;
  const bus = createLocalBus();
  const store = openStore(settings, bus, clock.now, log);
  // Ids of the last moment may be taken.
  clock.notBefore(store.lastAt + 1);
  const unfinished = await store.runs.unfinished();
  const outbound = createOutbound({ allow: [], connectMs: LIMITS.connectMs });
  const newId = createMint({ now: clock.now, randomHex: chance });
  const catalog = createCatalog(parts.agents, parts.fallback, clock.now);
  let open = true;
  const streams = createStreams(settings);
  const core = around.core(
    createCore({
      ...settings,
      store,
      bus,
      catalog,
      newId,
      digest: toDigest,
      isOpen: () => open,
      hasStreamRoom: streams.hasRoom,
    }),
  );
  const dialects = createDialects({ ...settings, ...(grpcAt && { grpcAt }) }).map(around.dialect);
  const own = createOwnDocuments({ dialects, readVersion, readPage: readDocsPage });
  const kernel: KernelParts = {
    ...settings,
    pipeline: createPipeline({ dialects, guard: createAnonymousGuard(), core, catalog, log }),
    locate: createRoutes(dialects, own),
    log,
    limits: { ...LIMITS, ...settings },
    streams,
    modifiedAt: () => catalog.modifiedAt,
  };
  let workers: readonly { stop(): Promise<void> }[] = [];

  function begin(): Runner {
    const runner = createRunner({
      ...settings,
      store,
      bus,
      catalog,
      outbound,
      log,
      newId,
      now: clock.now,
      random: () => toFraction(chance(7)),
      worker: randomUUID(),
    });
    workers = [runner, createSweeper({ ...settings, store, catalog, log })];
    warnOfUnserved(unfinished, catalog.find, log);
    return runner;
  }

  async function close(doors: readonly Door[]): Promise<void> {
    open = false;
    for (const door of doors) door.refuseNew();
    await Promise.all(workers.map(worker => worker.stop()));
    await Promise.all(doors.map(door => door.close()));
    await outbound.close();
    await store.close();
  }

  return { kernel, catalog, dialects, unfinished, begin, close };
}

/** What the house does not make itself: time, chance, and whoever watches from the doorway. */
export interface World {
  readonly clock: Clock;
  /** That many bytes of chance, as lower-case hex. */
  readonly chance: (bytes: number) => string;
  readonly around: {
    readonly core: (core: Core) => Core;
    readonly dialect: (dialect: Dialect) => Dialect;
  };
}
interface Clock {
  now(): number;
  notBefore(ms: number): void;
}

const createWorld = (): World => ({
  clock: createClock(),
  chance: createChance(),
  around: { core: core => core, dialect: dialect => dialect },
});

/** Time that never goes back, whatever is done to the machine's clock: logs and lists are in its order. */
function createClock(): Clock {
  let last = 0;
  return {
    now(): number {
      const now = Date.now();
      if (now > last) last = now;
      return last;
    },
    notBefore(ms: number): void {
      if (ms > last) last = ms;
    },
  };
}

/** 52 of its bits as a number from 0 up to 1. */
const toFraction = (hex: string): number => Number.parseInt(hex.slice(0, 13), 16) / 2 ** 52;

export const toDigest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Random bytes as hex, drawn from the system in bulk. */
function createChance(): (bytes: number) => string {
  let pool = "";
  let used = 0;
  return bytes => {
    if (used + 2 * bytes > pool.length) {
      pool = randomBytes(4096).toString("hex");
      used = 0;
    }
    used += 2 * bytes;
    return pool.slice(used - 2 * bytes, used);
  };
}

function openStore(settings: ServerSettings, bus: Bus, now: () => number, log: Log): Store {
  const parts = {
    now,
    leaseMs: settings.leaseMs,
    hotEventsMax: LIMITS.hotEventsMax,
    hotTasksMax: LIMITS.hotTasksMax,
    hotBytesMax: LIMITS.hotBytesMax,
    onCommitted: (taskId: TaskId) => bus.ring(taskId),
    onDue: () => bus.ring(DUE),
    onDamaged: (taskId: TaskId, error: unknown) =>
      log.error({ taskId, err: error }, "what is recorded of a task cannot be read; it is left out"),
  };
  if (settings.data === ":memory:") return createMemoryStore(parts);
  return createSqliteStore({ ...parts, folder: settings.data, durability: settings.durability });
}

function warnOfUnserved(
  unfinished: ReadonlyMap<AgentName, number>,
  find: (name: AgentName) => Agent | undefined,
  log: Log,
): void {
  for (const [agent, count] of unfinished)
    if (!find(agent)) log.warn({ agent, count }, "unfinished tasks wait for an agent that is not served");
}
