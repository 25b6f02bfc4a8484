/** Agents that are functions. */
import type { AgentDefinition, Outcome, Said } from "../../agent/definition.ts";
import { toCard, toExtendedCard, toPolicy } from "../../agent/definition.ts";
import type { AgentName } from "../../model/index.ts";
import type { Agent, AgentEvent, AgentRuntime, Turn } from "../../ports/index.ts";
import { upstreamOf } from "../shared/remote-source.ts";
import { Speech, type SpeechHearer } from "./ctx.ts";
import { isEnd, Script } from "./output-writer.ts";

export function toAgent(definition: AgentDefinition): Agent {
  return {
    name: definition.name as AgentName,
    card: toCard(definition),
    extendedCard: toExtendedCard(definition),
    runtime: functionRuntime(definition),
    replies: definition.replies,
    inputSchema: definition.inputSchema,
    policy: toPolicy(definition),
    upstream: upstreamOf(definition),
  };
}

export function functionRuntime(definition: AgentDefinition): AgentRuntime {
  return { name: "function", run: turn => new FunctionRun(definition, turn) };
}

type Result = IteratorResult<AgentEvent, undefined>;
const DONE: Result = { value: undefined, done: true };

/**
 * One run. The function is only asked for more when somebody reads; but what it spends is heard at once, even while
 * it is busy. One reader, who waits for one result before asking for the next.
 */
class FunctionRun implements AsyncIterableIterator<AgentEvent, undefined>, SpeechHearer {
  readonly #turn: Turn;
  readonly #speech: Speech;
  readonly #script: Script;
  #busy = false;
  #warned = false;
  #ended = false;
  /** What came while the reader had just been given a usage. */
  #kept: Result | undefined;
  #broken: { readonly error: unknown } | undefined;
  #resolve: ((result: Result) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(definition: AgentDefinition, turn: Turn) {
    this.#turn = turn;
    this.#speech = new Speech(turn, this);
    this.#script = new Script(definition, turn, this.#speech);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    const promise = new Promise<Result>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.look();
    return promise;
  }

  async return(): Promise<Result> {
    this.#kept = undefined;
    this.#give(DONE);
    await this.#script.close();
    return DONE;
  }

  /** Gives the reader, if one is waiting, what there is: first what was spent, since nothing is counted after an end. */
  look(): void {
    if (!this.#resolve) return;
    const usage = this.#ended ? undefined : this.#speech.spent();
    if (usage) this.#give({ value: { type: "usage", usage }, done: false });
    else if (this.#kept) this.#give(this.#kept);
    else if (this.#broken) this.#fail(this.#broken.error);
    else if (!this.#busy) this.#ask();
  }

  #ask(): void {
    this.#busy = true;
    try {
      const saying = this.#script.yielding();
      if (saying) saying.then(this.#heard, this.#broke);
      else this.#next();
    } catch (error) {
      this.#broke(error);
    }
  }

  /** The hot path: most of what a generator yields is said as it is. */
  readonly #heard = (result: IteratorResult<Said, Outcome>): void => {
    const event = this.#script.hear(result);
    if (event) this.#said(event);
    else this.#next(result);
  };

  #next(heard?: IteratorResult<Said, Outcome>): void {
    this.#script.next(heard).then(event => this.#said(event), this.#broke);
  }

  #said(event: AgentEvent | undefined): void {
    this.#busy = false;
    if (event === undefined) this.#warn();
    this.#kept = event === undefined ? DONE : { value: event, done: false };
    this.look();
  }

  readonly #broke = (error: unknown): void => {
    this.#busy = false;
    this.#warn();
    this.#broken = { error };
    this.look();
  };

  #give(result: Result): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    if (result === this.#kept) this.#kept = undefined;
    if (!result.done && isEnd(result.value)) this.#ended = true;
    resolve?.(result);
  }

  #fail(error: unknown): void {
    this.#broken = undefined;
    this.#resolve = undefined;
    this.#reject?.(error);
  }

  /** Once per run: the same mistake in a loop is one mistake. */
  #warn(): void {
    const verb = this.#speech.unsaid();
    if (verb === undefined || this.#warned) return;
    this.#warned = true;
    this.#turn.log.warn(
      { verb: `ctx.${verb}` },
      `ctx.${verb}() was called, but what it returned was never yielded, so nobody will hear it: write \`yield ctx.${verb}(…)\``,
    );
  }
}
