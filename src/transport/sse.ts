import { Roll } from "../model/index.ts";
import type { Frame } from "../ports.ts";
import { drained, encodingOf, type Outgoing } from "./exchange.ts";

/** How one frame becomes the data of one event: with the transport's envelope, or bare. */
export type Envelope = (frame: Frame) => string;

interface Open {
  readonly response: Outgoing;
  /** Looks since the reader stopped reading. */
  stalled: number;
}

/** How many heartbeats a reader may be stuck before it is cut off; it can resume where it stopped. */
export const STALLED_MAX = 8;

/** Writes streams, and keeps them alive with comments: at fixed times, silent or not, as Orloj's document has it. */
export function createStreams(parts: { heartbeatMs: number; streamsMax: number }) {
  const open = new Roll<Open, Open>();
  let others = 0;
  const timer = setInterval(beat, parts.heartbeatMs);
  timer.unref();

  function beat(): void {
    for (const stream of open.values()) {
      if (stream.response.writableNeedDrain) {
        if (++stream.stalled >= STALLED_MAX) stream.response.destroy();
      } else stream.response.write(": heartbeat\n\n");
    }
  }

  return {
    /** Whether one more may be opened; asked before any work is begun for it. */
    hasRoom: (): boolean => open.size + others < parts.streamsMax,
    open: (): number => open.size + others,
    /** A stream that another transport writes counts as well. */
    async count(writing: Promise<void>): Promise<void> {
      others += 1;
      await writing.finally(() => (others -= 1));
    },
    /**
     * Writes all frames that are there at once in one go; waits when the reader is slow. `faultEvent` is the name of the
     * event with which a stream breaks off, if it has one.
     */
    async write(
      response: Outgoing,
      frames: AsyncIterable<readonly Frame[]>,
      envelope: Envelope,
      faultEvent?: string,
    ): Promise<void> {
      const stream: Open = { response, stalled: 0 };
      open.set(stream, stream);
      try {
        for await (const bunch of frames) {
          if (response.destroyed) return;
          let text = "";
          for (let i = 0; i < bunch.length; i++) {
            text += toText(bunch[i] as Frame, envelope, faultEvent);
            if (text.length < PIECE_CHARS && i < bunch.length - 1) continue;
            if (!response.write(text, encodingOf(text))) await drained(response);
            if (response.destroyed) return;
            stream.stalled = 0;
            text = "";
          }
        }
        response.end();
      } finally {
        open.delete(stream);
      }
    },
    close(): void {
      clearInterval(timer);
    },
  };
}

export function openStream(response: Outgoing, headers: Readonly<Record<string, string>>): void {
  response.writeHead(200, {
    ...headers,
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
  });
}

export type Streams = ReturnType<typeof createStreams>;

/** Characters of one write: what a reader does not take waits in the log and not in a socket's memory. */
const PIECE_CHARS = 64 * 1024;

function toText(frame: Frame, envelope: Envelope, faultEvent: string | undefined): string {
  const data = `data: ${envelope(frame)}\n\n`;
  const name = frame.event ?? (frame.fault && faultEvent);
  const event = name === undefined ? data : `event: ${name}\n${data}`;
  return frame.id === undefined ? event : `id: ${frame.id}\n${event}`;
}
