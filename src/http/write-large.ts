import { LIMITS } from "../model/index.ts";
import type { Release } from "../ports/index.ts";
import { drained, type HttpResponse, sendText } from "./request.ts";

/** What is used of a response, or of a stream of HTTP/2, to write to it. */
export type Sink = Pick<HttpResponse, "destroyed" | "on" | "off" | "destroy"> & {
  write(bytes: Uint8Array): boolean;
};

/**
 * Writes piece by piece: the next piece follows when the network has taken the one before, and other requests have a turn in
 * between. `stallMs`: a reader that takes no piece for so long loses its connection. Resolves with false if it is gone.
 */
export async function writePieces(
  sink: Sink,
  bytes: Uint8Array,
  stallMs: number,
  wrote?: () => void,
): Promise<boolean> {
  const stalled = setTimeout(() => sink.destroy(), stallMs);
  stalled.unref();
  try {
    for (let at = 0; at < bytes.length && !sink.destroyed; at += LIMITS.pieceBytes) {
      if (!sink.write(bytes.subarray(at, at + LIMITS.pieceBytes))) await drained(sink);
      stalled.refresh();
      wrote?.();
      await new Promise(resolve => setImmediate(resolve));
    }
    return !sink.destroyed;
  } finally {
    clearTimeout(stalled);
  }
}

export interface Answers {
  /** Sends JSON, unless the headers tell another type. `release`: called when a large text is written, or cannot be. */
  send(
    response: HttpResponse,
    status: number,
    text: string,
    headers: Readonly<Record<string, string>>,
    release?: Release,
  ): void | Promise<void>;
  /** Writes one part of an answer whose head is sent; resolves when there is room for more. */
  write(response: HttpResponse, text: string): Promise<void>;
}

/** Answers of any size: small ones in one write, large ones in pieces. */
export function createAnswers(stallMs: number): Answers {
  async function finish(response: HttpResponse, bytes: Buffer, release: Release | undefined): Promise<void> {
    try {
      if (await writePieces(response, bytes, stallMs)) response.end();
    } finally {
      release?.();
    }
  }

  return {
    send(response, status, text, headers, release) {
      if (text.length <= LIMITS.pieceBytes) return sendText(response, status, text, headers);
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
      if (text.length > LIMITS.pieceBytes) await writePieces(response, Buffer.from(text), stallMs);
      else if (!response.write(text)) await drained(response);
    },
  };
}
