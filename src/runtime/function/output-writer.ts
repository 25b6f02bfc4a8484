/** What a function says, one event after another, whatever form the function has. */
import type { AgentDefinition, Outcome, Said } from "../../agent/definition.ts";
import type { AgentEvent, Turn } from "../../ports/index.ts";
import { FunctionCtx, NOTHING, type Speech } from "./ctx.ts";
import { toAgentTask } from "./task.ts";
import { toEvent } from "./yielded-value.ts";

type Generator = AsyncIterable<Said, Outcome> | Iterable<Said, Outcome>;
type Source = AsyncIterator<Said, Outcome> | Iterator<Said, Outcome>;

export class Script {
  readonly #definition: AgentDefinition;
  readonly #turn: Turn;
  readonly #speech: Speech;
  #begun = false;
  #over = false;
  /** The function's generator; when it has ended, what it returned. */
  #source: Source | undefined;
  /** What has to be waited for, if it is not a generator. */
  #outcome: Promise<void> | undefined;

  constructor(definition: AgentDefinition, turn: Turn, speech: Speech) {
    this.#definition = definition;
    this.#turn = turn;
    this.#speech = speech;
  }

  /** What the function's generator yields next; null: there is none, or not yet. */
  yielding(): Promise<IteratorResult<Said, Outcome>> | null {
    if (!this.#begun) this.#begin();
    const source = this.#over ? undefined : this.#source;
    const result = source?.next();
    if (!result) return null;
    return result instanceof Promise ? result : Promise.resolve(result);
  }

  /** An event that `ctx` made and that does not end the run; null: it needs a closer look by `next`. */
  hear(result: IteratorResult<Said, Outcome>): AgentEvent | null {
    if (result.done || this.#over || typeof result.value === "string") return null;
    const event = result.value;
    return event !== NOTHING && event?.type === "artifact" && this.#speech.take(event) ? event : null;
  }

  /** undefined: that was all. `heard`: what the function said last, if nobody has looked at it yet. */
  async next(heard?: IteratorResult<Said, Outcome>): Promise<AgentEvent | undefined> {
    let waiting = heard;
    try {
      if (this.#outcome) await this.#outcome;
      while (!this.#over && (waiting || this.#source)) {
        const result = waiting ?? (await (this.#source as Source).next());
        waiting = undefined;
        const event = result.done ? this.#conclude(result.value) : this.#toEvent(result.value);
        if (event !== NOTHING && !this.#over) {
          this.#over = isEnd(event);
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

  /** Nothing more is heard. Resolves when the function's `finally` blocks have run. */
  async close(): Promise<void> {
    const source = this.#source;
    this.#over = true;
    this.#source = undefined;
    try {
      await source?.return?.();
    } catch (error) {
      // What was said stands, and there is nobody left to tell.
      this.#turn.log.warn({ error }, "The agent failed while it cleaned up after its run");
    }
  }

  #begin(): void {
    this.#begun = true;
    const ctx = new FunctionCtx(this.#speech, this.#turn);
    const saying = this.#definition.run(toAgentTask(this.#turn), ctx);
    if (isGenerator(saying)) this.#source = toSource(saying);
    else this.#outcome = this.#await(saying);
  }

  async #await(saying: unknown): Promise<void> {
    const outcome = await saying;
    this.#outcome = undefined;
    if (isGenerator(outcome)) this.#source = toSource(outcome);
    else this.#conclude(outcome as Outcome);
  }

  /** What a function returned is said like what it might have yielded, but it is known to be the last. */
  #conclude(outcome: Outcome): AgentEvent {
    this.#source = undefined;
    if (outcome === undefined || outcome === null) return NOTHING;
    const list: readonly Said[] = Array.isArray(outcome) ? outcome : [outcome as Said];
    if (this.#definition.replies === "message" && typeof outcome === "string")
      this.#source = [this.#speech.reply(outcome)].values();
    else this.#source = this.#texts(list).values();
    return NOTHING;
  }

  #texts(list: readonly Said[]): readonly Said[] {
    const last = list.findLastIndex(said => typeof said === "string" && said !== "");
    return list.map((said, at) => (typeof said === "string" ? this.#speech.say(said, at === last) : said));
  }

  #toEvent(said: Said): AgentEvent {
    if (typeof said === "string") return this.#speech.say(said, false);
    if (said === NOTHING || this.#speech.take(said)) return said;
    return toEvent(said);
  }
}

/** After these there is nothing more to say: the task waits for its caller, or has ended. */
export const isEnd = (event: AgentEvent): boolean =>
  event.type === "reply" || (event.type === "status" && event.state !== "working");

function isGenerator(value: unknown): value is Generator {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Symbol.asyncIterator in value || Symbol.iterator in value;
}

const toSource = (generator: Generator): Source =>
  Symbol.asyncIterator in generator ? generator[Symbol.asyncIterator]() : generator[Symbol.iterator]();
