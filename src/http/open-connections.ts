import { ChurnMap } from "../lib/churn-map.ts";
import type { Lazy } from "../ports/index.ts";

/** How long a connection may stay open after its last answer. */
export const HOLD_MS = 1_000;

/** Whoever waits for an answer: a response, or a call of gRPC. */
interface Caller {
  once(event: "close", heard: () => void): unknown;
  readonly destroyed?: boolean;
  /** All that was to be said is said. */
  readonly writableFinished?: boolean;
}

/** Made once: a trace of where it was made would tell nothing. */
const GONE = new DOMException("The caller is gone, or the server stops", "AbortError");

/** All who read an answer, so that a server that stops can end their reading. */
export function createReaders() {
  const open = new ChurnMap<AbortController, AbortController>();
  let closed = false;
  return {
    /** Aborts when the caller is gone or the server stops. Made on demand: a call that is answered at once needs none. */
    signalOf(caller: Caller): Lazy<AbortSignal> {
      let controller: AbortController | undefined;
      return () => {
        if (controller) return controller.signal;
        const made = new AbortController();
        controller = made;
        if (closed || caller.destroyed) {
          made.abort(GONE);
          return made.signal;
        }
        open.set(made, made);
        caller.once("close", () => {
          open.delete(made);
          // Whoever has got his answer waits for nothing; to tell nobody so would cost more than the rest of the call.
          if (!caller.writableFinished) made.abort(GONE);
        });
        return made.signal;
      };
    },
    get closed(): boolean {
      return closed;
    },
    close(): void {
      closed = true;
      for (const reader of open.values()) reader.abort(GONE);
    },
  };
}
export type Readers = ReturnType<typeof createReaders>;
