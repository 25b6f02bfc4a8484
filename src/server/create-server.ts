/** Where a server begins: the house, and the doors through which callers come in. */
import { type AddressInfo, createServer, type Server } from "node:net";
import { createGrpc, type Grpc } from "../binding/grpc/index.ts";
import { isPath, toGrpcAddress } from "../http/base-url.ts";
import { createHostCheck, createOwnBase, type HostCheck } from "../http/host-check.ts";
import { createMount, type Mount } from "../http/mount.ts";
import { createKernel } from "../http/router.ts";
import { createRoutes } from "../http/routes.ts";
import { createHttp, type Http } from "../http/server.ts";
import type { Tls } from "../http/tls.ts";
import type { AgentName } from "../model/index.ts";
import type { Agent } from "../ports/index.ts";
import { PACKAGES } from "../protocol/index.ts";
import { StoreRefusal } from "../store/sqlite/index.ts";
import { StartRefusal } from "./admin-routes.ts";
import { checkDoor } from "./open-auth.ts";
import { compose, type ServerParts, type ServerSettings } from "./wiring.ts";

export interface Running {
  /** Where it listens: http://127.0.0.1:2024 */
  readonly url: string;
  /** The default port, if another program has it and the server took the next free one. */
  readonly portInUse: number | undefined;
  /** Where gRPC listens, if it has a port of its own: 127.0.0.1:2025 */
  readonly grpc: string | undefined;
  /** Where administrators are answered, if that is a port of its own: http://127.0.0.1:9464 */
  readonly admin: string | undefined;
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
  checkDoor(settings);
  const tls = await loadTls(settings);
  const hosts = createHostCheck(settings);
  const isOwnBase = createOwnBase({
    ...settings,
    listening: () => (http.server.address() as AddressInfo | null) ?? undefined,
  });
  const house = await compose({ ...parts, isOwnBase }, base =>
    toGrpcAddress(base, portOf(grpc.server), settings),
  );
  const { kernel, catalog, unfinished, watched } = house;
  const grpc = createGrpc({
    ...settings,
    tls,
    apart: settings.grpcPort !== undefined,
    schemas: PACKAGES,
    pipeline: kernel.pipeline,
    limits: kernel.limits,
    log,
    streams: kernel.streams,
    unread: kernel.unread,
    isAgent: name => catalog.names().has(name as AgentName),
    base: () => settings.publicUrl ?? url,
  });
  const http = createHttp({
    ...kernel,
    now: house.wallTime,
    connectionsMax: settings.connectionsMax,
    httpFastPath: settings.httpFastPath,
    heartbeatMs: settings.heartbeatMs,
    streamsMax: settings.streamsMax,
    tls,
    hosts,
    grpc,
  });
  const admin = settings.adminPort === undefined ? undefined : createAdmin(house, settings, hosts);
  const close = async (): Promise<void> => {
    await house.close([http, grpc]);
    // Whoever looks at the health of the server sees that it stops, to the end.
    await admin?.close();
  };
  const { url, ...addresses } = await listenAll(http, grpc, admin, settings).catch(async error => {
    await close();
    throw error;
  });
  const { portInUse } = addresses;
  if (portInUse !== undefined)
    log.info({ url, portInUse }, "the default port is in use; the server took the next free one");
  house.listensAt(toReachable(url));
  await house.look();
  const runner = house.begin();

  return {
    url,
    ...addresses,
    unfinished,
    get running() {
      return runner.running;
    },
    replaceAgents(agents, fallback) {
      catalog.replace(agents.map(watched), fallback);
      runner.look();
      void house.look();
    },
    stop: close,
  };
}

/** An address that means "all of them" is nothing to call. */
export const toReachable = (url: string): string => url.replace(/\/\/(0\.0\.0\.0|\[::\])/, "//127.0.0.1");

/** The same without listening. `path`: see `MountParts`. */
export async function startMounted(parts: ServerParts, path: string | undefined): Promise<Mounted> {
  if (path !== undefined && !isPath(path))
    throw new StartRefusal(
      `The path "${path}" is none. Give one such as "/a2a", without a slash at its end.`,
    );
  const listening = (): undefined => undefined;
  const isOwnBase = createOwnBase({ ...parts.settings, host: undefined, listening, path });
  const house = await compose({ ...parts, mounted: true, isOwnBase }, undefined);
  const mount = createMount({ kernel: createKernel(house.kernel), path });
  await house.look();
  house.begin();
  let closed: Promise<void> | undefined;
  const { handler, fetch } = mount;
  return { handler, fetch, close: () => (closed ??= house.close([mount])) };
}

/** undefined: clear text is spoken. */
async function loadTls(settings: ServerSettings): Promise<Tls | undefined> {
  if (settings.tlsCert === undefined && settings.tlsKey === undefined) return undefined;
  const { readTls } = await import("../http/tls.ts");
  return readTls(settings);
}

/** The same house for administrators alone; they are on this machine, or in a network of their own. */
const createAdmin = (
  { kernel, wallTime, adminRoutes }: House,
  { connectionsMax, httpFastPath, heartbeatMs, streamsMax }: ServerSettings,
  hosts: HostCheck | undefined,
): Http =>
  createHttp({
    hosts,
    ...kernel,
    now: wallTime,
    locate: createRoutes([], adminRoutes),
    connectionsMax,
    httpFastPath,
    heartbeatMs,
    streamsMax,
    tls: undefined,
    grpc: undefined,
  });

type Addresses = Pick<Running, "url" | "grpc" | "admin" | "portInUse">;

async function listenAll(
  http: Http,
  grpc: Grpc,
  admin: Http | undefined,
  settings: ServerSettings,
): Promise<Addresses> {
  const { host } = settings;
  const scheme = settings.tlsCert === undefined ? "http" : "https";
  const { port, portInUse } = await listenHttp(http.server, settings);
  const url = `${scheme}://${inUrl(host)}:${port}`;
  return {
    url,
    portInUse,
    grpc: await listenGrpc(grpc, settings),
    admin: await listenAdmin(admin, settings),
  };
}

/** Ports that are tried where none was chosen. */
const PORT_TRIES = 20;

/** A chosen port or none; the default port is a preference, and the next free one will do. */
async function listenHttp(
  server: Server,
  settings: ServerSettings,
): Promise<{ readonly port: number; readonly portInUse: number | undefined }> {
  const { host, port: first, grpcPort, adminPort } = settings;
  if (settings.portChosen !== false)
    return { port: await listen(server, host, first, "--port"), portInUse: undefined };
  const last = first + PORT_TRIES - 1;
  for (let port = first; port <= last; port++) {
    if (port === grpcPort || port === adminPort || !(await isFreeOnLoopback(host, port))) continue;
    try {
      await listen(server, host, port, "--port");
      return { port, portInUse: port === first ? undefined : first };
    } catch (error) {
      if (!(error instanceof PortInUse)) throw error;
    }
  }
  throw new StartRefusal(`The ports ${first} to ${last} are all in use. ${chooseWith("--port")}.`);
}

/**
 * "localhost" has an address of each family, and "all addresses" includes them: a port that another program has at one
 * of them would lead some callers there. Listening at one address does not show that on every system.
 */
async function isFreeOnLoopback(host: string, port: number): Promise<boolean> {
  if (!SEVERAL.has(host)) return true;
  for (const address of ["127.0.0.1", "::1"]) {
    const probe = createServer();
    const error = await listen(probe, address, port, "--port").catch(problem => problem as unknown);
    if (error instanceof PortInUse) return false;
    await new Promise(resolve => probe.close(resolve));
  }
  return true;
}

/** Hosts that stand for several addresses. */
const SEVERAL: ReadonlySet<string> = new Set(["localhost", "0.0.0.0", "::"]);

async function listenGrpc(grpc: Grpc, { host, grpcPort }: ServerSettings): Promise<string | undefined> {
  if (!grpc.server || grpcPort === undefined) return undefined;
  return `${inUrl(host)}:${await listen(grpc.server, host, grpcPort, "--grpc-port")}`;
}

async function listenAdmin(admin: Http | undefined, settings: ServerSettings): Promise<string | undefined> {
  const { adminHost, adminPort } = settings;
  if (!admin || adminPort === undefined) return undefined;
  return `http://${inUrl(adminHost)}:${await listen(admin.server, adminHost, adminPort, "--admin-port")}`;
}

const inUrl = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** Resolves with the port, which may have been for the system to choose. */
function listen(server: Server, host: string, port: number, flag: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const done = (): void => resolve(portOf(server) as number);
    server.once("error", (error: NodeJS.ErrnoException) => {
      server.off("listening", done);
      reject(explain(error, host, port, flag));
    });
    server.once("listening", done).listen(port, host);
  });
}

const portOf = (server: Server | undefined): number | undefined =>
  (server?.address() as AddressInfo | null | undefined)?.port;

function explain(error: NodeJS.ErrnoException, host: string, port: number, flag: string): Error {
  if (error.code === "EADDRINUSE")
    return new PortInUse(`Port ${port} is in use by another program. ${chooseWith(flag)}, or stop it.`);
  if (error.code === "EACCES")
    return new StartRefusal(`Port ${port} may not be used by this user. Choose one above 1023 with ${flag}.`);
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND")
    return new StartRefusal(`This machine has no address ${host}. Choose another with --host.`);
  return error;
}

class PortInUse extends StartRefusal {}

const chooseWith = (flag: string): string => `Choose another with ${flag} (with npm: npm start -- ${flag} N)`;

type House = Awaited<ReturnType<typeof compose>>;

export type { ServerParts, ServerSettings } from "./wiring.ts";
export { StartRefusal, StoreRefusal };
