import type { ServerHttp2Session } from "node:http2";
import { STALLED_MAX } from "./sse.ts";

/**
 * Connections on which HTTP/2 is spoken. Proxies close silent ones, and a peer that is gone does not answer: each is asked
 * at every heartbeat.
 */
export function createSessions(heartbeatMs: number) {
  /** And how many heartbeats ago it gave its last sign of life. */
  const open = new Map<ServerHttp2Session, number>();
  let refusing = false;
  const timer = setInterval(() => {
    for (const [session, silent] of open) ask(session, silent);
  }, heartbeatMs);
  timer.unref();

  function ask(session: ServerHttp2Session, silent: number): void {
    open.set(session, silent + 1);
    if (silent >= STALLED_MAX) session.destroy();
    // One that has ended is here until its connection is closed, and cannot be asked.
    else if (silent === 0 && !session.destroyed) session.ping(lost => lost ?? hear(session));
  }

  function hear(session: ServerHttp2Session): void {
    if (open.has(session)) open.set(session, 0);
  }

  return {
    add(session: ServerHttp2Session): void {
      open.set(session, 0);
      session.once("close", () => open.delete(session));
      if (refusing) session.close();
    },
    /** Tells all that nothing new is taken; what is under way goes on. */
    refuseNew(): void {
      refusing = true;
      for (const session of open.keys()) session.close();
    },
    /** The same, and nobody is asked any more. */
    close(): void {
      clearInterval(timer);
      this.refuseNew();
    },
  };
}
