/** Opens the ports of a server. */
import { type AddressInfo, createServer, type Server } from "node:net";
import { StartupError } from "../lib/startup-error.ts";
import type { ServerAddresses, ServerSettings } from "./services.ts";

export interface Servers {
  readonly http: Server;
  /** undefined: gRPC shares the port of HTTP. */
  readonly grpc: Server | undefined;
  readonly admin: Server | undefined;
}

export interface Listening {
  readonly url: string;
  readonly portInUse: number | undefined;
  readonly grpc: string | undefined;
  readonly admin: string | undefined;
}

/** Sets `addresses` as soon as they are known: the first request may come before the last port is open. */
export async function listenAll(
  servers: Servers,
  settings: ServerSettings,
  addresses: ServerAddresses,
): Promise<Listening> {
  const { host, grpcPort, adminHost, adminPort } = settings;
  const scheme = settings.tlsCert === undefined ? "http" : "https";
  const portInUse = await listenHttp(servers.http, settings);
  const http = servers.http.address() as AddressInfo;
  const url = `${scheme}://${inUrl(host)}:${http.port}`;
  addresses.http = http;
  addresses.url = url;
  let grpc: string | undefined;
  if (servers.grpc && grpcPort !== undefined) {
    addresses.grpcPort = await listen(servers.grpc, host, grpcPort, "--grpc-port");
    grpc = `${inUrl(host)}:${addresses.grpcPort}`;
  }
  let admin: string | undefined;
  if (servers.admin && adminPort !== undefined)
    admin = `http://${inUrl(adminHost)}:${await listen(servers.admin, adminHost, adminPort, "--admin-port")}`;
  return { url, portInUse, grpc, admin };
}

/** How many ports are tried if no port was chosen. */
const PORTS_MAX = 20;

/** Without a chosen port, takes the default port or the next free one. Resolves with the default port if it is in use. */
async function listenHttp(server: Server, settings: ServerSettings): Promise<number | undefined> {
  const { host, port: first, grpcPort, adminPort } = settings;
  if (settings.portChosen !== false) {
    await listen(server, host, first, "--port");
    return undefined;
  }
  const last = first + PORTS_MAX - 1;
  for (let port = first; port <= last; port++) {
    if (port === grpcPort || port === adminPort || !(await isFreeOnLoopback(host, port))) continue;
    try {
      await listen(server, host, port, "--port");
      return port === first ? undefined : first;
    } catch (error) {
      if (!isPortInUse(error)) throw error;
    }
  }
  throw new StartupError(`Ports ${first} to ${last} are in use. ${chooseWith("--port")}.`);
}

/** Hosts that stand for several addresses. */
const MULTIPLE_ADDRESSES: ReadonlySet<string> = new Set(["localhost", "0.0.0.0", "::"]);

/**
 * These hosts include the loopback addresses of IPv4 and IPv6. If another program uses the port on one of them, some
 * callers would reach that program, and not every system reports this when the server listens.
 */
async function isFreeOnLoopback(host: string, port: number): Promise<boolean> {
  if (!MULTIPLE_ADDRESSES.has(host)) return true;
  for (const address of ["127.0.0.1", "::1"]) {
    const probe = createServer();
    const error = await listen(probe, address, port, "--port").catch((failure: unknown) => failure);
    if (isPortInUse(error)) return false;
    await new Promise(resolve => probe.close(resolve));
  }
  return true;
}

/** Brackets for IPv6. */
const inUrl = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** Resolves with the port: 0 lets the system choose. */
function listen(server: Server, host: string, port: number, flag: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const done = (): void => resolve((server.address() as AddressInfo).port);
    server.once("error", (error: NodeJS.ErrnoException) => {
      server.off("listening", done);
      reject(toListenError(error, host, port, flag));
    });
    server.once("listening", done).listen(port, host);
  });
}

const isPortInUse = (error: unknown): boolean =>
  error instanceof StartupError && (error.cause as NodeJS.ErrnoException | undefined)?.code === "EADDRINUSE";

function toListenError(error: NodeJS.ErrnoException, host: string, port: number, flag: string): Error {
  const fail = (message: string): StartupError => new StartupError(message, { cause: error });
  if (error.code === "EADDRINUSE")
    return fail(`Port ${port} is in use by another program. ${chooseWith(flag)}, or stop that program.`);
  if (error.code === "EACCES")
    return fail(`Permission denied for port ${port}. Choose one above 1023 with ${flag}.`);
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND")
    return fail(`This machine has no address ${host}. Choose another one with --host.`);
  return error;
}

const chooseWith = (flag: string): string =>
  `Choose another one with ${flag} (with npm: npm start -- ${flag} N)`;
