import { constants, type Http2Session, type ServerHttp2Stream } from "node:http2";
import { ChurnMap } from "../lib/churn-map.ts";
import { LIMITS } from "../model/index.ts";
import type { UnreadBytes } from "../ports/index.ts";
import { STALLED_HEARTBEATS_MAX } from "./sse.ts";

export interface UnsentBytesParts {
  readonly heartbeatMs: number;
  readonly unread: Pick<UnreadBytes, "count" | "isFull">;
}

interface EndedStream {
  readonly stream: ServerHttp2Stream;
  /** Heartbeats since its last byte was written. */
  beats: number;
}

/**
 * HTTP/2 responses that are written but not sent: the peer's window decides how much is sent, and a peer that opens no window
 * must keep neither memory nor streams for ever.
 */
export function createUnsentBytes({ heartbeatMs, unread }: UnsentBytesParts) {
  const open = new ChurnMap<ServerHttp2Stream, EndedStream>();
  const bySession = new WeakMap<Http2Session, number>();
  const timer = setInterval(() => {
    for (const ended of open.values())
      if (++ended.beats >= STALLED_HEARTBEATS_MAX) ended.stream.close(constants.NGHTTP2_CANCEL);
  }, heartbeatMs);
  timer.unref();

  function change(session: Http2Session, bytes: number): void {
    bySession.set(session, (bySession.get(session) ?? 0) + bytes);
  }

  return {
    /** Whether the connection of this stream may send another request: not while too much of its responses is unsent. */
    hasRoom({ session }: ServerHttp2Stream): boolean {
      const bytes = session ? (bySession.get(session) ?? 0) : 0;
      return bytes <= LIMITS.chunkBytes || (bytes <= LIMITS.unsentBytesMax && !unread.isFull);
    },
    /** To be called after the last write of a response. */
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
export type UnsentBytes = ReturnType<typeof createUnsentBytes>;
