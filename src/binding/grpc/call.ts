import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { constants } from "node:http2";
import type { BodyLimits } from "../../http/body.ts";
import { readPeerCertificate } from "../../http/peer-certificate.ts";
import { CLOSE_GRACE_MS } from "../../http/sockets.ts";
import type { UnsentBytes } from "../../http/unsent-bytes.ts";
import { writeInChunks } from "../../http/write-large.ts";
import type { PeerCertificate, RequestHeaders, WireReply } from "../../ports/index.ts";
import { FrameSplitter, MessageReader, toFrame, toFrameHead } from "./message.ts";
import { CODES, GrpcError, type GrpcStatus, OK, toTrailers } from "./status.ts";

const HEAD = { ":status": 200, "content-type": "application/grpc+proto" };

const TOO_LATE = new GrpcError("DEADLINE_EXCEEDED", "The message took too long");
const GONE = new GrpcError("CANCELLED", "The caller has gone");

/** Bytes that may wait for a reader in memory; further frames wait in the log. */
const UNSENT_BYTES_MAX = 64 * 1024;

/** The size and time limits of a request message. */
export type ReadLimits = Pick<BodyLimits, "bodyBytesMax" | "bodyReadMs">;

/** One gRPC call: an HTTP/2 stream. Writing to a call whose caller is gone does nothing. */
export class GrpcCall {
  readonly headers: RequestHeaders;
  readonly #stream: ServerHttp2Stream;
  readonly #unsent: UnsentBytes;
  readonly #deadline: NodeJS.Timeout | undefined;
  #closeListeners: (() => void)[] = [];
  /** Known as soon as the call ends. */
  #status: GrpcStatus | undefined;
  #isExpired = false;
  #isClosed = false;
  #bytes = 0;
  /** Bytes that `writePaced` has written and the network has not taken. */
  #waiting = 0;
  #onRoom: (() => void) | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, unsent: UnsentBytes) {
    this.#stream = stream;
    this.#unsent = unsent;
    this.headers = toRequestHeaders(headers);
    const ms = parseTimeout(this.headers["grpc-timeout"]);
    if (ms !== undefined) this.#deadline = setTimeout(() => this.#expire(), ms);
    stream.once("close", () => this.#close());
    // The caller has disconnected: `close` follows.
    stream.on("error", () => {});
  }

  get destroyed(): boolean {
    return this.#isExpired || this.#stream.destroyed || this.#stream.closed;
  }

  get writableFinished(): boolean {
    return this.#status !== undefined && !this.#isExpired;
  }

  /** The size of the request message, as it came. */
  get bytes(): number {
    return this.#bytes;
  }

  certificate(): PeerCertificate | undefined {
    return readPeerCertificate(this.#stream.session?.socket);
  }

  once(_event: "close", listener: () => void): void {
    if (this.#isClosed) queueMicrotask(listener);
    else this.#closeListeners.push(listener);
  }

  /** Reads the request message; before that, nothing of it is taken from the network. */
  read(limits: ReadLimits): Promise<Buffer> {
    const stream = this.#stream;
    const reader = new MessageReader(limits.bodyBytesMax);
    // A stream without data ends by itself, also before there is a listener.
    if (stream.readableEnded) return reader.finish(undefined);
    return new Promise((resolve, reject) => {
      const detach = (): void => {
        clearTimeout(timer);
        stream.off("data", onData).off("end", onEnd);
      };
      const fail = (error: unknown): void => {
        detach();
        reject(error);
      };
      const onEnd = (): void => {
        detach();
        resolve(reader.finish(this.headers["grpc-encoding"]));
      };
      const onData = (chunk: Buffer): void => {
        this.#bytes += chunk.length;
        const error = reader.add(chunk);
        if (error) fail(error);
      };
      const timer = setTimeout(fail, limits.bodyReadMs, TOO_LATE);
      stream.on("data", onData).on("end", onEnd);
      this.once("close", () => fail(GONE));
    });
  }

  /** Reads one message after the other, to the end of the request; `onMessage` may answer each at once. */
  readEach(limits: ReadLimits, onMessage: (message: Buffer) => void): Promise<void> {
    const stream = this.#stream;
    const frames = new FrameSplitter(limits.bodyBytesMax);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(TOO_LATE), limits.bodyReadMs);
      const settle = (error?: unknown): void => {
        clearTimeout(timer);
        stream.off("data", onData).off("end", settle);
        if (error) reject(error);
        else resolve();
      };
      const onData = (chunk: Buffer): void => {
        timer.refresh();
        try {
          for (const message of frames.add(chunk)) onMessage(message);
        } catch (error) {
          settle(error);
        }
      };
      stream.on("data", onData).on("end", settle);
      this.once("close", () => settle(GONE));
    });
  }

  /** Sends the headers of a successful response. */
  begin(headers: WireReply["headers"]): void {
    if (this.#isOver()) return;
    const stream = this.#stream;
    stream.respond({ ...HEAD, ...headers }, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers(toTrailers(this.#status ?? OK)));
  }

  write(message: Uint8Array, onWritten?: () => void): void {
    if (!this.#isOver()) this.#stream.write(toFrame(message), onWritten);
  }

  /** Writes no faster than the caller reads. Resolves with false if the caller has read nothing for `stallMs`. */
  writePaced(message: Uint8Array, stallMs: number): Promise<boolean> | true {
    this.#waiting += message.length;
    this.write(message, () => {
      this.#waiting -= message.length;
      if (this.#waiting < UNSENT_BYTES_MAX) this.#onRoom?.();
    });
    if (this.#waiting < UNSENT_BYTES_MAX) return true;
    return new Promise(resolve => {
      const stalled = setTimeout(() => resolve(false), stallMs);
      this.#onRoom = () => {
        clearTimeout(stalled);
        resolve(true);
      };
    });
  }

  /** Writes a large message in pieces. `stalled`: the status if the caller reads nothing for `stallMs`. */
  async writeLarge(message: Uint8Array, stallMs: number, stalled: GrpcStatus): Promise<boolean> {
    if (this.#isOver()) return false;
    const stream = this.#stream;
    const isOver = (): boolean => this.#isOver();
    stream.write(toFrameHead(message));
    return writeInChunks(
      {
        get destroyed() {
          return isOver();
        },
        write: bytes => stream.write(bytes),
        on: (event, listener) => stream.on(event, listener),
        off: (event, listener) => stream.off(event, listener),
        destroy: () => this.abandon(stalled),
      },
      message,
      stallMs,
    );
  }

  /** With a last message, or without. */
  end(status: GrpcStatus, message?: Uint8Array): void {
    if (this.#isOver()) return;
    this.#status = status;
    const stream = this.#stream;
    if (!stream.headersSent) stream.respond({ ...HEAD, ...toTrailers(status) }, { endStream: true });
    else if (message) stream.end(toFrame(message));
    else stream.end();
    this.#unsent.add(stream, stream.writableLength);
    if (!stream.readableEnded) this.#closeLater(constants.NGHTTP2_NO_ERROR);
  }

  /** Ends the call, also if the caller does not read the status. */
  abandon(status: GrpcStatus): void {
    this.end(status);
    this.#closeLater(constants.NGHTTP2_CANCEL);
  }

  /** Answers a request that is not gRPC. */
  refuse(httpStatus: number): void {
    this.#status = OK;
    this.#stream.respond({ ":status": httpStatus }, { endStream: true });
    this.#closeLater(constants.NGHTTP2_NO_ERROR);
  }

  /** Discards the rest of the request; a caller that goes on sending has had time to read the response. */
  #closeLater(code: number): void {
    const stream = this.#stream;
    stream.resume();
    const timer = setTimeout(() => stream.close(code), CLOSE_GRACE_MS);
    stream.once("close", () => clearTimeout(timer));
  }

  #isOver(): boolean {
    return this.#status !== undefined || this.destroyed;
  }

  #expire(): void {
    this.abandon({ code: CODES.DEADLINE_EXCEEDED, message: "The deadline of the call has passed" });
    this.#isExpired = true;
    this.#close();
  }

  #close(): void {
    clearTimeout(this.#deadline);
    this.#isClosed = true;
    this.#onRoom?.();
    const listeners = this.#closeListeners;
    this.#closeListeners = [];
    for (const listener of listeners) listener();
  }
}

/** HTTP/2 names are in lower case. Binary metadata is not used. */
function toRequestHeaders(all: IncomingHttpHeaders): RequestHeaders {
  const headers: Record<string, string> = {};
  for (const name in all) {
    const value = all[name];
    if (!name.startsWith(":") && !name.endsWith("-bin"))
      headers[name] = Array.isArray(value) ? value.join(", ") : (value as string);
  }
  return headers;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};
const TIMER_MS_MAX = 2 ** 31 - 1;

/** undefined: no deadline. */
function parseTimeout(text: string | undefined): number | undefined {
  const [, count, unit] = /^(\d{1,8})([HMSmun])$/.exec(text ?? "") ?? [];
  if (count === undefined || unit === undefined) return undefined;
  return Math.min(Number(count) * (UNITS_MS[unit] as number), TIMER_MS_MAX);
}
