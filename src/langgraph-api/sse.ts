/** Server-sent events as text, with heartbeats while there is nothing to send. */

export interface KeepAlive {
  readonly everyMs: number;
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

/** Passes on each text, and the heartbeat whenever the next one takes longer. */
export async function* withHeartbeat(
  texts: AsyncIterable<string>,
  { everyMs, text }: KeepAlive,
): AsyncGenerator<string> {
  const source = texts[Symbol.asyncIterator]();
  let next = source.next();
  try {
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<"late">(resolve => {
        timer = setTimeout(() => resolve("late"), everyMs);
      });
      const result = await Promise.race([next, late]);
      clearTimeout(timer);
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
