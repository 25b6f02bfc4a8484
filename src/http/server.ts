import { createServer, type Server } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import type { Grpc } from "../binding/grpc/index.ts";
import { LIMITS } from "../model/index.ts";
import type { Site } from "./base-url.ts";
import { createWicket } from "./fast-path/connection.ts";
import { shareDoor, trackSockets } from "./fast-path/sniff.ts";
import type { HostCheck } from "./host-check.ts";
import { HOLD_MS } from "./open-connections.ts";
import { createKernel, type KernelParts, refuse } from "./router.ts";
import { STALLED_MAX } from "./sse.ts";
import { createStalls } from "./stall-timer.ts";
import type { Serve, Tls } from "./tls.ts";

export interface HttpParts extends KernelParts {
  readonly now: () => number;
  readonly connectionsMax: number;
  /** false: Node's parser reads every request. */
  readonly httpFastPath: boolean;
  readonly tls: Tls | undefined;
  /** undefined: callers are asked who they are, so that it does not matter where they come from. */
  readonly hosts: HostCheck | undefined;
  readonly heartbeatMs: number;
  readonly streamsMax: number;
  /** If it has no port of its own, it gets what is said to it at this one. undefined: nobody speaks it. */
  readonly grpc: Pick<Grpc, "server" | "take" | "hear"> | undefined;
}

export interface Http {
  readonly server: NetServer;
  /** Takes no more connections; those that are open go on. */
  refuseNew(): void;
  /** Ends what callers are reading: each stream after a whole event, so that it can be resumed. */
  close(): Promise<void>;
}

/** Sockets and their limits. */
export function createHttp(parts: HttpParts): Http {
  const kernel = createKernel(parts);
  const site: Site = { scheme: parts.tls ? "https" : "http", prefix: "" };
  let closed: Promise<void> | undefined;

  const serve: Serve = (request, response, url) => {
    const problem = parts.hosts?.(request.headers, request.method);
    if (problem === undefined) kernel.serve(request, response, url, site);
    else refuse(request, response, 403, "PERMISSION_DENIED", problem);
  };
  const options = {
    requestTimeout: parts.limits.bodyReadMs + LIMITS.headReadMs,
    headersTimeout: LIMITS.headReadMs,
    maxHeaderSize: LIMITS.headerBytesMax,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Of two headers that may come only once, no one else in the way must have believed the other.
    joinDuplicateHeaders: true,
  };
  const grpc = parts.grpc?.server ? undefined : parts.grpc;
  const secure = parts.tls?.createHttp(options, serve, { ...parts, grpc });
  const plain = secure
    ? undefined
    : createServer(options, (asked, reply) => serve(asked, reply, asked.url ?? "/"));
  const server = Object.assign(secure ?? (plain as Server), {
    maxHeadersCount: LIMITS.headersMax,
    maxConnections: parts.connectionsMax,
  });
  server.on("clientError", refuseSocket);
  const door = plain && openDoor(plain, serve, { ...parts, grpc });
  const sockets = secure && trackSockets(secure);
  const stalls = secure && watchSecure(secure, STALLED_MAX * parts.heartbeatMs);

  return {
    server,
    refuseNew() {
      if (closed) return;
      closed = new Promise(resolve => server.close(() => resolve()));
      door?.closeIdle();
    },
    async close() {
      this.refuseNew();
      door?.close();
      stalls?.close();
      kernel.close();
      // A connection is idle as soon as its last answer is out; whoever does not take it is not waited for.
      const sweep = setInterval(() => {
        server.closeIdleConnections();
        door?.closeIdle();
      }, SWEEP_MS);
      const cut = setTimeout(() => {
        plain?.closeAllConnections();
        door?.closeAll();
        sockets?.close();
      }, HOLD_MS);
      await closed;
      clearInterval(sweep);
      clearTimeout(cut);
    },
  };
}

const SWEEP_MS = 10;
/** Larger requests are read as they come. */
const GATHERED_BYTES_MAX = 64 * 1024;
/** Longer than the minute after which proxies give a silent connection up: it must not be us who hang up on a call. */
const KEEP_ALIVE_MS = 65_000;

/** Bytes wait in the socket of TLS, not in the one below it. */
function watchSecure(server: NetServer, stallMs: number): { close(): void } {
  const open = new Set<Socket>();
  function forget(this: Socket): void {
    open.delete(this);
  }
  server.on("secureConnection", (socket: Socket) => {
    open.add(socket);
    socket.on("close", forget);
  });
  return createStalls(stallMs, () => open);
}

/** What comes in clear text: HTTP/2 goes to the gRPC server, plain requests take the fast path, the rest goes to Node. */
function openDoor(server: Server, serve: Serve, { grpc, now, heartbeatMs, httpFastPath }: HttpParts) {
  const [takeAll] = server.listeners("connection");
  if (!takeAll) throw new Error("an HTTP server that takes no connections");
  /** Connections that Node reads. */
  const passed = new Set<Socket>();
  function forget(this: Socket): void {
    passed.delete(this);
  }
  const pass = (socket: Socket, bytes: Buffer): void => {
    passed.add(socket);
    socket.on("close", forget);
    takeAll.call(server, socket);
    socket.emit("data", bytes);
  };
  const parts = {
    serve,
    pass,
    now,
    limits: {
      headersMax: LIMITS.headersMax,
      headBytesMax: LIMITS.headerBytesMax,
      requestBytesMax: GATHERED_BYTES_MAX,
    },
    keepAliveMs: KEEP_ALIVE_MS,
  };
  const wicket = httpFastPath ? createWicket(parts) : undefined;
  const stalls = createStalls(STALLED_MAX * heartbeatMs, function* () {
    if (wicket) yield* wicket.sockets();
    yield* passed;
  });
  const door = shareDoor({
    server,
    takeHttp1: wicket?.take ?? pass,
    takeHttp2: grpc?.take,
    silentMs: LIMITS.headReadMs,
    refuseSilent: socket => refuseSocket({ code: "ERR_HTTP_REQUEST_TIMEOUT" }, socket),
  });
  return {
    closeIdle: () => wicket?.closeIdle(),
    closeAll: () => wicket?.closeAll(),
    close(): void {
      door.close();
      wicket?.close();
      stalls.close();
    },
  };
}

/** What is not HTTP, or too much of it: said in a few words, then the socket is closed. */
function refuseSocket(error: { readonly code?: string }, socket: import("node:stream").Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const [status, message] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [
          "431 Request Header Fields Too Large",
          `There are more than ${LIMITS.headersMax} headers, or more than ${LIMITS.headerBytesMax} bytes of them`,
        ]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["408 Request Timeout", "The request took too long to arrive"]
        : ["400 Bad Request", "This is not an HTTP request"];
  const body = JSON.stringify({ error: { code: Number.parseInt(status as string, 10), message } });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
