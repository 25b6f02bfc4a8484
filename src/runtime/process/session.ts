import type { AgentTask, Ctx, Said } from "../../agent/definition.ts";
import type { Json } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import type { Child } from "./child.ts";
import { ASIDES, ENDS, type Line, readLine, SAYINGS, unknown } from "./protocol.ts";
import { toMessage, toTurn } from "./turn-message.ts";

export interface TalkParts {
  readonly turnMs: number | undefined;
  /** Earlier messages of the context that are told. */
  readonly historyMax: number;
  /** Messages that come while the task is worked on are passed on. */
  readonly takesMore: boolean;
  /** The process is there for other turns, too. */
  readonly isPooled: boolean;
}

/** One turn of a program. */
export class Talk {
  readonly #child: Child;
  readonly #parts: TalkParts;
  readonly #task: AgentTask;
  readonly #ctx: Ctx;
  #heard = 0;
  #logged = 0;
  #isLate = false;
  /** Whether the program was told of the turn. */
  #told: Promise<boolean> | undefined;
  /** The program has come to an end of its own. */
  isOver = false;
  /** The program had ended before it was told of the turn: nothing has happened. */
  isUnheard = false;

  constructor(child: Child, parts: TalkParts, task: AgentTask, ctx: Ctx) {
    this.#child = child;
    this.#parts = parts;
    this.#task = task;
    this.#ctx = ctx;
  }

  async *run(): AsyncGenerator<Said> {
    const { signal } = this.#ctx;
    const { turnMs } = this.#parts;
    signal.throwIfAborted();
    signal.addEventListener("abort", this.#cancel, { once: true });
    const timer = turnMs === undefined ? undefined : setTimeout(this.#beLate, turnMs);
    this.#child.onError = line => this.#note(() => this.#ctx.log.info(this.#facts(), line));
    try {
      // Not waited for: a program may talk before it listens.
      this.#told = this.#child.send(await toTurn(this.#task, this.#ctx, this.#parts.historyMax));
      if (this.#parts.takesMore) this.#passOn();
      yield* this.#lines();
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", this.#cancel);
    }
  }

  async *#lines(): AsyncGenerator<Said> {
    for (;;) {
      const line = await this.#next();
      if (line === undefined || line.type === "done") {
        if (line === undefined) await this.#checkEnd();
        this.isOver = true;
        return;
      }
      if (line.type === "step") await this.#step(line);
      else if (!this.#aside(line)) yield this.#say(line);
    }
  }

  #say(line: Line): Said {
    this.isOver = Object.hasOwn(ENDS, line.type);
    const verbs = this.isOver ? ENDS : SAYINGS;
    const verb = Object.hasOwn(verbs, line.type) ? verbs[line.type] : undefined;
    try {
      if (verb) return verb(line, this.#ctx);
    } catch (error) {
      this.isOver = false;
      throw this.#wrong(error);
    }
    throw this.#wrong(unknown(line));
  }

  /** Whether it was something that is heard at once. */
  #aside(line: Line): boolean {
    const aside = Object.hasOwn(ASIDES, line.type) ? ASIDES[line.type] : undefined;
    if (line.type === "log") this.#note(() => aside?.(line, this.#ctx, this.#facts()));
    else aside?.(line, this.#ctx, this.#facts());
    return aside !== undefined;
  }

  /** Done once: a later attempt of the turn is told what the first one made of it. */
  async #step({ name }: Line): Promise<void> {
    const value = await this.#ctx.step(name as string, async (): Promise<Json> => {
      await this.#child.send({ type: "step", name: name as string, done: false });
      for (;;) {
        const line = await this.#next();
        if (line?.type === "stepped") return line.value ?? null;
        if (line === undefined) throw await this.#died();
        if (!this.#aside(line))
          throw this.#wrong(new Error(`in a step it can say only stepped, log and usage, not ${line.type}`));
      }
    });
    await this.#child.send({ type: "step", name: name as string, done: true, value });
  }

  /** undefined: it has said all. */
  async #next(): Promise<Line | undefined> {
    for (;;) {
      this.#heard += 1;
      try {
        const text = await this.#child.next();
        if (text === undefined) return undefined;
        if (text.trim() !== "") return readLine(text);
      } catch (error) {
        throw this.#wrong(error);
      }
    }
  }

  #wrong(error: unknown): Error {
    const reason = error instanceof Error ? error.message : String(error);
    return new Error(`What the program said in line ${this.#heard} of this turn is wrong: ${reason}`);
  }

  /** It has said all, and did not say that it is done: then its exit code says it. */
  async #checkEnd(): Promise<void> {
    const { isGood } = await this.#child.ended;
    if (!isGood || this.#parts.isPooled || this.#isLate || this.#ctx.signal.aborted) throw await this.#died();
  }

  async #died(): Promise<unknown> {
    const { how } = await this.#child.ended;
    this.isUnheard = !(await this.#told);
    if (this.#ctx.signal.aborted) return this.#ctx.signal.reason;
    if (this.#isLate) return new Error(`The program took longer than ${this.#parts.turnMs} ms and was ended`);
    return new Error(`The program ${how}`);
  }

  readonly #cancel = (): void => {
    this.#child.send({ type: "cancel" });
    this.#child.stop();
  };

  readonly #beLate = (): void => {
    this.#isLate = true;
    this.#child.stop();
  };

  async #passOn(): Promise<void> {
    for await (const message of this.#ctx.incoming)
      await this.#child.send({ type: "message", message: toMessage(message) });
  }

  #facts(): { readonly taskId: string; readonly from: string } {
    return { taskId: this.#task.id, from: "program" };
  }

  #note(write: () => void): void {
    this.#logged += 1;
    if (this.#logged <= LIMITS.programLogLinesMax) write();
    if (this.#logged === LIMITS.programLogLinesMax)
      this.#ctx.log.warn(this.#facts(), "the program writes too much: the rest of this turn is not logged");
  }
}
