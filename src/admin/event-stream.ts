import { Latch } from "../lib/latch.ts";
import { Fault } from "../model/index.ts";
import type { Authenticator, EndpointRequest, EndpointResponse } from "../ports/index.ts";
import type { AdminCaller } from "./access.ts";

export interface StreamParts {
  readonly authenticator: Authenticator;
  readonly heartbeatMs: number;
  /** The open streams of the server, of which there is a limit. */
  readonly streams: { hasRoom(): boolean; count(writing: Promise<void>): Promise<void> };
}

/** What a stream sends. It wakes the latch when there is something to read. */
export interface StreamSource {
  /** The next pieces of text; "": nothing now; null: the stream is over. */
  read(): Promise<string | null>;
  close(): void;
}

/** The text of one server-sent event. JSON has no line breaks. */
export function toEvent(data: object, { event, id }: { event?: string; id?: number } = {}): string {
  const head = `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}`;
  return `${head}data: ${JSON.stringify(data)}\n\n`;
}

/** A response that lasts until the source ends, the caller disconnects, or its credentials expire. */
export function toStreamResponse(
  { authenticator, heartbeatMs, streams }: StreamParts,
  call: EndpointRequest,
  { principal }: AdminCaller,
  open: (latch: Latch) => StreamSource,
): EndpointResponse {
  if (!streams.hasRoom())
    throw new Fault("unavailable", "The limit of open streams is reached; retry later", {
      retryAfterMs: 1_000,
    });

  async function* write(): AsyncGenerator<string> {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    void streams.count(ended);
    const latch = new Latch();
    const signal = call.signal();
    const wake = (): void => latch.wake();
    signal.addEventListener("abort", wake, { once: true });
    let expired: Fault | undefined;
    const stopExpiry = authenticator.onExpire(principal, fault => {
      expired = fault;
      wake();
    });
    let isBeat = false;
    const timer = setInterval(() => {
      isBeat = true;
      wake();
    }, heartbeatMs).unref();
    const source = open(latch);
    try {
      while (!signal.aborted) {
        if (expired) return yield toEvent({ reason: expired.message }, { event: "end" });
        const text = await source.read();
        if (text === null) return;
        if (text !== "") yield text;
        else if (isBeat) yield ": heartbeat\n\n";
        else await latch.wait();
        isBeat = false;
      }
    } finally {
      source.close();
      clearInterval(timer);
      stopExpiry();
      signal.removeEventListener("abort", wake);
      resolve();
    }
  }

  const headers = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
    "X-Content-Type-Options": "nosniff",
  };
  return { status: 200, headers, text: write() };
}
