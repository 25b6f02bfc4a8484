/** Server-sent events as text, with heartbeats while there is nothing to send. */

export interface KeepAlive {
  readonly everyMs: number;
  /** Before the first text: headers are sent with it, and clients wait for them. */
  readonly firstMs: number;
  readonly text: string;
}

export const SSE_HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
} as const;

export const toSse = (event: {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}): string =>
  `${event.id === undefined ? "" : `id: ${event.id}\n`}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;

/** Comments of a stream. `firstMs`: how long its client waits for the headers at most. */
export const toComments = (everyMs: number, firstMs: number): KeepAlive => ({
  everyMs,
  firstMs: Math.min(firstMs, everyMs),
  text: ": heartbeat\n\n",
});

/** Passes on each text, and the heartbeat whenever the next one takes longer. */
export async function* withHeartbeat(
  texts: AsyncIterable<string>,
  { everyMs, firstMs, text }: KeepAlive,
): AsyncGenerator<string> {
  const source = texts[Symbol.asyncIterator]();
  let next = source.next();
  let waitMs = firstMs;
  try {
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<"late">(resolve => {
        timer = setTimeout(() => resolve("late"), waitMs);
      });
      const result = await Promise.race([next, late]);
      clearTimeout(timer);
      waitMs = everyMs;
      if (result === "late") {
        yield text;
        continue;
      }
      if (result.done) return;
      yield result.value;
      next = source.next();
    }
  } finally {
    next.catch(() => {});
    await source.return?.();
  }
}
