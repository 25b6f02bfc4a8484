import { ChurnMap } from "../lib/churn-map.ts";
import type { Lazy } from "../ports/index.ts";

/** A response, or a gRPC call. */
interface PendingResponse {
  once(event: "close", listener: () => void): unknown;
  readonly destroyed?: boolean;
  /** The whole response was written. */
  readonly writableFinished?: boolean;
}

/** Created once: its stack trace would tell nothing. */
const GONE = new DOMException("The caller is gone, or the server stops", "AbortError");

/** Abort signals of calls, so that a server that stops can end the callers' reading. */
export function createAbortSignals() {
  const open = new ChurnMap<AbortController, AbortController>();
  let isClosed = false;
  return {
    /** Aborts when the caller disconnects or the server stops. Created on demand: most calls are answered without one. */
    signalOf(response: PendingResponse): Lazy<AbortSignal> {
      let controller: AbortController | undefined;
      return () => {
        if (controller) return controller.signal;
        const created = new AbortController();
        controller = created;
        if (isClosed || response.destroyed) {
          created.abort(GONE);
          return created.signal;
        }
        open.set(created, created);
        response.once("close", () => {
          open.delete(created);
          // Do not abort after a completed response: aborting costs more than the rest of the call.
          if (!response.writableFinished) created.abort(GONE);
        });
        return created.signal;
      };
    },
    get isClosed(): boolean {
      return isClosed;
    },
    close(): void {
      isClosed = true;
      for (const controller of open.values()) controller.abort(GONE);
    },
  };
}
export type AbortSignals = ReturnType<typeof createAbortSignals>;
