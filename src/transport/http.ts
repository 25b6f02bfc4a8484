import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { LIMITS } from "../model/index.ts";
import type { Headers, Log, Pipeline, Route, TransportName } from "../ports.ts";
import { createBase } from "./base.ts";
import { type BodyLimits, createBodies } from "./body.ts";
import { createDocuments } from "./document.ts";
import { type Exchange, sendProblem } from "./exchange.ts";
import { createJsonRpc } from "./jsonrpc.ts";
import { createRest } from "./rest.ts";
import type { Place } from "./routes.ts";
import type { Streams } from "./sse.ts";

export interface HttpParts {
  readonly pipeline: Pipeline;
  readonly locate: (path: string) => Place | null;
  readonly log: Log;
  readonly limits: BodyLimits;
  readonly streams: Streams;
  readonly publicUrl: string | undefined;
  readonly trustProxy: boolean;
  /** When what is served last changed. */
  readonly modifiedAt: () => number;
}

export interface Http {
  readonly server: Server;
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Takes no more connections; those that are open go on. */
  refuseNew(): void;
  /** Ends what callers are reading: each stream after a whole event, so that it can be resumed. */
  close(): Promise<void>;
}

interface Transport {
  serve(exchange: Exchange, route: Route): Promise<void>;
}

/** The kernel: sockets, limits, the way to a transport, and what is said where no dialect is spoken. */
export function createHttp(parts: HttpParts): Http {
  const { streams } = parts;
  const bodies = createBodies(parts.limits);
  const transports = {
    jsonrpc: createJsonRpc({ pipeline: parts.pipeline, streams, bodies }),
    rest: createRest({ pipeline: parts.pipeline, streams }),
    document: createDocuments({ pipeline: parts.pipeline, modifiedAt: parts.modifiedAt }),
  } satisfies Record<TransportName, Transport>;
  const baseOf = createBase(parts);
  const readers = new Set<AbortController>();
  let draining = false;
  let closed: Promise<void> | undefined;

  function handler(request: IncomingMessage, response: ServerResponse): void {
    serve(request, response)?.catch(error => {
      parts.log.error({ err: error, url: request.url }, "a request failed");
      if (!response.headersSent) sendProblem(response, 500, "INTERNAL", "The server failed");
      else response.destroy();
    });
  }

  function serve(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    const url = toTarget(request.url ?? "/");
    const mark = url.indexOf("?");
    const path = mark === -1 ? url : url.slice(0, mark);
    const place = parts.locate(path);
    if (!place)
      return void refuse(
        request,
        response,
        404,
        "NOT_FOUND",
        "There is nothing here; GET /agents lists the agents",
      );
    const route = place.byVerb.get(request.method === "HEAD" ? "GET" : (request.method ?? ""));
    if (!route) return void wrongVerb(request, response, place);
    const query = mark === -1 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1));
    return transports[route.transport].serve(
      {
        request,
        response,
        place,
        headers: request.headers as Headers,
        query,
        base: () => baseOf(request),
        signal: createSignal(response),
      },
      route,
    );
  }

  /** Made on demand: a call that is answered at once needs no signal. */
  function createSignal(response: ServerResponse): () => AbortSignal {
    let controller: AbortController | undefined;
    return () => {
      if (controller) return controller.signal;
      const made = new AbortController();
      controller = made;
      if (draining || response.destroyed) made.abort();
      readers.add(made);
      response.once("close", () => {
        readers.delete(made);
        made.abort();
      });
      return made.signal;
    };
  }

  const server = createServer(
    {
      requestTimeout: parts.limits.bodyReadMs + LIMITS.headReadMs,
      headersTimeout: LIMITS.headReadMs,
      maxHeaderSize: LIMITS.headerBytesMax,
      keepAliveTimeout: 65_000,
    },
    handler,
  );
  server.maxHeadersCount = LIMITS.headersMax;
  server.on("clientError", refuseSocket);

  return {
    server,
    handler,
    refuseNew() {
      closed ??= new Promise(resolve => server.close(() => resolve()));
    },
    async close() {
      draining = true;
      this.refuseNew();
      for (const reader of readers) reader.abort();
      streams.close();
      bodies.close();
      // A connection is idle as soon as its last answer is out; whoever does not take it is not waited for.
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
      const cut = setTimeout(() => server.closeAllConnections(), HOLD_MS);
      await closed;
      clearInterval(sweep);
      clearTimeout(cut);
    },
  };
}

/** How long a connection may stay open after its last answer. */
const HOLD_MS = 1_000;
const SWEEP_MS = 10;
/** RFC 9112 §3.2.2: a server takes the absolute form as well. */
function toTarget(url: string): string {
  return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
}

const NO_QUERY = new URLSearchParams();

function wrongVerb(request: IncomingMessage, response: ServerResponse, place: Place): void {
  const verbs = [...place.byVerb.keys()];
  const allow = [...verbs, ...(verbs.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  if (request.method === "OPTIONS") {
    response.writeHead(204, { Allow: allow });
    response.end();
  } else {
    const message = `${request.method} is not for this path; it takes ${allow}`;
    refuse(request, response, 405, "UNIMPLEMENTED", message, { Allow: allow });
  }
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  // What came with it is not read; the connection is only kept if nothing is left on it.
  request.resume();
  sendProblem(response, status, code, message, headers);
}

/** What is not HTTP, or too much of it: said in a few words, then the socket is closed. */
function refuseSocket(error: NodeJS.ErrnoException, socket: import("node:stream").Duplex): void {
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
