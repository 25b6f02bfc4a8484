import { LIMITS } from "../model/index.ts";
import type { Release } from "../ports/index.ts";
import { type HttpResponse, sendText, waitForDrain } from "./request.ts";

/** The members of a response or an HTTP/2 stream that are needed to write to it. */
export type Sink = Pick<HttpResponse, "destroyed" | "on" | "off" | "destroy"> & {
  write(bytes: Uint8Array): boolean;
};

/**
 * Writes piece by piece: the next piece follows when the network has taken the one before, and other requests get the event
 * loop in between. A client that takes no piece for `stallMs` is disconnected. Resolves with false if the client is gone.
 */
export async function writeInChunks(
  sink: Sink,
  bytes: Uint8Array,
  stallMs: number,
  onWritten?: () => void,
): Promise<boolean> {
  const stalled = setTimeout(() => sink.destroy(), stallMs);
  stalled.unref();
  try {
    for (let at = 0; at < bytes.length && !sink.destroyed; at += LIMITS.chunkBytes) {
      if (!sink.write(bytes.subarray(at, at + LIMITS.chunkBytes))) await waitForDrain(sink);
      stalled.refresh();
      onWritten?.();
      await new Promise(resolve => setImmediate(resolve));
    }
    return !sink.destroyed;
  } finally {
    clearTimeout(stalled);
  }
}

export interface ResponseWriter {
  /** Sends JSON, unless the headers name another type. `release`: called when a large text is written, or cannot be. */
  send(
    response: HttpResponse,
    status: number,
    text: string,
    headers: Readonly<Record<string, string>>,
    release?: Release,
  ): void | Promise<void>;
  /** Writes one part of a response whose head is sent; resolves when there is room for more. */
  write(response: HttpResponse, text: string): Promise<void>;
}

/** Writes small responses at once and large ones in pieces. */
export function createResponseWriter(stallMs: number): ResponseWriter {
  async function finish(response: HttpResponse, bytes: Buffer, release: Release | undefined): Promise<void> {
    try {
      if (await writeInChunks(response, bytes, stallMs)) response.end();
    } finally {
      release?.();
    }
  }

  return {
    send(response, status, text, headers, release) {
      if (text.length <= LIMITS.chunkBytes) return sendText(response, status, text, headers);
      try {
        const bytes = Buffer.from(text);
        response.writeHead(status, {
          ...headers,
          "Content-Type": headers["Content-Type"] ?? "application/json",
          "Content-Length": bytes.length,
        });
        return finish(response, bytes, release);
      } catch (error) {
        release?.();
        throw error;
      }
    },
    async write(response, text) {
      if (text.length > LIMITS.chunkBytes) await writeInChunks(response, Buffer.from(text), stallMs);
      else if (!response.write(text)) await waitForDrain(response);
    },
  };
}
