import type { Message } from "../model/index.ts";

type Result = IteratorResult<Message, undefined>;

/** Messages that arrive while a turn is worked on. A reader that stops and starts again misses none. */
export class IncomingMessages implements AsyncIterableIterator<Message, undefined> {
  #messages: readonly Message[] = [];
  #taken = 0;
  #isEnded = false;
  #changed = Promise.withResolvers<void>();

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    while (!this.#isEnded) {
      const message = this.#messages[this.#taken];
      if (message) {
        this.#taken += 1;
        return { value: message, done: false };
      }
      await this.#changed.promise;
    }
    return { value: undefined, done: true };
  }

  /** `messages`: all that have arrived so far. */
  update(messages: readonly Message[] | undefined): void {
    if (!messages || messages.length <= this.#messages.length) return;
    this.#messages = messages;
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
