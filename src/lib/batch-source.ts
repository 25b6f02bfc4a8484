import { Latch, type Wakeable } from "./latch.ts";

/**
 * A stream for a single reader, by polling: the reader takes the items that are there and is woken when there may be more.
 * No promise waits inside, so that a source that is idle for hours costs hardly any memory (docs/decisions/0023).
 */
export interface BatchSource<Batch> {
  /** The items that are there now; null: none for now, and none ever if the source `isOver`. */
  take(): Promise<Batch | null>;
  readonly isOver: boolean;
  /** Sets the listener to wake from now on. */
  setListener(listener: Wakeable): void;
  /** The reader wants no more. Wakes the listener. */
  close(): void;
}

/** For readers that wait instead of polling. `signal` ends the reading. */
export async function* toAsyncIterable<Batch>(
  source: BatchSource<Batch>,
  signal?: AbortSignal,
): AsyncGenerator<Batch> {
  const latch = new Latch();
  const close = (): void => source.close();
  source.setListener(latch);
  signal?.addEventListener("abort", close, { once: true });
  if (signal?.aborted) close();
  try {
    for (;;) {
      const batch = await source.take();
      if (batch) yield batch;
      else if (source.isOver) return;
      else await latch.wait();
    }
  } finally {
    signal?.removeEventListener("abort", close);
    close();
  }
}

/** A source in front of another one: subclasses override what they change. */
export abstract class ForwardingSource<Inner, Batch = Inner> implements BatchSource<Batch> {
  protected readonly inner: BatchSource<Inner>;

  constructor(inner: BatchSource<Inner>) {
    this.inner = inner;
  }

  abstract take(): Promise<Batch | null>;

  get isOver(): boolean {
    return this.inner.isOver;
  }

  setListener(listener: Wakeable): void {
    this.inner.setListener(listener);
  }

  close(): void {
    this.inner.close();
  }
}

const EMPTY: BatchSource<never> = { take: async () => null, isOver: true, setListener() {}, close() {} };

/** A batch that is there already, then those of another source; null: there is none. */
export class FirstBatchThen<Batch> extends ForwardingSource<Batch> {
  #first: Batch | null;

  constructor(first: Batch | null, rest: BatchSource<Batch> | null) {
    super(rest ?? EMPTY);
    this.#first = first;
  }

  override get isOver(): boolean {
    return this.#first === null && this.inner.isOver;
  }

  async take(): Promise<Batch | null> {
    const first = this.#first;
    if (!first) return this.inner.take();
    this.#first = null;
    return first;
  }

  override close(): void {
    this.#first = null;
    this.inner.close();
  }
}
