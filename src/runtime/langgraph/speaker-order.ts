import type { GraphOutput } from "./task-output.ts";

/** Orders the text of parallel nodes: the text of one node is written to its end before that of the next. */
export class SpeakerOrder {
  readonly #write: (output: GraphOutput) => void;
  #current: string | undefined;
  /** The output of the other tasks, in the order in which they have started to write. */
  readonly #waiting = new Map<string, { readonly outputs: GraphOutput[]; isDone: boolean }>();

  constructor(write: (output: GraphOutput) => void) {
    this.#write = write;
  }

  /** Only text is ordered. `task` undefined: the task is not known. */
  write(task: string | undefined, output: GraphOutput): void {
    if (task === undefined || !("text" in output)) return this.#write(output);
    this.#current ??= task;
    if (this.#current === task) return this.#write(output);
    const waiting = this.#waiting.get(task);
    if (waiting) waiting.outputs.push(output);
    else this.#waiting.set(task, { outputs: [output], isDone: false });
  }

  /** The task is done. */
  end(task: string): void {
    const waiting = this.#waiting.get(task);
    if (waiting) waiting.isDone = true;
    if (this.#current !== task) return;
    this.#current = undefined;
    for (const [next, { outputs, isDone }] of this.#waiting) {
      this.#waiting.delete(next);
      for (const output of outputs) this.#write(output);
      if (isDone) continue;
      this.#current = next;
      return;
    }
  }
}
