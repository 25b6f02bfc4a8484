/** The server inside another program. Its modules are loaded when the first handler or server is created. */
import type { Log } from "../ports/index.ts";
import type { MountedServer } from "./create-server.ts";
import type { ServerOptions } from "./load-parts.ts";

export type { MountedServer } from "./create-server.ts";
export type { ServerOptions } from "./load-parts.ts";
export type { CreateAgent, OpenBusPort, OpenStorePort, ServerPorts } from "./server-ports.ts";

export interface HandlerOptions {
  /** The path at which the handler is mounted, such as "/a2a". Express tells it by itself. */
  readonly path?: string;
  /** Default: standard error. A logger of pino or Fastify fits. */
  readonly log?: Log;
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
  const { loadParts } = await import("./load-parts.ts");
  return startMounted(await loadParts(config, "createHandler", options.log), options.path);
}

/** Serves agents at a port, as `dragoman serve` does. Neither files nor the environment are read for options. */
export async function createServer(
  options: ServerOptions = {},
  { log }: Pick<HandlerOptions, "log"> = {},
): Promise<ListeningServer> {
  const { startServer } = await import("./create-server.ts");
  const { loadParts } = await import("./load-parts.ts");
  const { url, grpc, admin, stop } = await startServer(await loadParts(options, "createServer", log));
  let stopped: Promise<void> | undefined;
  return { url, grpc, admin, close: () => (stopped ??= stop()) };
}
