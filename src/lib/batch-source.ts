import { Latch, type Wakeable } from "./latch.ts";

/**
 * What comes bit by bit, for one reader: he takes what there is and is woken when there may be more. Nobody waits inside
 * of it, so that one that is silent for hours costs hardly any memory (docs/decisions/0023).
 */
export interface BatchSource<Bunch> {
  /** What there is by now; null: nothing for now, and nothing ever if it `isOver`. */
  take(): Promise<Bunch | null>;
  readonly isOver: boolean;
  /** Who is woken from now on. */
  wakes(sleeper: Wakeable): void;
  /** Nothing more is wanted. Whoever is asleep is woken. */
  close(): void;
}

/** For readers who would rather wait. `signal`: nothing more is wanted. */
export async function* toAsyncIterable<Bunch>(
  source: BatchSource<Bunch>,
  signal?: AbortSignal,
): AsyncGenerator<Bunch> {
  const bell = new Latch();
  const leave = (): void => source.close();
  source.wakes(bell);
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted) leave();
  try {
    for (;;) {
      const bunch = await source.take();
      if (bunch) yield bunch;
      else if (source.isOver) return;
      else await bell.wait();
    }
  } finally {
    signal?.removeEventListener("abort", leave);
    leave();
  }
}

/** A bunch that is there already, and then what comes after it; null: nothing does. */
export class FirstBatchThen<Bunch> implements BatchSource<Bunch> {
  #first: Bunch | null;
  readonly #rest: BatchSource<Bunch> | null;

  constructor(first: Bunch | null, rest: BatchSource<Bunch> | null) {
    this.#first = first;
    this.#rest = rest;
  }

  get isOver(): boolean {
    return this.#first === null && (this.#rest?.isOver ?? true);
  }

  async take(): Promise<Bunch | null> {
    const first = this.#first;
    if (!first) return this.#rest?.take() ?? null;
    this.#first = null;
    return first;
  }

  wakes(sleeper: Wakeable): void {
    this.#rest?.wakes(sleeper);
  }

  close(): void {
    this.#first = null;
    this.#rest?.close();
  }
}
