import type { AgentOutput, AgentTask, Ctx } from "../../agent/context.ts";
import type { Json } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import type { Child } from "../shared/child.ts";
import {
  FINAL_TYPES,
  OUTPUT_TYPES,
  type ProgramLine,
  parseLine,
  SIDE_TYPES,
  unexpectedType,
} from "./protocol.ts";
import { toMessage, toTurn } from "./turn-message.ts";

export interface ProgramTurnParts {
  readonly turnMs: number | undefined;
  /** The number of earlier messages of the context that are sent. */
  readonly historyMax: number;
  /** Messages that arrive while the task is working are sent to the program. */
  readonly forwardsMessages: boolean;
  /** The process serves further turns. */
  readonly isPooled: boolean;
}

/** One turn of a program. */
export class ProgramTurn {
  readonly #child: Child;
  readonly #parts: ProgramTurnParts;
  readonly #task: AgentTask;
  readonly #ctx: Ctx;
  #lineCount = 0;
  #logCount = 0;
  #isTimedOut = false;
  /** Resolves with false if the process had exited before it got the turn. */
  #turnSent: Promise<boolean> | undefined;
  /** The program has ended the turn. */
  isComplete = false;
  /** The process had exited before it got the turn: nothing has happened. */
  isUnread = false;

  constructor(child: Child, parts: ProgramTurnParts, task: AgentTask, ctx: Ctx) {
    this.#child = child;
    this.#parts = parts;
    this.#task = task;
    this.#ctx = ctx;
  }

  async *run(): AsyncGenerator<AgentOutput> {
    const { signal } = this.#ctx;
    const { turnMs, historyMax, forwardsMessages } = this.#parts;
    signal.throwIfAborted();
    signal.addEventListener("abort", this.#cancel, { once: true });
    const timer = turnMs === undefined ? undefined : setTimeout(this.#timeOut, turnMs);
    this.#child.onError = line => this.#log(() => this.#ctx.log.info(this.#facts(), line));
    try {
      // Not awaited: a program may write before it reads.
      this.#turnSent = this.#child.send(await toTurn(this.#task, this.#ctx, historyMax));
      if (forwardsMessages) this.#forwardMessages();
      yield* this.#readOutput();
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", this.#cancel);
    }
  }

  async *#readOutput(): AsyncGenerator<AgentOutput> {
    for (;;) {
      const line = await this.#nextLine();
      if (line === undefined || line.type === "done") {
        if (line === undefined) await this.#checkExit();
        this.isComplete = true;
        return;
      }
      if (line.type === "step") await this.#runStep(line);
      else if (!this.#applySideType(line)) yield this.#toOutput(line);
    }
  }

  #toOutput(line: ProgramLine): AgentOutput {
    this.isComplete = Object.hasOwn(FINAL_TYPES, line.type);
    const types = this.isComplete ? FINAL_TYPES : OUTPUT_TYPES;
    const toOutput = Object.hasOwn(types, line.type) ? types[line.type] : undefined;
    try {
      if (toOutput) return toOutput(line, this.#ctx);
    } catch (error) {
      this.isComplete = false;
      throw this.#lineError(error);
    }
    throw this.#lineError(unexpectedType(line));
  }

  #applySideType(line: ProgramLine): boolean {
    const apply = Object.hasOwn(SIDE_TYPES, line.type) ? SIDE_TYPES[line.type] : undefined;
    if (line.type === "log") this.#log(() => apply?.(line, this.#ctx, this.#facts()));
    else apply?.(line, this.#ctx, this.#facts());
    return apply !== undefined;
  }

  /** Executed once: a later attempt of the turn gets the recorded value. */
  async #runStep({ name }: ProgramLine): Promise<void> {
    const value = await this.#ctx.step(name as string, async (): Promise<Json> => {
      await this.#child.send({ type: "step", name: name as string, done: false });
      for (;;) {
        const line = await this.#nextLine();
        if (line?.type === "stepped") return line.value ?? null;
        if (line === undefined) throw await this.#toExitError();
        if (!this.#applySideType(line))
          throw this.#lineError(
            new Error(`inside a step only stepped, log and usage are allowed, not ${line.type}`),
          );
      }
    });
    await this.#child.send({ type: "step", name: name as string, done: true, value });
  }

  /** undefined: the output has ended. */
  async #nextLine(): Promise<ProgramLine | undefined> {
    for (;;) {
      this.#lineCount += 1;
      try {
        const text = await this.#child.next();
        if (text === undefined) return undefined;
        if (text.trim() !== "") return parseLine(text);
      } catch (error) {
        throw this.#lineError(error);
      }
    }
  }

  #lineError(error: unknown): Error {
    const reason = error instanceof Error ? error.message : String(error);
    return new Error(`Line ${this.#lineCount} of the program's output in this turn is invalid: ${reason}`);
  }

  /** The output has ended without `done`: then the exit code decides. */
  async #checkExit(): Promise<void> {
    const { isSuccess } = await this.#child.ended;
    if (!isSuccess || this.#parts.isPooled || this.#isTimedOut || this.#ctx.signal.aborted)
      throw await this.#toExitError();
  }

  async #toExitError(): Promise<unknown> {
    const { description } = await this.#child.ended;
    this.isUnread = !(await this.#turnSent);
    if (this.#ctx.signal.aborted) return this.#ctx.signal.reason;
    if (this.#isTimedOut)
      return new Error(`The program took longer than ${this.#parts.turnMs} ms and was stopped`);
    return new Error(`The program ${description}`);
  }

  readonly #cancel = (): void => {
    this.#child.send({ type: "cancel" });
    this.#child.stop();
  };

  readonly #timeOut = (): void => {
    this.#isTimedOut = true;
    this.#child.stop();
  };

  async #forwardMessages(): Promise<void> {
    for await (const message of this.#ctx.incoming)
      await this.#child.send({ type: "message", message: toMessage(message) });
  }

  #facts(): { readonly taskId: string; readonly from: string } {
    return { taskId: this.#task.id, from: "program" };
  }

  #log(write: () => void): void {
    this.#logCount += 1;
    if (this.#logCount <= LIMITS.programLogLinesMax) write();
    if (this.#logCount === LIMITS.programLogLinesMax)
      this.#ctx.log.warn(this.#facts(), "the program logs too much: the rest of this turn is not logged");
  }
}
