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
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => {
      fail(new Fault("too-slow", `The body did not arrive within ${limits.bodyReadMs} ms`));
    }, limits.bodyReadMs);

    const fail = (fault: Fault): void => {
      clearTimeout(timer);
      reject(fault);
    };
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limits.bodyBytesMax) chunks.push(chunk);
      else {
        chunks.length = 0;
        if (size > limits.bodyDrainBytesMax) fail(tooLarge(limits));
      }
    });
    request.on("end", () => {
      clearTimeout(timer);
      if (size > limits.bodyBytesMax) return fail(tooLarge(limits));
      const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      if (isUtf8(bytes)) resolve(bytes.toString("utf8"));
      else fail(new Fault("parse", "The body is not UTF-8"));
    });
    const broken = (): void => {
      if (!request.complete) fail(new Fault("parse", "The body broke off"));
    };
    request.on("error", broken);
    request.on("close", broken);
  });
}

const tooLarge = (limits: BodyLimits): Fault =>
  new Fault("too-large", `The body is larger than ${limits.bodyBytesMax} bytes, the most this server takes`);
