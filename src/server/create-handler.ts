/** The server inside another program. Its modules are loaded when the first handler or server is created. */
import type { AgentDefinition, AgentSpec } from "../agent/definition.ts";
import type { AgentEntry, Config } from "../config/config.ts";
import type { Log } from "../ports/index.ts";
import type { LevelSwitch, LogLevel } from "../telemetry/level.ts";
import type { MountedServer, ServerParts } from "./create-server.ts";
import type { ServerPorts } from "./server-ports.ts";

export type { MountedServer } from "./create-server.ts";
export type { CreateAgent, OpenBusPort, OpenStorePort, ServerPorts } from "./server-ports.ts";

export interface HandlerOptions {
  /** The path at which the handler is mounted, such as "/a2a". Express tells it by itself. */
  readonly path?: string;
  /** Default: standard error. A logger of pino or Fastify fits. */
  readonly log?: Log;
}

/** A config, and the parts that the program brings itself. Entries of `agents` may name its runtimes. */
export interface ServerOptions extends Omit<Config, "agents">, ServerPorts {
  readonly agents?: readonly (AgentDefinition | AgentEntry | AgentSpec | string)[] | undefined;
}

/** A server with a port of its own. */
export interface ListeningServer {
  /** http://127.0.0.1:2024 */
  readonly url: string;
  /** 127.0.0.1:2025, if gRPC has a port of its own. */
  readonly grpc: string | undefined;
  /** http://127.0.0.1:9464, if there is an admin port. */
  readonly admin: string | undefined;
  /** Takes no new work, waits for runs or releases them, ends streams after a whole event. */
  close(): Promise<void>;
}

/**
 * Serves agents without opening a port. The config is that of a `dragoman.config.ts`; its ports and certificates are
 * ignored, because the host program has its own. Relative names start at the working directory.
 */
export async function createHandler(
  config: ServerOptions = {},
  options: HandlerOptions = {},
): Promise<MountedServer> {
  const { startMounted } = await import("./create-server.ts");
  return startMounted(await loadParts(config, "createHandler", options.log), options.path);
}

/** Serves agents at a port, as `dragoman serve` does. Neither files nor the environment are read for options. */
export async function createServer(
  options: ServerOptions = {},
  { log }: Pick<HandlerOptions, "log"> = {},
): Promise<ListeningServer> {
  const { startServer } = await import("./create-server.ts");
  const { url, grpc, admin, stop } = await startServer(await loadParts(options, "createServer", log));
  let stopped: Promise<void> | undefined;
  return { url, grpc, admin, close: () => (stopped ??= stop()) };
}

/** Checks the options and loads the agents. `origin`: the function, for errors. */
export async function loadParts(
  { store, bus, protocols, authenticators, runtimes, ...config }: ServerOptions,
  origin: string,
  givenLog?: Log,
): Promise<ServerParts> {
  const { toSettings } = await import("../config/config.ts");
  const { loadServedAgents } = await import("./load-agents.ts");
  const ports = { store, bus, protocols, authenticators, runtimes };
  const settings = toSettings(config as Config, process.cwd(), origin);
  const served = await loadServedAgents(settings, 0, runtimes);
  const { log, levels } = await openLog(givenLog, settings.logLevel);
  for (const warning of settings.warnings) log.warn({}, warning);
  // The default of `auth` is for a server without any.
  const auth = authenticators?.length ? settings.auth.filter(mode => mode !== "none") : settings.auth;
  return { ...served, settings: { ...settings, auth }, ports, log, levels };
}

/** The level of a log of the host is set by the host; ours decides whether each call is logged. */
async function openLog(
  given: Log | undefined,
  level: LogLevel,
): Promise<{ readonly log: Log; readonly levels: LevelSwitch }> {
  if (given) return { log: given, levels: { level } };
  const { createLog } = await import("../telemetry/log.ts");
  const write = (text: string): void => void process.stderr.write(text);
  const log = createLog({ level, pretty: false, colour: false, now: Date.now, write });
  return { log, levels: log };
}
