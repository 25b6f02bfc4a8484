/** The composition root: the only file that knows all rooms. What is opened here is closed here, in reverse order. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { createAnonymousGuard } from "./auth/anonymous.ts";
import { createLocalBus } from "./bus/local.ts";
import { createCatalog } from "./catalog.ts";
import type { Settings } from "./config/config.ts";
import { createCore } from "./core/index.ts";
import { createDialects } from "./dialect/index.ts";
import { type AgentName, createMint, LIMITS, type TaskId } from "./model/index.ts";
import { createPipeline } from "./pipeline.ts";
import { type Agent, type Bus, DUE, type Log, type Store } from "./ports.ts";
import { createRunner } from "./runner/claim.ts";
import { createMemoryStore } from "./store/memory/index.ts";
import { createSqliteStore, StoreRefusal } from "./store/sqlite/index.ts";
import { createHttp, type Http } from "./transport/http.ts";
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

export interface Running {
  /** Where it listens: http://127.0.0.1:2024 */
  readonly url: string;
  /** Runs under way. */
  readonly running: number;
  /** Unfinished tasks by agent that the start found. */
  readonly unfinished: ReadonlyMap<string, number>;
  /** Serves these agents from now on; runs under way go on as they began. */
  replaceAgents(agents: readonly Agent[], fallback: AgentName): void;
  /** Takes no new work, lets runs finish or gives them back, ends streams cleanly. */
  stop(): Promise<void>;
}

export async function startServer(parts: ServerParts): Promise<Running> {
  const { settings, log } = parts;
  const clock = createClock();
  const bus = createLocalBus();
  const store = openStore(settings, bus, clock.now, log);
  clock.notBefore(store.lastAt);
  const unfinished = await store.runs.unfinished();
  const newId = createMint({ now: clock.now, randomHex: createChance() });
  const catalog = createCatalog(parts.agents, parts.fallback, clock.now);
  let open = true;
  const streams = createStreams(settings);
  const core = createCore({
    ...settings,
    store,
    bus,
    catalog,
    newId,
    digest: toDigest,
    isOpen: () => open,
    hasStreamRoom: streams.hasRoom,
  });
  const dialects = createDialects(settings);
  const pipeline = createPipeline({ dialects, guard: createAnonymousGuard(), core, catalog, log });
  const http = createHttp({
    ...settings,
    pipeline,
    locate: createRoutes(dialects),
    log,
    limits: { ...LIMITS, ...settings },
    streams,
    modifiedAt: () => catalog.modifiedAt,
  });
  const url = await listen(http, settings).catch(async error => {
    await store.close();
    throw error;
  });
  const runner = createRunner({ ...settings, store, bus, catalog, log, newId, worker: randomUUID() });
  warnOfUnserved(unfinished, catalog.find, log);

  return {
    url,
    unfinished,
    get running() {
      return runner.running;
    },
    replaceAgents(agents, fallback) {
      catalog.replace(agents, fallback);
      runner.look();
    },
    async stop() {
      open = false;
      http.refuseNew();
      await runner.stop();
      await http.close();
      await store.close();
    },
  };
}

/** Time that never goes back, whatever is done to the machine's clock: logs and lists are in its order. */
function createClock() {
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

function listen(http: Http, settings: ServerSettings): Promise<string> {
  const { host, port } = settings;
  return new Promise((resolve, reject) => {
    http.server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, host, port)));
    http.server.listen(port, host, () => {
      const { port: bound } = http.server.address() as AddressInfo;
      const name = host.includes(":") ? `[${host}]` : host;
      resolve(`http://${name}:${bound}`);
    });
  });
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === "EADDRINUSE")
    return new StartRefusal(
      `Port ${port} is in use by another program. Choose another with --port, or stop it.`,
    );
  if (error.code === "EACCES")
    return new StartRefusal(`Port ${port} may not be used by this user. Choose one above 1023 with --port.`);
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND")
    return new StartRefusal(`This machine has no address ${host}. Choose another with --host.`);
  return error;
}

/** The server cannot start, for a reason that whoever starts it can put right; the message says how. */
export class StartRefusal extends Error {
  override readonly name = "StartRefusal";
}
export { StoreRefusal };

function warnOfUnserved(
  unfinished: ReadonlyMap<AgentName, number>,
  find: (name: AgentName) => Agent | undefined,
  log: Log,
): void {
  for (const [agent, count] of unfinished)
    if (!find(agent)) log.warn({ agent, count }, "unfinished tasks wait for an agent that is not served");
}
