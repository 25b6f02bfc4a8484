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

export interface Bodies {
  /**
   * Reads a whole body as text. One that is too large is read to its end and thrown away, within reason, so that the
   * connection survives and the caller gets to read the refusal.
   */
  read(request: HttpRequest): string | Promise<string>;
  close(): void;
}

/** What is known of a body while it arrives; nothing of it is kept afterwards, for a stream may stay open for hours. */
interface Arriving {
  chunks: Buffer[];
  size: number;
  /** How often the watch has looked at it. */
  looks: number;
  readonly limits: BodyLimits;
  readonly arriving: ChurnMap<Request, Request>;
  readonly resolve: (text: string) => void;
  readonly reject: (fault: Fault) => void;
}

const ARRIVING = Symbol("arriving");
const SKIPPED = Symbol("skipped");
type Request = HttpRequest & { [ARRIVING]?: Arriving | undefined; [SKIPPED]?: true };

/** Lets a body pass by that nobody wants to know. The time of the whole request is its bound. */
export function skipBody(request: Request): void {
  request[SKIPPED] = true;
  request.resume();
}

/** A body that is still on its way cannot be told from the next request. */
export const afterBody = (request: Request): { readonly Connection?: "close" } =>
  request.complete || request[SKIPPED] ? {} : { Connection: "close" };

/** Looks at a body within its time: one watch for all costs less than a timer for each. */
const LOOKS = 10;

export function createBodies(limits: BodyLimits): Bodies {
  const arriving = new ChurnMap<Request, Request>();
  const watch = setInterval(() => {
    for (const request of arriving.values()) {
      const body = request[ARRIVING];
      if (body && ++body.looks > LOOKS) end(request, tooSlow(limits));
    }
  }, limits.bodyReadMs / LOOKS);
  watch.unref();

  return {
    read(request: Request) {
      if (request.takeBody) return readWhole(request.takeBody(), limits);
      if (request.readableEnded) return readEarlier(request, limits);
      return new Promise((resolve, reject) => {
        request[ARRIVING] = { chunks: [], size: 0, looks: 0, limits, arriving, resolve, reject };
        arriving.set(request, request);
        request.on("data", take);
        request.on("end", finish);
        request.on("close", breakOff);
      });
    },
    close: () => clearInterval(watch),
  };
}

function take(this: Request, chunk: Buffer): void {
  const body = this[ARRIVING];
  if (!body) return;
  body.size += chunk.length;
  if (body.size <= body.limits.bodyBytesMax) body.chunks.push(chunk);
  else {
    body.chunks = [];
    if (body.size > body.limits.bodyDrainBytesMax) end(this, tooLarge(body.limits));
  }
}

function finish(this: Request): void {
  const body = this[ARRIVING];
  if (body) end(this, body.size > body.limits.bodyBytesMax ? tooLarge(body.limits) : null);
}

function breakOff(this: Request): void {
  if (this[ARRIVING]) end(this, new Fault("parse", "The body broke off"));
}

function end(request: Request, fault: Fault | null): void {
  const body = request[ARRIVING];
  if (!body) return;
  request[ARRIVING] = undefined;
  body.arriving.delete(request);
  const text = fault ? null : toText(body.chunks);
  if (text !== null) body.resolve(text);
  else body.reject(fault ?? notText());
}

function toText(chunks: readonly Buffer[]): string | null {
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  return isUtf8(bytes) ? bytes.toString("utf8") : null;
}

/** Whoever was there before us has read the body; what he made of it lies with the request, if he is of Express's kind. */
function readEarlier(request: HttpRequest, limits: BodyLimits): string {
  const { body } = request as { readonly body?: unknown };
  if (body === undefined)
    throw new Fault("internal", "Something before this server has read the body, and left nothing of it");
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return readWhole(bytes, limits);
}

function readWhole(bytes: Buffer, limits: BodyLimits): string {
  if (bytes.length > limits.bodyBytesMax) throw tooLarge(limits);
  const text = toText([bytes]);
  if (text === null) throw notText();
  return text;
}

const notText = (): Fault => new Fault("parse", "The body is not UTF-8");

const tooLarge = (limits: BodyLimits): Fault =>
  new Fault("too-large", `The body is larger than ${limits.bodyBytesMax} bytes, the most this server takes`);

const tooSlow = (limits: BodyLimits): Fault =>
  new Fault("too-slow", `The body did not arrive within ${limits.bodyReadMs} ms`);

/** The JSON of a body. */
export function parseJson(text: string, type: string | undefined): Json {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as Json;
  } catch {
    throw isJson(type) ? new Fault("parse", "The body is not JSON") : wrongType(type);
  }
}

export const isJson = (type: string | undefined): boolean =>
  type === undefined || type === "application/json" || /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type);

export const wrongType = (type: string | undefined): Fault =>
  new Fault("content-type-not-supported", `Send the header Content-Type: application/json, not ${type}`, {
    field: "Content-Type",
  });
