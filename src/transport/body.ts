import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { Fault } from "../model/index.ts";

export interface BodyLimits {
  readonly bodyBytesMax: number;
  readonly bodyDrainBytesMax: number;
  readonly bodyReadMs: number;
}

/**
 * Reads a whole body as text. One that is too large is read to its end and thrown away, within reason, so that the
 * connection survives and the caller gets to read the refusal.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<string> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;

    /** Nothing of the body is kept once it is read: a stream may stay open for hours. */
    function done(fault: Fault | null): void {
      clearTimeout(timer);
      request.off("data", take).off("end", finish).off("error", breakOff).off("close", breakOff);
      const text = fault ? null : toText(chunks);
      chunks = [];
      if (text !== null) resolve(text);
      else {
        // What still comes is not looked at.
        request.resume();
        reject(fault ?? new Fault("parse", "The body is not UTF-8"));
      }
    }
    function take(chunk: Buffer): void {
      size += chunk.length;
      if (size <= limits.bodyBytesMax) chunks.push(chunk);
      else {
        chunks = [];
        if (size > limits.bodyDrainBytesMax) done(tooLarge(limits));
      }
    }
    const finish = (): void => done(size > limits.bodyBytesMax ? tooLarge(limits) : null);
    const breakOff = (): void => done(new Fault("parse", "The body broke off"));
    const late = (): void =>
      done(new Fault("too-slow", `The body did not arrive within ${limits.bodyReadMs} ms`));
    const timer = setTimeout(late, limits.bodyReadMs);
    request.on("data", take).on("end", finish).on("error", breakOff).on("close", breakOff);
  });
}

function toText(chunks: readonly Buffer[]): string | null {
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  return isUtf8(bytes) ? bytes.toString("utf8") : null;
}

const tooLarge = (limits: BodyLimits): Fault =>
  new Fault("too-large", `The body is larger than ${limits.bodyBytesMax} bytes, the most this server takes`);
