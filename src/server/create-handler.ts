/** The server inside a program of somebody else. What it is made of is loaded when one is created. */
import type { Config } from "../config/config.ts";
import type { Log } from "../ports/index.ts";
import type { LevelSwitch } from "../telemetry/level.ts";
import type { LogLevel } from "../telemetry/log.ts";
import type { Mounted } from "./create-server.ts";

export type { Mounted } from "./create-server.ts";

/** What only the program knows into which it is built. */
export interface HostParts {
  /** The path below which it is mounted, such as "/a2a". Express tells it by itself. */
  readonly path?: string;
  /** Where its log goes; else to standard error. A logger of pino, and so Fastify's, will do. */
  readonly log?: Log;
}

/**
 * Serves agents without opening a port. The config is that of a `dragoman.config.ts`; what it says of ports and
 * certificates is the host's affair and means nothing here. Relative names start at the working directory.
 */
export async function createHandler(config: Config = {}, host: HostParts = {}): Promise<Mounted> {
  const { toSettings } = await import("../config/config.ts");
  const { loadServed } = await import("./load-agents.ts");
  const { startMounted } = await import("./create-server.ts");
  const settings = toSettings(config, process.cwd());
  const { agents, fallback } = await loadServed(settings, 0);
  const { log, levels } = host.log ? asHosts(host.log, settings.logLevel) : await openLog(settings.logLevel);
  return startMounted({ settings, agents, fallback, log, levels }, host.path);
}

interface Leveled {
  readonly log: Log;
  readonly levels: LevelSwitch;
}

/** What a log of the host lets through is the host's affair; whether each call gets a line is ours. */
const asHosts = (log: Log, level: LogLevel): Leveled => ({ log, levels: { level } });

async function openLog(level: LogLevel): Promise<Leveled> {
  const { createLog } = await import("../telemetry/log.ts");
  const write = (text: string): void => void process.stderr.write(text);
  const log = createLog({ level, pretty: false, colour: false, now: Date.now, write });
  return { log, levels: log };
}
