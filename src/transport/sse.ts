import type { ServerResponse } from "node:http";
import type { Frame } from "../ports.ts";

/** How one frame becomes the data of one event: with the transport's envelope, or bare. */
export type Envelope = (frame: Frame) => string;

interface Open {
  readonly response: ServerResponse;
  /** Nothing was written since the last look. */
  quiet: boolean;
  /** Looks since the reader stopped reading. */
  stalled: number;
}

/** How many heartbeats a reader may be stuck before it is cut off; it can resume where it stopped. */
const STALLED_MAX = 8;

/** Writes streams, and keeps silent ones alive with comments. */
export function createStreams(parts: { heartbeatMs: number; streamsMax: number }) {
  const open = new Set<Open>();
  const timer = setInterval(beat, parts.heartbeatMs);
  timer.unref();

  function beat(): void {
    for (const stream of open) {
      if (stream.response.writableNeedDrain) {
        if (++stream.stalled >= STALLED_MAX) stream.response.destroy();
      } else if (stream.quiet) stream.response.write(": still here\n\n");
      else stream.quiet = true;
    }
  }

  return {
    /** Whether one more may be opened; asked before any work is begun for it. */
    hasRoom: (): boolean => open.size < parts.streamsMax,
    /** Writes all frames that are there at once in one go; waits when the reader is slow. */
    async write(
      response: ServerResponse,
      frames: AsyncIterable<readonly Frame[]>,
      envelope: Envelope,
    ): Promise<void> {
      const stream: Open = { response, quiet: false, stalled: 0 };
      open.add(stream);
      try {
        for await (const bunch of frames) {
          if (response.destroyed) return;
          stream.quiet = false;
          for (const text of inPieces(bunch, envelope)) {
            if (!response.write(text)) await drained(response);
            if (response.destroyed) return;
            stream.stalled = 0;
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

export type Streams = ReturnType<typeof createStreams>;

/** Characters of one write: what a reader does not take waits in the log and not in a socket's memory. */
const PIECE_CHARS = 64 * 1024;

function* inPieces(frames: readonly Frame[], envelope: Envelope): Generator<string> {
  let text = "";
  for (const frame of frames) {
    text += toText([frame], envelope);
    if (text.length < PIECE_CHARS) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

export function toText(frames: readonly Frame[], envelope: Envelope): string {
  let text = "";
  for (const frame of frames) {
    if (frame.id !== undefined) text += `id: ${frame.id}\n`;
    if (frame.event !== undefined) text += `event: ${frame.event}\n`;
    text += `data: ${envelope(frame)}\n\n`;
  }
  return text;
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
