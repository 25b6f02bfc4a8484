import type { Ctx } from "../../agent/context.ts";
import type { Json } from "../../lib/json.ts";
import { mergeAdjacent, mergeOutput, type RuntimeOutput } from "../shared/output-writer.ts";
import { toPlain } from "../shared/to-plain.ts";
import {
  type ModelMessage,
  type ModelStep,
  type StreamingAgent,
  type StreamPart,
  startStream,
} from "./agent.ts";
import { findApprovedResults } from "./open-calls.ts";
import { type OutputFilter, toOutput } from "./stream-output.ts";

/** The recorded result of a step: its output for the caller, and its messages for the next step. */
export interface RecordedStep {
  /** The output; stored under this name. */
  readonly words: readonly RuntimeOutput[];
  readonly messages: readonly Json[];
  readonly finishReason?: string;
  /** There was no further step. */
  readonly isEnd?: true;
}

export interface StepRunnerParts {
  readonly agent: StreamingAgent;
  readonly options: unknown;
  readonly ctx: Ctx;
  readonly filter: OutputFilter;
}

export interface OutputListener {
  onStepStart(): void;
  onOutput(output: RuntimeOutput): Promise<void>;
}

type StepResult = Omit<RecordedStep, "words">;

/** A running agent. It starts its next step only when the one before is recorded. */
export class StepRunner {
  readonly #parts: StepRunnerParts;
  readonly #closed = new AbortController();
  #stream: AsyncIterator<StreamPart> | undefined;
  #nextPart: Promise<StreamPart | undefined> | undefined;
  #output: RuntimeOutput[] = [];
  #result: StepResult | undefined;
  #failure: { readonly error: unknown } | undefined;
  #changed = Promise.withResolvers<undefined>();
  #continue: () => void = () => {};

  constructor(parts: StepRunnerParts) {
    this.#parts = parts;
  }

  /** Runs to the end of a step. `messages`: all messages before it. */
  async step(messages: readonly Json[], listener: OutputListener): Promise<RecordedStep> {
    if (this.#stream) this.#continue();
    else this.#stream = await this.#start(messages);
    for (;;) {
      if (this.#failure) throw this.#failure.error;
      if (this.#result) return this.#takeResult(this.#result);
      const part = await Promise.race([this.#readPart(), this.#changed.promise]);
      if (part === undefined) this.#changed = Promise.withResolvers();
      else if (part.type === "end") return { words: this.#takeOutput(), messages: [], isEnd: true };
      else await this.#process(part, listener);
    }
  }

  close(): void {
    this.#closed.abort(new Error("the output is no longer read"));
    this.#nextPart?.catch(() => {});
    this.#continue();
  }

  #start(messages: readonly Json[]): Promise<AsyncIterator<StreamPart>> {
    const { agent, options, ctx } = this.#parts;
    let isFirst = true;
    return startStream(agent, {
      messages,
      abortSignal: AbortSignal.any([ctx.signal, this.#closed.signal]),
      ...(options !== undefined && { options }),
      onStepStart: event =>
        this.#report(() => {
          const before = messages as unknown as readonly ModelMessage[];
          const results = isFirst ? findApprovedResults(event.messages, before) : [];
          isFirst = false;
          return results.length === 0 ? undefined : { messages: results.map(one => toPlain(one)) };
        }),
      onStepEnd: step => this.#report(() => this.#toResult(step)),
    });
  }

  #toResult({ response, usage, finishReason }: ModelStep): StepResult {
    const { inputTokens, outputTokens, totalTokens } = usage;
    this.#parts.ctx.usage({ inputTokens, outputTokens, totalTokens });
    return { messages: response.messages.map(one => toPlain(one)), finishReason };
  }

  /** Blocks the agent until the result is recorded. The SDK ignores errors in its callbacks, so they are kept here. */
  async #report(create: () => StepResult | undefined): Promise<void> {
    try {
      this.#result = create();
      if (!this.#result) return;
    } catch (error) {
      this.#failure = { error };
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#continue = resolve;
    this.#changed.resolve(undefined);
    if (!this.#closed.signal.aborted) await promise;
  }

  #takeResult(result: StepResult): RecordedStep {
    this.#result = undefined;
    return { ...result, words: this.#takeOutput() };
  }

  #takeOutput(): readonly RuntimeOutput[] {
    const output = mergeAdjacent(this.#output, mergeOutput);
    this.#output = [];
    return output;
  }

  /** The same promise until the part has arrived. */
  #readPart(): Promise<StreamPart | undefined> {
    this.#nextPart ??= (this.#stream as AsyncIterator<StreamPart>).next().then(({ value, done }) => {
      this.#nextPart = undefined;
      return done ? END : (value as StreamPart);
    });
    return this.#nextPart;
  }

  async #process(part: StreamPart, listener: OutputListener): Promise<void> {
    const { ctx, filter } = this.#parts;
    if (part.type === "error") throw toError(part.error);
    if (part.type === "abort") {
      ctx.signal.throwIfAborted();
      throw new Error(`The agent was aborted: ${part.reason ?? "no reason given"}`);
    }
    if (part.type === "tool-error") ctx.log.warn({ err: part.error, tool: part.toolName }, "a tool failed");
    if (part.type === "start-step") listener.onStepStart();
    const output = toOutput(part, filter);
    if (!output) return;
    this.#output.push(output);
    await listener.onOutput(output);
  }
}

const END: StreamPart = { type: "end" };

const toError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(typeof error === "string" ? error : JSON.stringify(error));
