import { constants, type Http2Session, type ServerHttp2Stream } from "node:http2";
import { ChurnMap } from "../lib/churn-map.ts";
import { LIMITS } from "../model/index.ts";
import type { UnreadBytes } from "../ports/index.ts";
import { STALLED_MAX } from "./sse.ts";

export interface UnsentParts {
  readonly heartbeatMs: number;
  readonly unread: Pick<UnreadBytes, "count" | "isFull">;
}

interface Ended {
  readonly stream: ServerHttp2Stream;
  /** Heartbeats since its answer was complete. */
  beats: number;
}

/**
 * Answers over HTTP/2 that are complete and wait for their readers: a peer decides how much is sent to it, and one that
 * lets nothing through must keep neither memory nor streams for ever.
 */
export function createUnsent({ heartbeatMs, unread }: UnsentParts) {
  const open = new ChurnMap<ServerHttp2Stream, Ended>();
  const byConnection = new WeakMap<Http2Session, number>();
  const timer = setInterval(() => {
    for (const ended of open.values())
      if (++ended.beats >= STALLED_MAX) ended.stream.close(constants.NGHTTP2_CANCEL);
  }, heartbeatMs);
  timer.unref();

  function change(session: Http2Session, bytes: number): void {
    byConnection.set(session, (byConnection.get(session) ?? 0) + bytes);
  }

  return {
    /** Whether the connection of this stream may ask for more: most of what it asked for before is on its way. */
    hasRoom({ session }: ServerHttp2Stream): boolean {
      const bytes = session ? (byConnection.get(session) ?? 0) : 0;
      return bytes <= LIMITS.pieceBytes || (bytes <= LIMITS.unsentBytesMax && !unread.isFull);
    },
    /** The last bytes of an answer were written. */
    add(stream: ServerHttp2Stream, bytes: number): void {
      const { session } = stream;
      if (!session || stream.destroyed) return;
      const release = unread.count(bytes);
      open.set(stream, { stream, beats: 0 });
      change(session, bytes);
      stream.once("close", () => {
        open.delete(stream);
        change(session, -bytes);
        release();
      });
    },
    close: () => clearInterval(timer),
  };
}
export type Unsent = ReturnType<typeof createUnsent>;
