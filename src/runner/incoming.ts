import type { Message } from "../model/index.ts";

type Result = IteratorResult<Message, undefined>;

/** Messages that come while a turn is worked on. Whoever stops listening and begins again misses none. */
export class Incoming implements AsyncIterableIterator<Message, undefined> {
  #heard: readonly Message[] = [];
  #given = 0;
  #ended = false;
  #news = Promise.withResolvers<void>();

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    while (!this.#ended) {
      const message = this.#heard[this.#given];
      if (message) {
        this.#given += 1;
        return { value: message, done: false };
      }
      await this.#news.promise;
    }
    return { value: undefined, done: true };
  }

  /** All that have come so far. */
  hear(messages: readonly Message[] | undefined): void {
    if (!messages || messages.length <= this.#heard.length) return;
    this.#heard = messages;
    this.#ring();
  }

  end(): void {
    this.#ended = true;
    this.#ring();
  }

  #ring(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }
}
