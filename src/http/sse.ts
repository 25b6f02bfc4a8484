import type { BatchSource } from "../lib/batch-source.ts";
import { ChurnMap } from "../lib/churn-map.ts";
import type { Wakeable } from "../lib/latch.ts";
import type { LoopBudget } from "../lib/loop-budget.ts";
import type { Frame, Log } from "../ports/index.ts";
import { drained, encodingFor, type HttpResponse } from "./request.ts";
import { writePieces } from "./write-large.ts";

/** How one frame becomes the data of one event: with the transport's envelope, or bare. */
export type Envelope = (frame: Frame) => string;

/** How many heartbeats a reader may be stuck before it is cut off; it can resume where it stopped. */
export const STALLED_MAX = 8;

export interface StreamsParts {
  readonly heartbeatMs: number;
  readonly streamsMax: number;
  /** Shared by all that write much at once. */
  readonly loop: LoopBudget;
  readonly log: Log;
}

/** Writes streams, and keeps them alive with comments: at fixed times, silent or not, as Orloj's document has it. */
export function createStreams(parts: StreamsParts) {
  const open = new ChurnMap<Stream, Stream>();
  let others = 0;
  let closed = false;
  const timer = setInterval(() => {
    for (const stream of open.values()) stream.beat();
  }, parts.heartbeatMs);
  timer.unref();
  const turnFor = (size: number): Promise<void> | undefined =>
    size < PIECE_CHARS ? undefined : parts.loop.take(Math.ceil(size / UNIT_CHARS));
  const house: House = { open, log: parts.log, stallMs: STALLED_MAX * parts.heartbeatMs, turnFor };

  return {
    /** Whether one more may be opened; asked before any work is begun for it. */
    hasRoom: (): boolean => open.size + others < parts.streamsMax,
    open: (): number => open.size + others,
    /** To be waited for before so much is written at once; undefined: it may be written. */
    turnFor,
    /** A stream that another transport writes counts as well. */
    async count(writing: Promise<void>): Promise<void> {
      others += 1;
      await writing.finally(() => (others -= 1));
    },
    /** To its end. `faultEvent` is the name of the event with which a stream breaks off, if it has one. */
    write(
      response: HttpResponse,
      frames: BatchSource<readonly Frame[]>,
      envelope: Envelope,
      faultEvent?: string,
    ): void {
      const stream = new Stream(house, response, frames, envelope, faultEvent);
      if (closed) stream.stop();
      stream.wake();
    },
    /** Ends all, each after a whole event. */
    close(): void {
      closed = true;
      clearInterval(timer);
      for (const stream of [...open.values()]) stream.stop();
    },
  };
}

interface House {
  readonly open: ChurnMap<Stream, Stream>;
  readonly log: Log;
  readonly stallMs: number;
  readonly turnFor: (size: number) => Promise<void> | undefined;
}

/** One reader. As long as there is nothing to write it is asleep, and nothing waits for anything. */
class Stream implements Wakeable {
  readonly #house: House;
  readonly #response: HttpResponse;
  readonly #frames: BatchSource<readonly Frame[]>;
  readonly #envelope: Envelope;
  readonly #faultEvent: string | undefined;
  /** Looks since the reader stopped reading. */
  #stalled = 0;
  #awake = false;
  /** A large event is half written: nothing may come in between. */
  #isWithin = false;
  /** It was woken while it was awake: it must look again. */
  #again = false;

  constructor(
    house: House,
    response: HttpResponse,
    frames: BatchSource<readonly Frame[]>,
    envelope: Envelope,
    faultEvent: string | undefined,
  ) {
    this.#house = house;
    this.#response = response;
    this.#frames = frames;
    this.#envelope = envelope;
    this.#faultEvent = faultEvent;
    house.open.set(this, this);
    frames.wakes(this);
    response.once("close", () => this.stop());
  }

  beat(): void {
    if (!this.#response.writableNeedDrain && !this.#isWithin) this.#response.write(": heartbeat\n\n");
    else if (++this.#stalled >= STALLED_MAX) this.#response.destroy();
  }

  wake(): void {
    this.#again = true;
    if (this.#awake) return;
    this.#awake = true;
    this.#work().catch(error => this.#break(error));
  }

  /** Nothing more is wanted of it. */
  stop(): void {
    this.#frames.close();
  }

  async #work(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      for (let bunch = await this.#frames.take(); bunch; bunch = await this.#frames.take())
        if (this.#response.destroyed) this.stop();
        else await this.#write(bunch);
    }
    this.#awake = false;
    if (this.#frames.isOver) this.#end();
  }

  /** All that is there goes out at once; a reader that is slow is waited for. */
  async #write(bunch: readonly Frame[]): Promise<void> {
    const response = this.#response;
    let text = "";
    for (let i = 0; i < bunch.length && !response.destroyed; i++) {
      text += toText(bunch[i] as Frame, this.#envelope, this.#faultEvent);
      if (text.length < PIECE_CHARS && i < bunch.length - 1) continue;
      const turn = this.#house.turnFor(text.length);
      if (turn) await turn;
      if (response.destroyed) return;
      if (text.length > LARGE_CHARS) {
        const bytes = Buffer.from(text);
        // The bytes are enough: the text must not stay in memory beside them.
        text = "";
        await this.#writeLarge(bytes);
      } else if (!response.write(text, encodingFor(response, text))) await drained(response);
      this.#stalled = 0;
      text = "";
    }
  }

  async #writeLarge(bytes: Buffer): Promise<void> {
    this.#isWithin = true;
    await writePieces(this.#response, bytes, this.#house.stallMs, () => {
      this.#stalled = 0;
    });
    this.#isWithin = false;
  }

  #end(): void {
    this.#house.open.delete(this);
    if (!this.#response.destroyed) this.#response.end();
  }

  #break(error: unknown): void {
    this.#house.log.error({ err: error }, "a stream broke off");
    this.#house.open.delete(this);
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

/** Characters of one write: what a reader does not take waits in the log and not in a socket's memory. */
const PIECE_CHARS = 64 * 1024;
/** What is longer has an event that is large by itself, and is written in pieces of its own. */
const LARGE_CHARS = 2 * PIECE_CHARS;
/** To write so many characters costs about as much as to hand on one event. */
const UNIT_CHARS = 1_024;

function toText(frame: Frame, envelope: Envelope, faultEvent: string | undefined): string {
  const data = `data: ${envelope(frame)}\n\n`;
  const name = frame.event ?? (frame.fault && faultEvent);
  const event = name === undefined ? data : `event: ${name}\n${data}`;
  return frame.id === undefined ? event : `id: ${frame.id}\n${event}`;
}
