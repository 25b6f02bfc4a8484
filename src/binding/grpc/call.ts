import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { constants } from "node:http2";
import type { BodyLimits } from "../../http/body.ts";
import { HOLD_MS } from "../../http/open-connections.ts";
import { peerOf } from "../../http/peer-certificate.ts";
import type { Unsent } from "../../http/unsent-bytes.ts";
import { writePieces } from "../../http/write-large.ts";
import type { Headers, PeerCertificate, WireReply } from "../../ports/index.ts";
import { headOf, MessageReader, toFrame } from "./message.ts";
import { CODES, GrpcRefusal, OK, type Status, toTrailers } from "./status.ts";

const HEAD = { ":status": 200, "content-type": "application/grpc+proto" };
const WITH_TRAILERS = { waitForTrailers: true };
const AND_NO_MORE = { endStream: true };

const TOO_LATE = new GrpcRefusal("DEADLINE_EXCEEDED", "The message took too long");
const GONE = new GrpcRefusal("CANCELLED", "The caller has gone");

/** How much a message may be, and how long it may take. */
export type ReadLimits = Pick<BodyLimits, "bodyBytesMax" | "bodyReadMs">;

/** One call: a stream of HTTP/2 with the words of gRPC. Nothing is said to a caller who is gone. */
export class GrpcCall {
  readonly headers: Headers;
  readonly #stream: ServerHttp2Stream;
  readonly #unsent: Unsent;
  readonly #deadline: NodeJS.Timeout | undefined;
  /** Whoever wants to know when nobody waits for the answer any more. */
  #heard: (() => void)[] = [];
  /** How it ends, as soon as that is known. */
  #status: Status | undefined;
  #late = false;
  #isLeft = false;
  #bytes = 0;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, unsent: Unsent) {
    this.#stream = stream;
    this.#unsent = unsent;
    this.headers = toHeaders(headers);
    const ms = timeoutOf(this.headers["grpc-timeout"]);
    if (ms !== undefined) this.#deadline = setTimeout(() => this.#expire(), ms);
    stream.once("close", () => this.#leave());
    // Whoever called has gone: there is nobody left to tell.
    stream.on("error", () => {});
  }

  get destroyed(): boolean {
    return this.#late || this.#stream.destroyed || this.#stream.closed;
  }

  /** All that was to be said is said. */
  get writableFinished(): boolean {
    return this.#status !== undefined && !this.#late;
  }

  /** Bytes of its message, as it came. */
  get bytes(): number {
    return this.#bytes;
  }

  certificate(): PeerCertificate | undefined {
    return peerOf(this.#stream.session?.socket);
  }

  once(_event: "close", heard: () => void): void {
    if (this.#isLeft) queueMicrotask(heard);
    else this.#heard.push(heard);
  }

  /** The one message that it brings; nothing of it is taken before somebody asks for it. */
  read(limits: ReadLimits): Promise<Buffer> {
    const stream = this.#stream;
    const reader = new MessageReader(limits.bodyBytesMax);
    // A stream without data ends by itself, also before there is a listener.
    if (stream.readableEnded) return reader.finish(undefined);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(late);
        stream.off("data", take).off("end", finish);
      };
      const refuse = (error: unknown): void => {
        leave();
        reject(error);
      };
      const finish = (): void => {
        leave();
        resolve(reader.finish(this.headers["grpc-encoding"]));
      };
      const take = (piece: Buffer): void => {
        this.#bytes += piece.length;
        const why = reader.add(piece);
        if (why) refuse(why);
      };
      const late = setTimeout(refuse, limits.bodyReadMs, TOO_LATE);
      stream.on("data", take).on("end", finish);
      this.once("close", () => refuse(GONE));
    });
  }

  /** The head of an answer. */
  begin(headers: WireReply["headers"]): void {
    if (this.#isOver()) return;
    const stream = this.#stream;
    stream.respond({ ...HEAD, ...headers }, WITH_TRAILERS);
    stream.once("wantTrailers", () => stream.sendTrailers(toTrailers(this.#status ?? OK)));
  }

  write(message: Uint8Array, written?: () => void): void {
    if (!this.#isOver()) this.#stream.write(toFrame(message), written);
  }

  /** A large message, piece by piece. `stalled`: how the call ends if its reader takes nothing for `stallMs`. */
  async writeLarge(message: Uint8Array, stallMs: number, stalled: Status): Promise<boolean> {
    if (this.#isOver()) return false;
    const stream = this.#stream;
    const isOver = (): boolean => this.#isOver();
    stream.write(headOf(message));
    return writePieces(
      {
        get destroyed() {
          return isOver();
        },
        write: bytes => stream.write(bytes),
        on: (event, heard) => stream.on(event, heard),
        off: (event, heard) => stream.off(event, heard),
        destroy: () => this.abandon(stalled),
      },
      message,
      stallMs,
    );
  }

  /** With a last message, or without. */
  end(status: Status, message?: Uint8Array): void {
    if (this.#isOver()) return;
    this.#status = status;
    const stream = this.#stream;
    if (!stream.headersSent) stream.respond({ ...HEAD, ...toTrailers(status) }, AND_NO_MORE);
    else if (message) stream.end(toFrame(message));
    else stream.end();
    this.#unsent.add(stream, stream.writableLength);
    if (!stream.readableEnded) this.#cutLater(constants.NGHTTP2_NO_ERROR);
  }

  /** Ends it, also if the caller does not read how. */
  abandon(status: Status): void {
    this.end(status);
    this.#cutLater(constants.NGHTTP2_CANCEL);
  }

  /** It is no call of gRPC at all. */
  refuse(httpStatus: number): void {
    this.#status = OK;
    this.#stream.respond({ ":status": httpStatus }, AND_NO_MORE);
    this.#cutLater(constants.NGHTTP2_NO_ERROR);
  }

  /** What the caller has still to say is for nobody; whoever goes on all the same has had time to hear why not. */
  #cutLater(code: number): void {
    const stream = this.#stream;
    stream.resume();
    const cut = setTimeout(() => stream.close(code), HOLD_MS);
    stream.once("close", () => clearTimeout(cut));
  }

  #isOver(): boolean {
    return this.#status !== undefined || this.destroyed;
  }

  #expire(): void {
    this.abandon({ code: CODES.DEADLINE_EXCEEDED, message: "The deadline of the call has passed" });
    this.#late = true;
    this.#leave();
  }

  #leave(): void {
    clearTimeout(this.#deadline);
    this.#isLeft = true;
    const heard = this.#heard;
    this.#heard = [];
    for (const one of heard) one();
  }
}

/** Names in lower case, as HTTP/2 has them; what is binary is nothing that we know. */
function toHeaders(all: IncomingHttpHeaders): Headers {
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

/** How long the caller waits; undefined: as long as it takes. */
function timeoutOf(text: string | undefined): number | undefined {
  const [, count, unit] = /^(\d{1,8})([HMSmun])$/.exec(text ?? "") ?? [];
  if (count === undefined || unit === undefined) return undefined;
  return Math.min(Number(count) * (UNITS_MS[unit] as number), TIMER_MS_MAX);
}
