/** Agents that are functions; the other runtimes create such functions. */
import { checkInput, checksInput, toAgentSchemas, toSkillSchemas } from "../../agent/agent-schemas.ts";
import type { AgentOutput, Outcome } from "../../agent/context.ts";
import { type AgentDefinition, toCard, toExtendedCard, toPolicy } from "../../agent/definition.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { AgentName } from "../../model/index.ts";
import type { Agent, AgentEvent, AgentRuntime, Turn } from "../../ports/index.ts";
import { toUpstream } from "../shared/upstream.ts";
import { EventBuilder, type UsageListener } from "./event-builder.ts";
import { isFinal, OutputReader } from "./output-reader.ts";
import type { ServedFunction } from "./typed-task.ts";
import { skillIdsOf } from "./typed-task.ts";

export function toAgent(definition: AgentDefinition): Agent {
  const schemas = toAgentSchemas(definition);
  const card = toCard(definition, schemas);
  const skillIds = card.skills.map(({ id }) => id);
  return {
    name: definition.name as AgentName,
    card,
    extendedCard: toExtendedCard(definition),
    runtime: functionRuntime(definition),
    replies: definition.replies,
    // JSON: the loader has checked it.
    inputSchema: schemas.input?.json ?? (definition.inputSchema as JsonObject | undefined),
    outputSchema: schemas.output?.json ?? (definition.outputSchema as JsonObject | undefined),
    skillSchemas: toSkillSchemas(definition, schemas),
    checkInput: checksInput(schemas)
      ? (named, value) => checkInput(schemas, skillIds, named, value)
      : undefined,
    policy: toPolicy(definition),
    upstream: toUpstream(definition),
    graph: definition.graph,
  };
}

export function functionRuntime(definition: AgentDefinition): AgentRuntime {
  const schemas = toAgentSchemas(definition);
  const served: ServedFunction = { definition, schemas, skillIds: skillIdsOf(definition) };
  return {
    name: "function",
    run(turn) {
      const { startAt = 0 } = turn.task.request ?? {};
      const delayMs = startAt - turn.now();
      return delayMs > 0 ? runLater(served, turn, delayMs) : new FunctionRun(served, turn);
    },
  };
}

/** A restart of the server waits for the rest of the time. */
async function* runLater(
  served: ServedFunction,
  turn: Turn,
  delayMs: number,
): AsyncGenerator<AgentEvent, undefined> {
  await turn.wait(delayMs, turn.signal, false);
  yield* new FunctionRun(served, turn);
}

type Result = IteratorResult<AgentEvent, undefined>;
const DONE: Result = { value: undefined, done: true };

/**
 * One run. The function continues only when the next event is requested; usage is reported immediately, even while the
 * function is busy. There is one reader, which waits for each result before it requests the next.
 */
class FunctionRun implements AsyncIterableIterator<AgentEvent, undefined>, UsageListener {
  readonly #turn: Turn;
  readonly #events: EventBuilder;
  readonly #output: OutputReader;
  #isBusy = false;
  #hasWarned = false;
  #isEnded = false;
  /** A result that arrived after the reader had got a usage event instead. */
  #buffered: Result | undefined;
  #failure: { readonly error: unknown } | undefined;
  #resolve: ((result: Result) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(served: ServedFunction, turn: Turn) {
    this.#turn = turn;
    this.#events = new EventBuilder(turn, this);
    this.#output = new OutputReader(served, turn, this.#events);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    const promise = new Promise<Result>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#advance();
    return promise;
  }

  async return(): Promise<Result> {
    this.#buffered = undefined;
    this.#deliver(DONE);
    await this.#output.close();
    return DONE;
  }

  onUsage(): void {
    this.#advance();
  }

  /** Delivers to a waiting reader. Usage goes first: after the final event nothing is counted. */
  #advance(): void {
    if (!this.#resolve) return;
    const usage = this.#isEnded ? undefined : this.#events.takeUsage();
    if (usage) this.#deliver({ value: usage, done: false });
    else if (this.#buffered) this.#deliver(this.#buffered);
    else if (this.#failure) this.#deliverFailure(this.#failure.error);
    else if (!this.#isBusy) this.#request();
  }

  #request(): void {
    this.#isBusy = true;
    try {
      const result = this.#output.nextYield();
      if (result) result.then(this.#onYield, this.#onError);
      else this.#process();
    } catch (error) {
      this.#onError(error);
    }
  }

  /** The hot path: most yielded values are events that `ctx` created. */
  readonly #onYield = (result: IteratorResult<AgentOutput, Outcome>): void => {
    const event = this.#output.asArtifact(result);
    if (event) this.#onEvent(event);
    else this.#process(result);
  };

  #process(yielded?: IteratorResult<AgentOutput, Outcome>): void {
    this.#output.next(yielded).then(event => this.#onEvent(event), this.#onError);
  }

  #onEvent(event: AgentEvent | undefined): void {
    this.#isBusy = false;
    if (event === undefined) this.#warnUnyielded();
    this.#buffered = event === undefined ? DONE : { value: event, done: false };
    this.#advance();
  }

  readonly #onError = (error: unknown): void => {
    this.#isBusy = false;
    this.#warnUnyielded();
    this.#failure = { error };
    this.#advance();
  };

  #deliver(result: Result): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    if (result === this.#buffered) this.#buffered = undefined;
    if (!result.done && isFinal(result.value)) this.#isEnded = true;
    resolve?.(result);
  }

  #deliverFailure(error: unknown): void {
    this.#failure = undefined;
    this.#resolve = undefined;
    this.#reject?.(error);
  }

  /** Once per run: a loop repeats the same mistake. */
  #warnUnyielded(): void {
    const method = this.#events.findUnyielded();
    if (method === undefined || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#turn.log.warn(
      { verb: `ctx.${method}` },
      `ctx.${method}() was called, but its result was not yielded, so it has no effect: write \`yield ctx.${method}(…)\``,
    );
  }
}
