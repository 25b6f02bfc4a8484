import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { createServer, type Server } from "node:net";
import type { Duplex } from "node:stream";
import type { GrpcListener } from "../../http/http2.ts";
import { CLOSE_GRACE_MS, trackSockets } from "../../http/sockets.ts";
import { STALLED_HEARTBEATS_MAX } from "../../http/sse.ts";
import type { Tls } from "../../http/tls.ts";
import type { GrpcServer, GrpcServerParts } from "./server.ts";

export interface GrpcParts extends Omit<GrpcServerParts, "stallMs"> {
  readonly tls: Tls | undefined;
  readonly hasOwnPort: boolean;
}

export interface Grpc extends GrpcListener {
  /** undefined: gRPC shares the port of HTTP. */
  readonly server: Server | undefined;
  /** Accepts no more connections and tells health watchers; open connections go on. */
  refuseNew(): void;
  /** Ends open streams, each after a whole event, so that callers can resume. */
  close(): Promise<void>;
}

/** Loads the gRPC server with the first connection: most servers never get one, and should start quickly. */
export function createGrpc(parts: GrpcParts): Grpc {
  let loading: Promise<GrpcServer | null> | undefined;
  let refusing = false;
  const port = parts.hasOwnPort ? createPort(takeConnection, parts.tls) : undefined;

  async function load(): Promise<GrpcServer | null> {
    try {
      const { createGrpcServer } = await import("./server.ts");
      const server = createGrpcServer({ ...parts, stallMs: STALLED_HEARTBEATS_MAX * parts.heartbeatMs });
      if (refusing) server.refuseNew();
      return server;
    } catch (error) {
      parts.log.error({ err: error }, "gRPC cannot be loaded");
      return null;
    }
  }

  async function takeConnection(connection: Duplex): Promise<void> {
    const destroy = (): void => void connection.destroy();
    connection.on("error", destroy);
    loading ??= load();
    const server = await loading;
    connection.off("error", destroy);
    if (!server) destroy();
    else if (!connection.destroyed) server.takeConnection(connection);
  }

  async function takeStream(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    raw: readonly string[],
  ): Promise<void> {
    // The caller may disconnect before the server is loaded.
    stream.on("error", () => {});
    loading ??= load();
    const server = await loading;
    if (!server) stream.close();
    else if (!stream.destroyed) server.takeStream(stream, headers, raw);
  }

  return {
    server: port?.server,
    takeConnection,
    takeStream,
    refuseNew() {
      refusing = true;
      port?.refuseNew();
      void loading?.then(server => server?.refuseNew());
    },
    async close() {
      await (await loading)?.close();
      await port?.close();
    },
  };
}

function createPort(onConnection: (connection: Duplex) => void, tls: Tls | undefined) {
  const server = tls ? tls.createHttp2(onConnection) : createServer(onConnection);
  const sockets = trackSockets(server);
  let closed: Promise<void> | undefined;
  return {
    server,
    refuseNew(): void {
      closed ??= new Promise(resolve => server.close(() => resolve()));
    },
    async close(): Promise<void> {
      this.refuseNew();
      const cut = setTimeout(sockets.close, CLOSE_GRACE_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}
