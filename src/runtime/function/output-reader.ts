/** Reads the output of a function as events: a generator, a promise, or a plain value. */
import type { AgentOutput, Outcome, RunResult } from "../../agent/context.ts";
import type { AgentEvent, Turn } from "../../ports/index.ts";
import { FunctionCtx } from "./ctx.ts";
import { type EventBuilder, NO_EVENT } from "./event-builder.ts";
import { type ServedFunction, type TypedTurn, toTypedTask } from "./typed-task.ts";
import { toEvent } from "./yielded-value.ts";

type Generator = AsyncIterable<AgentOutput, Outcome> | Iterable<AgentOutput, Outcome>;
type Source = AsyncIterator<AgentOutput, Outcome> | Iterator<AgentOutput, Outcome>;

export class OutputReader {
  readonly #served: ServedFunction;
  readonly #turn: Turn;
  readonly #events: EventBuilder;
  #isStarted = false;
  #isEnded = false;
  /** The generator of the function; after its end, the values that it returned. */
  #source: Source | undefined;
  /** Pending while the function has returned a promise. */
  #promise: Promise<void> | undefined;

  constructor(served: ServedFunction, turn: Turn, events: EventBuilder) {
    this.#served = served;
    this.#turn = turn;
    this.#events = events;
  }

  /** The next value of the generator; null: there is no generator, or not yet. */
  nextYield(): Promise<IteratorResult<AgentOutput, Outcome>> | null {
    if (!this.#isStarted) this.#start();
    const source = this.#isEnded ? undefined : this.#source;
    const result = source?.next();
    if (!result) return null;
    return result instanceof Promise ? result : Promise.resolve(result);
  }

  /** An artifact event that `ctx` created; null: `next` has to process the value. */
  asArtifact(result: IteratorResult<AgentOutput, Outcome>): AgentEvent | null {
    if (result.done || this.#isEnded || typeof result.value === "string") return null;
    const event = result.value;
    return event !== NO_EVENT && event?.type === "artifact" && this.#events.yielded(event) ? event : null;
  }

  /** undefined: the run has ended. `yielded`: a value of `nextYield` that was not processed. */
  async next(yielded?: IteratorResult<AgentOutput, Outcome>): Promise<AgentEvent | undefined> {
    let pending = yielded;
    try {
      if (this.#promise) await this.#promise;
      while (!this.#isEnded && (pending || this.#source)) {
        const result = pending ?? (await (this.#source as Source).next());
        pending = undefined;
        const event = result.done ? this.#readOutcome(result.value) : this.#toEvent(result.value);
        if (event !== NO_EVENT && !this.#isEnded) {
          this.#isEnded = isFinal(event);
          return event;
        }
      }
    } catch (error) {
      await this.close();
      throw error;
    }
    await this.close();
    return undefined;
  }

  /** Resolves when the `finally` blocks of the function have run. */
  async close(): Promise<void> {
    const source = this.#source;
    this.#isEnded = true;
    this.#source = undefined;
    try {
      await source?.return?.();
    } catch (error) {
      // The events so far stay valid, so the error is only logged.
      this.#turn.log.warn({ error }, "The agent threw an error in the cleanup after its run");
    }
  }

  #start(): void {
    this.#isStarted = true;
    const task = toTypedTask(this.#served, this.#turn);
    const result = task instanceof Promise ? task.then(ready => this.#run(ready)) : this.#run(task);
    if (isGenerator(result)) this.#source = toSource(result);
    else this.#promise = this.#await(result);
  }

  #run({ task, output }: TypedTurn): RunResult {
    return this.#served.definition.run(task, new FunctionCtx(this.#events, this.#turn, output));
  }

  async #await(result: unknown): Promise<void> {
    const outcome = await result;
    this.#promise = undefined;
    if (isGenerator(outcome)) this.#source = toSource(outcome);
    else this.#readOutcome(outcome as Outcome);
  }

  /** Returned values are processed like yielded ones, but the last text is known to be the last. */
  #readOutcome(outcome: Outcome): AgentEvent {
    this.#source = undefined;
    if (outcome === undefined || outcome === null) return NO_EVENT;
    if (this.#served.definition.replies === "message" && typeof outcome === "string") {
      this.#source = [this.#events.reply(outcome)].values();
      return NO_EVENT;
    }
    const list: readonly AgentOutput[] = Array.isArray(outcome) ? outcome : [outcome as AgentOutput];
    const last = list.findLastIndex(output => typeof output === "string" && output !== "");
    this.#source = list
      .map((output, at) => (typeof output === "string" ? this.#events.chunk(output, at === last) : output))
      .values();
    return NO_EVENT;
  }

  #toEvent(output: AgentOutput): AgentEvent {
    if (typeof output === "string") return this.#events.chunk(output, false);
    if (output === NO_EVENT || this.#events.yielded(output)) return output;
    return toEvent(output);
  }
}

/** After these events the run ends: the task waits for its caller, or has ended. */
export const isFinal = (event: AgentEvent): boolean =>
  event.type === "reply" || (event.type === "status" && event.state !== "working");

function isGenerator(value: unknown): value is Generator {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Symbol.asyncIterator in value || Symbol.iterator in value;
}

const toSource = (generator: Generator): Source =>
  Symbol.asyncIterator in generator ? generator[Symbol.asyncIterator]() : generator[Symbol.iterator]();
