/** The server inside a program of somebody else. What it is made of is loaded when one is created. */
import type { Config } from "./config/config.ts";
import type { Mounted } from "./main.ts";
import type { Log } from "./ports.ts";
import type { LogLevel } from "./telemetry/log.ts";

export type { Mounted } from "./main.ts";

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
  const { toSettings } = await import("./config/config.ts");
  const { loadServed } = await import("./loadout.ts");
  const { startMounted } = await import("./main.ts");
  const settings = toSettings(config, process.cwd());
  const { agents, fallback } = await loadServed(settings, 0);
  const log = host.log ?? (await openLog(settings.logLevel));
  return startMounted({ settings, agents, fallback, log }, host.path);
}

async function openLog(level: LogLevel): Promise<Log> {
  const { createLog } = await import("./telemetry/log.ts");
  const write = (text: string): void => void process.stderr.write(text);
  return createLog({ level, pretty: false, colour: false, now: Date.now, write });
}
