import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { createServer, type Server } from "node:net";
import type { Duplex } from "node:stream";
import { trackSockets } from "../../http/fast-path/sniff.ts";
import { HOLD_MS } from "../../http/open-connections.ts";
import { STALLED_MAX } from "../../http/sse.ts";
import type { Tls } from "../../http/tls.ts";
import type { GrpcServer, GrpcServerParts } from "./server.ts";

export interface GrpcParts extends Omit<GrpcServerParts, "stallMs"> {
  readonly tls: Tls | undefined;
  /** Listens at a port of its own. */
  readonly apart: boolean;
}

export interface Grpc {
  /** What listens for it, if it has a port of its own. */
  readonly server: Server | undefined;
  /** Takes a connection on which HTTP/2 is spoken. */
  take(connection: Duplex): void;
  /** Takes a call on a connection on which other things are asked as well. */
  hear(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void;
  /** Takes no more connections and tells those who watch; connections that are open go on. */
  refuseNew(): void;
  /** Ends what callers are reading: each stream after a whole event, so that it can be resumed. */
  close(): Promise<void>;
}

/** Loads what gRPC needs with the first connection: most servers never get one, and a start should be quick. */
export function createGrpc(parts: GrpcParts): Grpc {
  let loading: Promise<GrpcServer | null> | undefined;
  let refusing = false;
  const port = parts.apart ? createPort(take, parts.tls) : undefined;

  async function load(): Promise<GrpcServer | null> {
    try {
      const { createGrpcServer } = await import("./server.ts");
      const server = createGrpcServer({ ...parts, stallMs: STALLED_MAX * parts.heartbeatMs });
      if (refusing) server.refuseNew();
      return server;
    } catch (error) {
      parts.log.error({ err: error }, "gRPC cannot be loaded");
      return null;
    }
  }

  async function hand(connection: Duplex): Promise<void> {
    const lose = (): void => void connection.destroy();
    connection.on("error", lose);
    loading ??= load();
    const server = await loading;
    connection.off("error", lose);
    if (!server) lose();
    else if (!connection.destroyed) server.take(connection);
  }

  function take(connection: Duplex): void {
    void hand(connection);
  }

  async function hear(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    raw: readonly string[],
  ): Promise<void> {
    // Whoever goes before anybody listens to him was not there.
    stream.on("error", () => {});
    loading ??= load();
    const server = await loading;
    if (!server) stream.close();
    else if (!stream.destroyed) server.hear(stream, headers, raw);
  }

  return {
    server: port?.server,
    take,
    hear: (stream, headers, raw) => void hear(stream, headers, raw),
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

function createPort(take: (connection: Duplex) => void, tls: Tls | undefined) {
  const server = tls ? tls.createHttp2(take) : createServer(take);
  const sockets = trackSockets(server);
  let closed: Promise<void> | undefined;
  return {
    server,
    refuseNew(): void {
      closed ??= new Promise(resolve => server.close(() => resolve()));
    },
    async close(): Promise<void> {
      this.refuseNew();
      const cut = setTimeout(sockets.close, HOLD_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}
