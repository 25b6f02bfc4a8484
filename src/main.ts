/** The composition root: the only file that knows all rooms. What is opened here is closed here, in reverse order. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { AddressInfo, Server } from "node:net";
import { createAnonymousGuard } from "./auth/anonymous.ts";
import { createLocalBus } from "./bus/local.ts";
import { createCatalog } from "./catalog.ts";
import type { Settings } from "./config/config.ts";
import { createCore } from "./core/index.ts";
import type { GrpcAt } from "./dialect/card.ts";
import { createDialects, PACKAGES } from "./dialect/index.ts";
import { type AgentName, createMint, LIMITS, type TaskId } from "./model/index.ts";
import { createOwnDocuments } from "./openapi/index.ts";
import { readDocsPage, readVersion } from "./package.ts";
import { createPipeline } from "./pipeline.ts";
import { type Agent, type Bus, DUE, type Log, type Store } from "./ports.ts";
import { createRunner, type Runner } from "./runner/claim.ts";
import { createSweeper } from "./runner/sweep.ts";
import { createMemoryStore } from "./store/memory/index.ts";
import { createSqliteStore, StoreRefusal } from "./store/sqlite/index.ts";
import { isPath, toGrpcAddress } from "./transport/base.ts";
import { createGrpc, type Grpc } from "./transport/grpc.ts";
import { createHttp, type Http } from "./transport/http.ts";
import { createKernel, type KernelParts } from "./transport/kernel.ts";
import { createMount, type Mount } from "./transport/mount.ts";
import { createRoutes } from "./transport/routes.ts";
import { createStreams } from "./transport/sse.ts";
import type { Tls } from "./transport/tls.ts";

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
  /** Where gRPC listens, if it has a port of its own: 127.0.0.1:2025 */
  readonly grpc: string | undefined;
  /** Runs under way. */
  readonly running: number;
  /** Unfinished tasks by agent that the start found. */
  readonly unfinished: ReadonlyMap<string, number>;
  /** Serves these agents from now on; runs under way go on as they began. */
  replaceAgents(agents: readonly Agent[], fallback: AgentName): void;
  /** Takes no new work, lets runs finish or gives them back, ends streams cleanly. */
  stop(): Promise<void>;
}

/** A server that has no socket of its own: somebody else's hands its requests in. */
export interface Mounted extends Pick<Mount, "handler" | "fetch"> {
  /** As `stop` of `Running`; a second call waits for the same end. */
  close(): Promise<void>;
}

export async function startServer(parts: ServerParts): Promise<Running> {
  const { settings, log } = parts;
  const tls = await loadTls(settings);
  const house = await compose(parts, base => toGrpcAddress(base, portOf(grpc.server), settings));
  const { kernel, catalog, unfinished } = house;
  const grpc = createGrpc({
    ...settings,
    tls,
    apart: tls !== undefined || settings.grpcPort !== undefined,
    schemas: PACKAGES,
    pipeline: kernel.pipeline,
    log,
    streams: kernel.streams,
    isAgent: name => catalog.names().has(name as AgentName),
    base: () => settings.publicUrl ?? url,
  });
  const http = createHttp({ ...kernel, tls, grpc });
  const { url, ...addresses } = await listenAll(http, grpc, settings).catch(async error => {
    await house.close([http, grpc]);
    throw error;
  });
  const runner = house.begin();

  return {
    url,
    grpc: addresses.grpc,
    unfinished,
    get running() {
      return runner.running;
    },
    replaceAgents(agents, fallback) {
      catalog.replace(agents, fallback);
      runner.look();
    },
    stop: () => house.close([http, grpc]),
  };
}

/** The same without listening. `path`: see `MountParts`. */
export async function startMounted(parts: ServerParts, path: string | undefined): Promise<Mounted> {
  if (path !== undefined && !isPath(path))
    throw new StartRefusal(
      `The path "${path}" is none. Give one such as "/a2a", without a slash at its end.`,
    );
  const house = await compose(parts, undefined);
  const mount = createMount({ kernel: createKernel(house.kernel), path });
  house.begin();
  let closed: Promise<void> | undefined;
  const { handler, fetch } = mount;
  return { handler, fetch, close: () => (closed ??= house.close([mount])) };
}

/** Where callers come in. */
interface Door {
  refuseNew(): void;
  close(): Promise<void>;
}

/** Everything but the doors; nothing runs before it is told to begin. */
async function compose(parts: ServerParts, grpcAt: GrpcAt | undefined) {
  const { settings, log } = parts;
  const clock = createClock();
  const bus = createLocalBus();
  const store = openStore(settings, bus, clock.now, log);
  // Ids of the last moment may be taken.
  clock.notBefore(store.lastAt + 1);
  const unfinished = await store.runs.unfinished();
  const chance = createChance();
  const newId = createMint({ now: clock.now, randomHex: chance });
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
  const dialects = createDialects({ ...settings, ...(grpcAt && { grpcAt }) });
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
    await store.close();
  }

  return { kernel, catalog, unfinished, begin, close };
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

/** undefined: clear text is spoken. */
async function loadTls(settings: ServerSettings): Promise<Tls | undefined> {
  if (settings.tlsCert === undefined && settings.tlsKey === undefined) return undefined;
  const { readTls } = await import("./transport/tls.ts");
  return readTls(settings);
}

async function listenAll(
  http: Http,
  grpc: Grpc,
  settings: ServerSettings,
): Promise<Pick<Running, "url" | "grpc">> {
  const { host, port } = settings;
  const name = host.includes(":") ? `[${host}]` : host;
  const scheme = settings.tlsCert === undefined ? "http" : "https";
  const url = `${scheme}://${name}:${await listen(http.server, host, port, "--port")}`;
  if (!grpc.server) return { url, grpc: undefined };
  const next = port === 0 ? 0 : port + 1;
  const own = await listen(grpc.server, host, settings.grpcPort ?? next, "--grpc-port");
  return { url, grpc: `${name}:${own}` };
}

/** Resolves with the port, which may have been for the system to choose. */
function listen(server: Server, host: string, port: number, flag: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, host, port, flag)));
    server.listen(port, host, () => resolve(portOf(server) as number));
  });
}

const portOf = (server: Server | undefined): number | undefined =>
  (server?.address() as AddressInfo | null | undefined)?.port;

function explain(error: NodeJS.ErrnoException, host: string, port: number, flag: string): Error {
  if (error.code === "EADDRINUSE")
    return new StartRefusal(
      `Port ${port} is in use by another program. Choose another with ${flag}, or stop it.`,
    );
  if (error.code === "EACCES")
    return new StartRefusal(`Port ${port} may not be used by this user. Choose one above 1023 with ${flag}.`);
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
