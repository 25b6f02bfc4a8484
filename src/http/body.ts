import { isUtf8 } from "node:buffer";
import { ChurnMap } from "../lib/churn-map.ts";
import type { Json } from "../lib/json.ts";
import { Fault } from "../model/index.ts";
import type { HttpRequest } from "./request.ts";

export interface BodyLimits {
  readonly bodyBytesMax: number;
  readonly bodyDrainBytesMax: number;
  readonly bodyReadMs: number;
}

export interface BodyReader {
  /**
   * Reads a whole body as text. A body that is too large is read to its end and discarded, up to `bodyDrainBytesMax`, so
   * that the connection stays usable and the caller can read the error.
   */
  read(request: HttpRequest): string | Promise<string>;
  close(): void;
}

/** The state of a body while it arrives; dropped afterwards, because the response may be a stream of hours. */
interface PendingBody {
  chunks: Buffer[];
  size: number;
  /** Ticks of the timer since the body began. */
  ticks: number;
  readonly limits: BodyLimits;
  readonly pending: ChurnMap<PendingRequest, PendingRequest>;
  readonly resolve: (text: string) => void;
  readonly reject: (fault: Fault) => void;
}

const PENDING = Symbol("pending body");
const SKIPPED = Symbol("skipped body");
type PendingRequest = HttpRequest & { [PENDING]?: PendingBody | undefined; [SKIPPED]?: true };

/** Discards a body as it arrives. The time limit of the whole request ends it. */
export function skipBody(request: PendingRequest): void {
  request[SKIPPED] = true;
  request.resume();
}

/** The rest of an unread body would be parsed as the next request: the connection must be closed. */
export const closeIfUnread = (request: PendingRequest): { readonly Connection?: "close" } =>
  request.complete || request[SKIPPED] ? {} : { Connection: "close" };

/** Ticks within the time limit of a body: one timer for all costs less than one for each. */
const TICKS = 10;

export function createBodyReader(limits: BodyLimits): BodyReader {
  const pending = new ChurnMap<PendingRequest, PendingRequest>();
  const timer = setInterval(() => {
    for (const request of pending.values()) {
      const body = request[PENDING];
      if (body && ++body.ticks > TICKS) end(request, tooSlow(limits));
    }
  }, limits.bodyReadMs / TICKS);
  timer.unref();

  return {
    read(request: PendingRequest) {
      if (request.takeBody) return decode(request.takeBody(), limits);
      if (request.readableEnded) return readParsed(request, limits);
      return new Promise((resolve, reject) => {
        request[PENDING] = { chunks: [], size: 0, ticks: 0, limits, pending, resolve, reject };
        pending.set(request, request);
        request.on("data", onData);
        request.on("end", onEnd);
        request.on("close", onClose);
      });
    },
    close: () => clearInterval(timer),
  };
}

function onData(this: PendingRequest, chunk: Buffer): void {
  const body = this[PENDING];
  if (!body) return;
  body.size += chunk.length;
  if (body.size <= body.limits.bodyBytesMax) body.chunks.push(chunk);
  else {
    body.chunks = [];
    if (body.size > body.limits.bodyDrainBytesMax) end(this, tooLarge(body.limits));
  }
}

function onEnd(this: PendingRequest): void {
  const body = this[PENDING];
  if (body) end(this, body.size > body.limits.bodyBytesMax ? tooLarge(body.limits) : null);
}

function onClose(this: PendingRequest): void {
  if (this[PENDING]) end(this, new Fault("parse", "The body ended too early"));
}

function end(request: PendingRequest, fault: Fault | null): void {
  const body = request[PENDING];
  if (!body) return;
  request[PENDING] = undefined;
  body.pending.delete(request);
  const text = fault ? null : toText(body.chunks);
  if (text !== null) body.resolve(text);
  else body.reject(fault ?? notText());
}

function toText(chunks: readonly Buffer[]): string | null {
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  return isUtf8(bytes) ? bytes.toString("utf8") : null;
}

/** Middleware of Express's kind has read the body before us, and left the result in `request.body`. */
function readParsed(request: HttpRequest, limits: BodyLimits): string {
  const { body } = request as { readonly body?: unknown };
  if (body === undefined)
    throw new Fault("internal", "The body was consumed before the request reached this server");
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return decode(bytes, limits);
}

function decode(bytes: Buffer, limits: BodyLimits): string {
  if (bytes.length > limits.bodyBytesMax) throw tooLarge(limits);
  const text = toText([bytes]);
  if (text === null) throw notText();
  return text;
}

const notText = (): Fault => new Fault("parse", "The body is not UTF-8");

const tooLarge = (limits: BodyLimits): Fault =>
  new Fault("too-large", `The body is larger than the limit of ${limits.bodyBytesMax} bytes`);

const tooSlow = (limits: BodyLimits): Fault =>
  new Fault("too-slow", `The body did not arrive within ${limits.bodyReadMs} ms`);

export function parseJson(text: string, type: string | undefined): Json {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as Json;
  } catch {
    throw isJson(type) ? new Fault("parse", "The body is not JSON") : unsupportedContentType(type);
  }
}

export const isJson = (type: string | undefined): boolean =>
  type === undefined || type === "application/json" || /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type);

export const unsupportedContentType = (type: string | undefined): Fault =>
  new Fault("content-type-not-supported", `Send the header Content-Type: application/json, not ${type}`, {
    field: "Content-Type",
  });
