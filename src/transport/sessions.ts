import type { ServerHttp2Session } from "node:http2";
import { HOLD_MS } from "./readers.ts";
import { STALLED_MAX } from "./sse.ts";

/**
 * Connections on which HTTP/2 is spoken. Proxies close silent ones, and a peer that is gone does not answer: each is asked
 * at every heartbeat.
 */
export function createSessions(heartbeatMs: number) {
  /** And how many heartbeats ago it gave its last sign of life. */
  const open = new Map<ServerHttp2Session, number>();
  let refusing = false;
  let emptied: (() => void) | undefined;
  const timer = setInterval(() => {
    for (const [session, silent] of open) ask(session, silent);
  }, heartbeatMs);
  timer.unref();

  function ask(session: ServerHttp2Session, silent: number): void {
    open.set(session, silent + 1);
    if (silent >= STALLED_MAX) session.destroy();
    else if (silent === 0) session.ping(() => open.has(session) && open.set(session, 0));
  }

  return {
    add(session: ServerHttp2Session): void {
      open.set(session, 0);
      session.once("close", () => {
        open.delete(session);
        if (open.size === 0) emptied?.();
      });
      if (refusing) session.close();
    },
    /** Tells all that nothing new is taken; what is under way goes on. */
    refuseNew(): void {
      refusing = true;
      for (const session of open.keys()) session.close();
    },
    /** Lets what is under way end, for a while. */
    async close(): Promise<void> {
      clearInterval(timer);
      this.refuseNew();
      if (open.size === 0) return;
      const cut = setTimeout(() => {
        for (const session of open.keys()) session.destroy();
      }, HOLD_MS);
      await new Promise<void>(resolve => (emptied = resolve));
      clearTimeout(cut);
    },
  };
}
