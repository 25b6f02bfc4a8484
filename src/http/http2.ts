import type { IncomingHttpHeaders } from "node:http";
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from "node:http2";
import { LIMITS } from "../model/index.ts";
import { HOLD_MS } from "./open-connections.ts";
import { type HttpRequest, type HttpResponse, sendProblem } from "./request.ts";
import type { Unsent } from "./unsent-bytes.ts";

/** Calls at once on one connection, beside its streams: whoever has all streams may still cancel. */
const CALLS_MAX = 1_000;
/** MiB that the calls of one connection may hold in HTTP/2's own memory. */
const SESSION_MEMORY_MAX = 256;

/** How much one connection may ask for. */
export const http2Options = (streamsMax: number) => ({
  settings: { maxConcurrentStreams: streamsMax + CALLS_MAX },
  maxHeaderListPairs: LIMITS.headersMax,
  maxSendHeaderBlockLength: LIMITS.headerBytesMax,
  maxSessionMemory: SESSION_MEMORY_MAX,
});

/** Whether a head has more bytes than one of HTTP/1 may have. `raw`: names and values in turn. */
export function isHeadTooLarge(raw: readonly string[]): boolean {
  let bytes = 0;
  // In HTTP/1 two characters follow each of them: a colon and a space, or the end of the line.
  for (const text of raw) bytes += text.length + 2;
  return bytes > LIMITS.headerBytesMax;
}

export const HEAD_TOO_LARGE = `There are more than ${LIMITS.headerBytesMax} bytes of headers`;
export const TOO_MUCH_UNSENT = "Too many answers wait on this connection; read them first";
const RETRY_SECONDS = 5;

/** Says why a request is not taken; nothing of it is read. Returns false if there is no reason. */
export function refuseStream(stream: ServerHttp2Stream, raw: readonly string[], unsent: Unsent): boolean {
  const isTooLarge = isHeadTooLarge(raw);
  if (!isTooLarge && unsent.hasRoom(stream)) return false;
  stream.resume();
  const response = new Http2Outgoing(stream, unsent);
  if (isTooLarge) sendProblem(response, 431, "RESOURCE_EXHAUSTED", HEAD_TOO_LARGE);
  else sendProblem(response, 503, "UNAVAILABLE", TOO_MUCH_UNSENT, { "Retry-After": String(RETRY_SECONDS) });
  return true;
}

/** Messages in protobuf; nothing else of gRPC is spoken here. */
const GRPC = /^application\/grpc(\+proto)?\s*(;|$)/i;
export const isGrpc = (headers: IncomingHttpHeaders): boolean => GRPC.test(headers["content-type"] ?? "");

/** RFC 9113 §8.2.2: what belongs to a connection has no place here. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** A request over HTTP/2, as one over HTTP/1.1 looks: there the authority is a header. */
export function toIncoming(request: Http2ServerRequest): HttpRequest {
  request.headers.host ??= request.authority;
  return request;
}

/** A response over HTTP/2, with the face of one over HTTP/1.1. */
export class Http2Outgoing implements HttpResponse {
  readonly #stream: ServerHttp2Stream;
  readonly #unsent: Unsent;
  readonly #known: Record<string, string> = {};

  constructor(stream: ServerHttp2Stream, unsent: Unsent) {
    this.#stream = stream;
    this.#unsent = unsent;
    // Whoever reads has gone: there is nobody left to tell.
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
    this.#known[name] = value;
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>>): void {
    if (this.destroyed) return;
    const own = Object.entries({ ...this.#known, ...headers })
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !OF_THE_CONNECTION.has(name));
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
    if (!stream.readableEnded && !stream.endAfterHeaders) stream.once("finish", () => cutLater(stream));
  }

  /** Not as if all were said: the reader must see that something is missing. */
  destroy(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  on(event: string, heard: () => void): void {
    this.#stream.on(event, heard);
  }
  once(event: string, heard: () => void): void {
    this.#stream.once(event, heard);
  }
  off(event: string, heard: () => void): void {
    this.#stream.off(event, heard);
  }

  /** An answer to HEAD, and one without content, ends with its head. */
  #isOver(): boolean {
    return this.destroyed || this.#stream.writableEnded;
  }
}

/** The answer is out, and the request is still coming: what is left of it is not read (RFC 9113 §8.1). */
function cutLater(stream: ServerHttp2Stream): void {
  const cut = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), HOLD_MS);
  stream.once("close", () => clearTimeout(cut));
}
