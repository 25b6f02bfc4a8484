import type { IncomingHttpHeaders } from "node:http";
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { LIMITS } from "../model/index.ts";
import { type HttpRequest, type HttpResponse, sendError } from "./request.ts";
import { CLOSE_GRACE_MS } from "./sockets.ts";
import type { UnsentBytes } from "./unsent-bytes.ts";

/** Serves the gRPC calls that arrive at the port of HTTP. */
export interface GrpcListener {
  /** Takes over a connection in clear text that began with the HTTP/2 preface. */
  takeConnection(connection: Duplex): void;
  /** Takes one call on a TLS connection that other requests use as well. */
  takeStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void;
}

/** Concurrent calls on one connection beside its streams: a caller with the maximum of streams can still cancel. */
const CALLS_MAX = 1_000;
/** MiB that one connection may hold in the memory of Node's HTTP/2. */
const SESSION_MEMORY_MAX = 256;

export const http2Options = (streamsMax: number) => ({
  settings: { maxConcurrentStreams: streamsMax + CALLS_MAX },
  maxHeaderListPairs: LIMITS.headersMax,
  maxSendHeaderBlockLength: LIMITS.headerBytesMax,
  maxSessionMemory: SESSION_MEMORY_MAX,
});

/** Whether the headers have more bytes than HTTP/1 allows. `raw`: names and values in turn. */
export function isHeadTooLarge(raw: readonly string[]): boolean {
  let bytes = 0;
  // In HTTP/1 two characters follow each of them: a colon and a space, or the end of the line.
  for (const text of raw) bytes += text.length + 2;
  return bytes > LIMITS.headerBytesMax;
}

export const HEAD_TOO_LARGE = `The headers are larger than ${LIMITS.headerBytesMax} bytes`;
export const TOO_MUCH_UNSENT = "Too many responses wait on this connection; read them first";
const RETRY_SECONDS = 5;

/** Refuses a request without reading it. Returns false if there is no reason to. */
export function refuseStream(
  stream: ServerHttp2Stream,
  raw: readonly string[],
  unsent: UnsentBytes,
): boolean {
  const isTooLarge = isHeadTooLarge(raw);
  if (!isTooLarge && unsent.hasRoom(stream)) return false;
  stream.resume();
  const response = new Http2Response(stream, unsent);
  if (isTooLarge) sendError(response, 431, "RESOURCE_EXHAUSTED", HEAD_TOO_LARGE);
  else sendError(response, 503, "UNAVAILABLE", TOO_MUCH_UNSENT, { "Retry-After": String(RETRY_SECONDS) });
  return true;
}

/** gRPC with protobuf messages; no other encoding is supported. */
const GRPC = /^application\/grpc(\+proto)?\s*(;|$)/i;
export const isGrpc = (headers: IncomingHttpHeaders): boolean => GRPC.test(headers["content-type"] ?? "");

/** RFC 9113 §8.2.2: connection-specific headers are not allowed in HTTP/2. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** As in HTTP/1.1, where the authority is the Host header. */
export function withHostHeader(request: Http2ServerRequest): HttpRequest {
  request.headers.host ??= request.authority;
  return request;
}

/** A response over HTTP/2 with the interface of HTTP/1.1. */
export class Http2Response implements HttpResponse {
  readonly #stream: ServerHttp2Stream;
  readonly #unsent: UnsentBytes;
  readonly #headers: Record<string, string> = {};

  constructor(stream: ServerHttp2Stream, unsent: UnsentBytes) {
    this.#stream = stream;
    this.#unsent = unsent;
    // The client has disconnected: `close` follows.
    stream.on("error", () => {});
  }

  get headersSent(): boolean {
    return this.#stream.headersSent;
  }
  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }
  get writableNeedDrain(): boolean {
    return this.#stream.writableNeedDrain;
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>>): void {
    if (this.destroyed) return;
    const own = Object.entries({ ...this.#headers, ...headers })
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !CONNECTION_HEADERS.has(name));
    this.#stream.respond({ ":status": status, ...Object.fromEntries(own) });
  }

  write(text: string | Uint8Array, encoding: BufferEncoding = "utf8"): boolean {
    if (this.#isOver()) return true;
    return typeof text === "string" ? this.#stream.write(text, encoding) : this.#stream.write(text);
  }

  end(text = "", encoding: BufferEncoding = "utf8"): void {
    if (this.#isOver()) return;
    const stream = this.#stream;
    stream.end(text, encoding);
    this.#unsent.add(stream, stream.writableLength);
    if (!stream.readableEnded && !stream.endAfterHeaders) stream.once("finish", () => closeLater(stream));
  }

  /** With an error code: the client must see that the response is incomplete. */
  destroy(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  on(event: string, listener: () => void): void {
    this.#stream.on(event, listener);
  }
  once(event: string, listener: () => void): void {
    this.#stream.once(event, listener);
  }
  off(event: string, listener: () => void): void {
    this.#stream.off(event, listener);
  }

  /** A response to HEAD, and one without content, ends with its headers. */
  #isOver(): boolean {
    return this.destroyed || this.#stream.writableEnded;
  }
}

/** RFC 9113 §8.1: after a complete response, the rest of the request need not be read. */
function closeLater(stream: ServerHttp2Stream): void {
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), CLOSE_GRACE_MS);
  stream.once("close", () => clearTimeout(timer));
}
