import type { IncomingHttpHeaders } from "node:http";
import type { Http2ServerRequest, ServerHttp2Stream } from "node:http2";
import { LIMITS } from "../model/index.ts";
import type { Incoming, Outgoing } from "./exchange.ts";

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

/** Messages in protobuf; nothing else of gRPC is spoken here. */
const GRPC = /^application\/grpc(\+proto)?\s*(;|$)/i;
export const isGrpc = (headers: IncomingHttpHeaders): boolean => GRPC.test(headers["content-type"] ?? "");

/** RFC 9113 §8.2.2: what belongs to a connection has no place here. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** A request over HTTP/2, as one over HTTP/1.1 looks: there the authority is a header. */
export function toIncoming(request: Http2ServerRequest): Incoming {
  request.headers.host ??= request.authority;
  return request;
}

/** A response over HTTP/2, with the face of one over HTTP/1.1. */
export class Http2Outgoing implements Outgoing {
  readonly #stream: ServerHttp2Stream;
  readonly #known: Record<string, string> = {};

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
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

  write(text: string, encoding: BufferEncoding = "utf8"): boolean {
    return this.#isOver() || this.#stream.write(text, encoding);
  }

  end(text = "", encoding: BufferEncoding = "utf8"): void {
    if (!this.#isOver()) this.#stream.end(text, encoding);
  }

  destroy(): void {
    this.#stream.close();
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
