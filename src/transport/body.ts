import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { Fault } from "../model/index.ts";

export interface BodyLimits {
  readonly bodyBytesMax: number;
  readonly bodyDrainBytesMax: number;
  readonly bodyReadMs: number;
}

/** What is known of a body while it arrives; nothing of it is kept afterwards, for a stream may stay open for hours. */
interface Arriving {
  chunks: Buffer[];
  size: number;
  readonly limits: BodyLimits;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (text: string) => void;
  readonly reject: (fault: Fault) => void;
}

const ARRIVING = Symbol("arriving");
type Request = IncomingMessage & { [ARRIVING]?: Arriving | undefined };

/**
 * Reads a whole body as text. One that is too large is read to its end and thrown away, within reason, so that the
 * connection survives and the caller gets to read the refusal.
 */
export function readBody(request: Request, limits: BodyLimits): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(late, limits.bodyReadMs, request);
    request[ARRIVING] = { chunks: [], size: 0, limits, timer, resolve, reject };
    request.on("data", take);
    request.on("end", finish);
    request.on("close", breakOff);
  });
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

function late(request: Request): void {
  const ms = request[ARRIVING]?.limits.bodyReadMs;
  end(request, new Fault("too-slow", `The body did not arrive within ${ms} ms`));
}

function end(request: Request, fault: Fault | null): void {
  const body = request[ARRIVING];
  if (!body) return;
  request[ARRIVING] = undefined;
  clearTimeout(body.timer);
  const text = fault ? null : toText(body.chunks);
  if (text !== null) body.resolve(text);
  else body.reject(fault ?? new Fault("parse", "The body is not UTF-8"));
}

function toText(chunks: readonly Buffer[]): string | null {
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  return isUtf8(bytes) ? bytes.toString("utf8") : null;
}

const tooLarge = (limits: BodyLimits): Fault =>
  new Fault("too-large", `The body is larger than ${limits.bodyBytesMax} bytes, the most this server takes`);
