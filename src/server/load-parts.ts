import type { AgentDefinition, AgentSpec } from "../agent/definition.ts";
import { type AgentEntry, type Config, toSettings } from "../config/config.ts";
import type { Log } from "../ports/index.ts";
import type { LevelSwitch, LogLevel } from "../telemetry/level.ts";
import type { ServerParts } from "./create-server.ts";
import { loadServedAgents } from "./load-agents.ts";
import type { ServerPorts } from "./server-ports.ts";

/** A config, and the parts that the program brings itself. Entries of `agents` may name its runtimes. */
export interface ServerOptions extends Omit<Config, "agents">, ServerPorts {
  readonly agents?: readonly (AgentDefinition | AgentEntry | AgentSpec | string)[] | undefined;
}

/** Checks the options and loads the agents. `origin`: the function, for errors. */
export async function loadParts(
  { store, bus, protocols, authenticators, runtimes, ...config }: ServerOptions,
  origin: string,
  givenLog?: Log,
): Promise<ServerParts> {
  const ports = { store, bus, protocols, authenticators, runtimes };
  const settings = await toSettings(config as Config, process.cwd(), origin);
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
