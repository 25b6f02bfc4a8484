import type { ServerHttp2Session } from "node:http2";
import { STALLED_HEARTBEATS_MAX } from "./sse.ts";

/** HTTP/2 connections. Each is pinged at every heartbeat: proxies close silent ones, and a peer that is gone does not answer. */
export function createHttp2Sessions(heartbeatMs: number) {
  /** By session: heartbeats since the last answer to a ping. */
  const open = new Map<ServerHttp2Session, number>();
  let refusing = false;
  const timer = setInterval(() => {
    for (const [session, silent] of open) ping(session, silent);
  }, heartbeatMs);
  timer.unref();

  function ping(session: ServerHttp2Session, silent: number): void {
    open.set(session, silent + 1);
    if (silent >= STALLED_HEARTBEATS_MAX) session.destroy();
    // A session that has ended stays in the map until its connection is closed, and cannot be pinged.
    else if (silent === 0 && !session.destroyed)
      session.ping(error => {
        if (!error && open.has(session)) open.set(session, 0);
      });
  }

  return {
    add(session: ServerHttp2Session): void {
      open.set(session, 0);
      session.once("close", () => open.delete(session));
      if (refusing) session.close();
    },
    /** Sends GOAWAY; calls under way go on. */
    refuseNew(): void {
      refusing = true;
      for (const session of open.keys()) session.close();
    },
    /** The same, without further pings. */
    close(): void {
      clearInterval(timer);
      this.refuseNew();
    },
  };
}
