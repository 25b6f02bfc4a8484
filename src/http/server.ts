import type { Server } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { LIMITS } from "../model/index.ts";
import type { MountPoint } from "./base-url.ts";
import type { BodyLimits } from "./body.ts";
import { createFastPath } from "./fast-path/connection.ts";
import { sniffProtocol } from "./fast-path/sniff.ts";
import type { HostCheck } from "./host-check.ts";
import type { GrpcListener } from "./http2.ts";
import { createServer } from "./node-http.ts";
import { createRouter, type RouterParts, refuse } from "./router.ts";
import { CLOSE_GRACE_MS, createStallTimer, trackSockets } from "./sockets.ts";
import { STALLED_HEARTBEATS_MAX } from "./sse.ts";
import type { Serve, Tls } from "./tls.ts";
import type { UnsentBytesParts } from "./unsent-bytes.ts";

export interface HttpServerParts extends RouterParts, UnsentBytesParts {
  readonly now: () => number;
  readonly limits: BodyLimits;
  readonly connectionsMax: number;
  /** false: Node's parser reads every request. */
  readonly httpFastPath: boolean;
  readonly tls: Tls | undefined;
  /** undefined: callers must authenticate, so that the Host and Origin headers do not matter. */
  readonly hostCheck: HostCheck | undefined;
  readonly streamsMax: number;
  /** Serves gRPC at this port. undefined: gRPC has a port of its own, or is off. */
  readonly grpc: GrpcListener | undefined;
}

export interface HttpServer {
  readonly server: NetServer;
  /** Accepts no more connections; open ones go on. */
  refuseNew(): void;
  /** Ends open streams, each after a whole event, so that callers can resume. */
  close(): Promise<void>;
}

/** Sockets, their limits, and the protocols that are spoken on them. */
export function createHttpServer(parts: HttpServerParts): HttpServer {
  const router = createRouter(parts);
  const mount: MountPoint = { scheme: parts.tls ? "https" : "http", prefix: "" };
  let closed: Promise<void> | undefined;

  const serve: Serve = (request, response, url) => {
    const problem = parts.hostCheck?.(request.headers, request.method);
    if (problem === undefined) router.serve(request, response, url, mount);
    else refuse(request, response, 403, "PERMISSION_DENIED", problem);
  };
  const options = {
    requestTimeout: parts.limits.bodyReadMs + LIMITS.headReadMs,
    headersTimeout: LIMITS.headReadMs,
    maxHeaderSize: LIMITS.headerBytesMax,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A proxy may have used the other one of two headers that are allowed once: Node must not choose one.
    joinDuplicateHeaders: true,
  };
  const secure = parts.tls?.createHttp(options, serve, parts);
  const plain = secure
    ? undefined
    : createServer(options, (request, response) => serve(request, response, request.url ?? "/"));
  const server = Object.assign(secure ?? (plain as Server), {
    maxHeadersCount: LIMITS.headersMax,
    maxConnections: parts.connectionsMax,
  });
  server.on("clientError", refuseSocket);
  const connections = plain && acceptClearText(plain, serve, parts);
  const sockets = secure && trackSockets(secure);
  const stalls = secure && closeStalledTls(secure, STALLED_HEARTBEATS_MAX * parts.heartbeatMs);

  return {
    server,
    refuseNew() {
      if (closed) return;
      closed = new Promise(resolve => server.close(() => resolve()));
      connections?.closeIdle();
    },
    async close() {
      this.refuseNew();
      connections?.close();
      stalls?.close();
      router.close();
      // A connection is idle as soon as its last response is sent.
      const sweep = setInterval(() => {
        server.closeIdleConnections();
        connections?.closeIdle();
      }, SWEEP_MS);
      const cut = setTimeout(() => {
        plain?.closeAllConnections();
        connections?.closeAll();
        sockets?.close();
      }, CLOSE_GRACE_MS);
      await closed;
      clearInterval(sweep);
      clearTimeout(cut);
    },
  };
}

const SWEEP_MS = 10;
/** Larger requests are passed to Node's parser before they are complete. */
const GATHERED_BYTES_MAX = 64 * 1024;
/** Longer than the minute after which proxies close a silent connection: otherwise a request could meet our closing. */
const KEEP_ALIVE_MS = 65_000;

/** In TLS, unsent bytes wait in the TLS socket and not in the TCP socket below it. */
function closeStalledTls(server: NetServer, stallMs: number): { close(): void } {
  const open = new Set<Socket>();
  function onClose(this: Socket): void {
    open.delete(this);
  }
  server.on("secureConnection", (socket: Socket) => {
    open.add(socket);
    socket.on("close", onClose);
  });
  return createStallTimer(stallMs, () => open);
}

/** Clear text: HTTP/2 goes to gRPC, plain requests take the fast path, everything else goes to Node's HTTP server. */
function acceptClearText(server: Server, serve: Serve, parts: HttpServerParts) {
  const [onConnection] = server.listeners("connection");
  if (!onConnection) throw new Error("Node's HTTP server has no listener for connections");
  /** Connections of Node's HTTP server. */
  const passed = new Set<Socket>();
  function onClose(this: Socket): void {
    passed.delete(this);
  }
  const passToNode = (socket: Socket, bytes: Buffer): void => {
    passed.add(socket);
    socket.on("close", onClose);
    onConnection.call(server, socket);
    socket.emit("data", bytes);
  };
  const limits = {
    headersMax: LIMITS.headersMax,
    headBytesMax: LIMITS.headerBytesMax,
    requestBytesMax: GATHERED_BYTES_MAX,
  };
  const fastPath = parts.httpFastPath
    ? createFastPath({ serve, passToNode, now: parts.now, limits, keepAliveMs: KEEP_ALIVE_MS })
    : undefined;
  const stalls = createStallTimer(STALLED_HEARTBEATS_MAX * parts.heartbeatMs, function* () {
    if (fastPath) yield* fastPath.sockets();
    yield* passed;
  });
  const sniffing = sniffProtocol({
    server,
    takeHttp1: fastPath?.take ?? passToNode,
    takeHttp2: parts.grpc?.takeConnection,
    silentMs: LIMITS.headReadMs,
    refuseSilent: socket => refuseSocket({ code: "ERR_HTTP_REQUEST_TIMEOUT" }, socket),
  });
  return {
    closeIdle: () => fastPath?.closeIdle(),
    closeAll: () => fastPath?.closeAll(),
    close(): void {
      sniffing.close();
      fastPath?.close();
      stalls.close();
    },
  };
}

/** Answers bytes that are not HTTP, or exceed its limits, and closes the socket. */
function refuseSocket(error: { readonly code?: string }, socket: Duplex): void {
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
