import type { Words } from "./output-writer.ts";

/** Nodes that speak at the same time are heard one after the other: whoever began has the floor until it is done. */
export class Floor {
  readonly #say: (words: Words) => void;
  #speaker: string | undefined;
  /** Who waits, with what they want to say, in the order in which they began. */
  readonly #waiting = new Map<string, { readonly words: Words[]; done: boolean }>();

  constructor(say: (words: Words) => void) {
    this.#say = say;
  }

  /** Only text needs the floor. `task` undefined: nobody knows whose words these are. */
  say(task: string | undefined, words: Words): void {
    if (task === undefined || !("text" in words)) return this.#say(words);
    this.#speaker ??= task;
    if (this.#speaker === task) return this.#say(words);
    const waiting = this.#waiting.get(task);
    if (waiting) waiting.words.push(words);
    else this.#waiting.set(task, { words: [words], done: false });
  }

  /** A task is done. */
  end(task: string): void {
    const waiting = this.#waiting.get(task);
    if (waiting) waiting.done = true;
    if (this.#speaker !== task) return;
    this.#speaker = undefined;
    for (const [next, { words, done }] of this.#waiting) {
      this.#waiting.delete(next);
      for (const one of words) this.#say(one);
      if (done) continue;
      this.#speaker = next;
      return;
    }
  }
}
