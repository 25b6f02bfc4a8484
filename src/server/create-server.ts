/** Starts a server: with sockets of its own, or mounted in another program. */
import { createGrpc } from "../binding/grpc/index.ts";
import { isPath } from "../http/base-url.ts";
import { createHostCheck, type HostCheck } from "../http/host-check.ts";
import { createMount, type Mount } from "../http/mount.ts";
import { createRouter } from "../http/router.ts";
import { createRoutes } from "../http/routes.ts";
import { createHttpServer, type HttpServer } from "../http/server.ts";
import type { Tls } from "../http/tls.ts";
import { StartupError } from "../lib/startup-error.ts";
import type { AgentName } from "../model/index.ts";
import type { Agent } from "../ports/index.ts";
import { GRPC_PACKAGES } from "../protocol/index.ts";
import type { ServerEnvironment } from "./clock.ts";
import { listenAll } from "./listen.ts";
import { checkListenSettings } from "./open-auth.ts";
import {
  type ServerAddresses,
  type ServerParts,
  type ServerSettings,
  type WiredServer,
  wireServer,
} from "./wiring.ts";

export type { ServerParts, ServerSettings } from "./wiring.ts";

export interface RunningServer {
  /** http://127.0.0.1:2024 */
  readonly url: string;
  /** The default port, if it is in use and the server took the next free one. */
  readonly portInUse: number | undefined;
  /** 127.0.0.1:2025, if gRPC has a port of its own. */
  readonly grpc: string | undefined;
  /** http://127.0.0.1:9464, if there is an admin port. */
  readonly admin: string | undefined;
  /** Active runs. */
  readonly running: number;
  /** Unfinished tasks by agent, at the start. */
  readonly unfinished: ReadonlyMap<string, number>;
  /** Whether the server answers at this path, on the port of callers. */
  hasRoute(path: string): boolean;
  /** Serves these agents from now on; active runs continue with the old ones. */
  replaceAgents(agents: readonly Agent[], defaultAgent: AgentName): void;
  /** Takes no new work, waits for runs or releases them, ends streams after a whole event. */
  stop(): Promise<void>;
}

/** A server without a socket: another program hands in its requests. */
export interface MountedServer extends Pick<Mount, "handler" | "fetch"> {
  /** As `stop` of `RunningServer`; a second call waits for the same end. */
  close(): Promise<void>;
}

export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { settings, log } = parts;
  checkListenSettings(settings);
  const tls = await loadTls(settings);
  const hostCheck = createHostCheck({ ...settings, corsRules: settings.langgraphFile?.cors });
  const addresses: ServerAddresses = {};
  const wired = await wireServer({ ...parts, addresses, hasGrpc: true });
  const { catalog } = wired;
  const grpc = createGrpc({
    ...settings,
    tls,
    hasOwnPort: settings.grpcPort !== undefined,
    schemas: settings.a2a ? GRPC_PACKAGES : [],
    reflection: settings.grpcReflection === "on",
    pipeline: wired.pipeline,
    streams: wired.streams,
    unread: wired.unread,
    limits: wired.limits,
    log,
    isAgent: name => catalog.names().has(name as AgentName),
    base: () => settings.publicUrl ?? addresses.url ?? "",
  });
  const http = createHttpServer({
    ...toHttpParts(wired, settings, hostCheck),
    tls,
    grpc: grpc.server ? undefined : grpc,
  });
  const admin = settings.adminPort === undefined ? undefined : createAdminServer(wired, settings, hostCheck);
  const stop = async (): Promise<void> => {
    await wired.close([http, grpc]);
    // Health probes at the admin port see the server stopping until the end.
    await admin?.close();
  };
  const servers = { http: http.server, grpc: grpc.server, admin: admin?.server };
  const listening = await listenAll(servers, settings, addresses).catch(async error => {
    await stop();
    throw error;
  });
  const { url, portInUse } = listening;
  if (portInUse !== undefined)
    log.info({ url, portInUse }, "the default port is in use; using the next free port");
  await wired.refreshCards();
  const runner = wired.start();

  return {
    ...listening,
    unfinished: wired.unfinished,
    get running() {
      return runner.running;
    },
    hasRoute: path => wired.router.match(path) !== null,
    replaceAgents(agents, defaultAgent) {
      catalog.replace(agents.map(wired.toObserved), defaultAgent);
      runner.checkDue();
      void wired.refreshCards();
    },
    stop,
  };
}

/** `path`: see `MountParts`. */
export async function startMounted(
  parts: ServerParts,
  path: string | undefined,
  environment?: ServerEnvironment,
): Promise<MountedServer> {
  if (path !== undefined && !isPath(path))
    throw new StartupError(
      `"${path}" is not a valid path. Use one such as "/a2a", without a slash at its end.`,
    );
  const wired = await wireServer({ ...parts, addresses: {}, mount: { path }, hasGrpc: false }, environment);
  const mount = createMount({ router: createRouter(wired.router), path });
  await wired.refreshCards();
  wired.start();
  let closed: Promise<void> | undefined;
  const { handler, fetch } = mount;
  return { handler, fetch, close: () => (closed ??= wired.close([mount])) };
}

/** undefined: the server speaks plain HTTP. */
async function loadTls(settings: ServerSettings): Promise<Tls | undefined> {
  if (settings.tlsCert === undefined && settings.tlsKey === undefined) return undefined;
  const { readTls } = await import("../http/tls.ts");
  return readTls(settings);
}

const toHttpParts = (wired: WiredServer, settings: ServerSettings, hostCheck: HostCheck | undefined) => ({
  ...settings,
  ...wired.router,
  limits: wired.limits,
  unread: wired.unread,
  now: wired.clock.wallTime,
  hostCheck,
});

/** Speaks plain HTTP: administrators connect from this machine or from a network of their own. */
const createAdminServer = (
  wired: WiredServer,
  settings: ServerSettings,
  hostCheck: HostCheck | undefined,
): HttpServer =>
  createHttpServer({
    ...toHttpParts(wired, settings, hostCheck),
    // The console at this port makes ordinary calls.
    match: createRoutes(wired.hasConsole ? wired.dialects : [], wired.adminEndpoints),
    tls: undefined,
    grpc: undefined,
  });
