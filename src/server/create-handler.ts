/** The server inside another program. Its modules are loaded when the first handler is created. */
import type { Config } from "../config/config.ts";
import type { Log } from "../ports/index.ts";
import type { LevelSwitch, LogLevel } from "../telemetry/level.ts";
import type { MountedServer } from "./create-server.ts";

export type { MountedServer } from "./create-server.ts";

export interface HandlerOptions {
  /** The path at which the handler is mounted, such as "/a2a". Express tells it by itself. */
  readonly path?: string;
  /** Default: standard error. A logger of pino or Fastify fits. */
  readonly log?: Log;
}

/**
 * Serves agents without opening a port. The config is that of a `dragoman.config.ts`; its ports and certificates are
 * ignored, because the host program has its own. Relative names start at the working directory.
 */
export async function createHandler(
  config: Config = {},
  options: HandlerOptions = {},
): Promise<MountedServer> {
  const { toSettings } = await import("../config/config.ts");
  const { loadServedAgents } = await import("./load-agents.ts");
  const { startMounted } = await import("./create-server.ts");
  const settings = toSettings(config, process.cwd());
  const { agents, defaultAgent, functions } = await loadServedAgents(settings, 0);
  const { log, levels } = await openLog(options.log, settings.logLevel);
  for (const warning of settings.warnings) log.warn({}, warning);
  return startMounted({ settings, agents, defaultAgent, functions, log, levels }, options.path);
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
