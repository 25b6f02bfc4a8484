import type { BatchSource } from "../lib/batch-source.ts";
import { ChurnMap } from "../lib/churn-map.ts";
import type { Wakeable } from "../lib/latch.ts";
import type { LoopBudget } from "../lib/loop-budget.ts";
import { visitOverTurns } from "../lib/over-turns.ts";
import type { Frame, Log } from "../ports/index.ts";
import { encodingOf, type HttpResponse, waitForDrain } from "./request.ts";
import { writeInChunks } from "./write-large.ts";

/** The data of the event for one frame: with the envelope of the transport, or bare. */
export type FrameFormat = (frame: Frame) => string;

/** How many heartbeats a reader may stall before it is disconnected; it can resume where it stopped. */
export const STALLED_HEARTBEATS_MAX = 8;

export interface StreamsParts {
  readonly heartbeatMs: number;
  readonly streamsMax: number;
  /** Shared by all that write much at once. */
  readonly loop: LoopBudget;
  readonly log: Log;
}

/**
 * Writes streams of server-sent events, and keeps them alive with comments: at fixed times, silent or not, as Orloj's
 * specification demands.
 */
export function createStreams({ heartbeatMs, streamsMax, loop, log }: StreamsParts) {
  const open = new ChurnMap<SseStream, SseStream>();
  let others = 0;
  let isClosed = false;
  const beat = (stream: SseStream): void => {
    if (open.has(stream)) stream.beat();
  };
  const timer = setInterval(() => void visitOverTurns([...open.values()], BEATS_PER_TURN, beat), heartbeatMs);
  timer.unref();
  const turnFor = (size: number): Promise<void> | undefined =>
    size < CHUNK_CHARS ? undefined : loop.take(Math.ceil(size / UNIT_CHARS));
  const shared: SharedStreamParts = { open, log, stallMs: STALLED_HEARTBEATS_MAX * heartbeatMs, turnFor };

  return {
    /** Whether another stream may be opened; asked before any work is done for it. */
    hasRoom: (): boolean => open.size + others < streamsMax,
    open: (): number => open.size + others,
    /** To be awaited before so much is written at once; undefined: it may be written now. */
    turnFor,
    /** Counts a stream that another transport writes. */
    async count(writing: Promise<void>): Promise<void> {
      others += 1;
      await writing.finally(() => (others -= 1));
    },
    /** Writes a whole stream. `errorEvent`: the name of the event for a fault. */
    write(
      response: HttpResponse,
      frames: BatchSource<readonly Frame[]>,
      format: FrameFormat,
      errorEvent?: string,
    ): void {
      const stream = new SseStream(shared, response, frames, format, errorEvent);
      if (isClosed) stream.stop();
      stream.wake();
    },
    /** Ends all streams, each after a whole event. */
    close(): void {
      isClosed = true;
      clearInterval(timer);
      for (const stream of [...open.values()]) stream.stop();
    },
  };
}

/** Each is a call of the system: so many take a millisecond. */
const BEATS_PER_TURN = 100;

interface SharedStreamParts {
  readonly open: ChurnMap<SseStream, SseStream>;
  readonly log: Log;
  readonly stallMs: number;
  readonly turnFor: (size: number) => Promise<void> | undefined;
}

/** The stream of one reader. While there is nothing to write it holds no promise and no timer. */
class SseStream implements Wakeable {
  readonly #shared: SharedStreamParts;
  readonly #response: HttpResponse;
  readonly #frames: BatchSource<readonly Frame[]>;
  readonly #format: FrameFormat;
  readonly #errorEvent: string | undefined;
  /** Heartbeats since the reader stopped reading. */
  #stalled = 0;
  #isWorking = false;
  #isEnded = false;
  /** A large event is half written: no heartbeat may come in between. */
  #isWithinEvent = false;
  /** It was woken while it was working: it must take again. */
  #again = false;

  constructor(
    shared: SharedStreamParts,
    response: HttpResponse,
    frames: BatchSource<readonly Frame[]>,
    format: FrameFormat,
    errorEvent: string | undefined,
  ) {
    this.#shared = shared;
    this.#response = response;
    this.#frames = frames;
    this.#format = format;
    this.#errorEvent = errorEvent;
    shared.open.set(this, this);
    frames.setListener(this);
    response.once("close", () => this.stop());
  }

  beat(): void {
    if (!this.#response.writableNeedDrain && !this.#isWithinEvent) this.#response.write(": heartbeat\n\n");
    else if (++this.#stalled >= STALLED_HEARTBEATS_MAX) this.#response.destroy();
  }

  wake(): void {
    this.#again = true;
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#work().catch(error => this.#fail(error));
  }

  stop(): void {
    this.#frames.close();
  }

  async #work(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      for (let batch = await this.#frames.take(); batch; batch = await this.#frames.take())
        if (this.#response.destroyed) this.stop();
        else await this.#write(batch);
    }
    this.#isWorking = false;
    if (!this.#frames.isOver) return;
    this.#shared.open.delete(this);
    if (!this.#response.destroyed) this.#end();
  }

  /** One write fewer if the end comes with the last frames. */
  #end(text?: string, encoding?: BufferEncoding): void {
    if (!this.#isEnded) this.#response.end(text, encoding);
    this.#isEnded = true;
  }

  /** Joins the frames of a batch to few writes, and waits for a slow reader. */
  async #write(batch: readonly Frame[]): Promise<void> {
    const response = this.#response;
    let text = "";
    for (let i = 0; i < batch.length && !response.destroyed; i++) {
      text += toText(batch[i] as Frame, this.#format, this.#errorEvent);
      if (text.length < CHUNK_CHARS && i < batch.length - 1) continue;
      const turn = this.#shared.turnFor(text.length);
      if (turn) await turn;
      if (response.destroyed) return;
      if (text.length > LARGE_CHARS) {
        const bytes = Buffer.from(text);
        // The text must not stay in memory beside its bytes.
        text = "";
        await this.#writeLarge(bytes);
      } else {
        const encoding = response.choosesEncoding ? undefined : encodingOf(text);
        const isLast = i === batch.length - 1 && this.#frames.isOver;
        if (isLast && !response.writableNeedDrain) this.#end(text, encoding);
        else if (!response.write(text, encoding)) await waitForDrain(response);
      }
      this.#stalled = 0;
      text = "";
    }
  }

  async #writeLarge(bytes: Buffer): Promise<void> {
    this.#isWithinEvent = true;
    await writeInChunks(this.#response, bytes, this.#shared.stallMs, () => {
      this.#stalled = 0;
    });
    this.#isWithinEvent = false;
  }

  #fail(error: unknown): void {
    this.#shared.log.error({ err: error }, "a stream failed");
    this.#shared.open.delete(this);
    this.#frames.close();
    this.#response.destroy();
  }
}

export function openStream(response: HttpResponse, headers: Readonly<Record<string, string>>): void {
  response.writeHead(200, {
    ...headers,
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
  });
}

export type Streams = ReturnType<typeof createStreams>;

/** Characters of one write: frames that the reader does not take wait in the log and not in the memory of a socket. */
const CHUNK_CHARS = 64 * 1024;
/** A longer text contains an event that is large by itself, and is written in pieces. */
const LARGE_CHARS = 2 * CHUNK_CHARS;
/** Writing this many characters costs about as much as passing one event on. */
const UNIT_CHARS = 1_024;

function toText(frame: Frame, format: FrameFormat, errorEvent: string | undefined): string {
  const data = `data: ${format(frame)}\n\n`;
  const name = frame.event ?? (frame.fault && errorEvent);
  const event = name === undefined ? data : `event: ${name}\n${data}`;
  return frame.id === undefined ? event : `id: ${frame.id}\n${event}`;
}
