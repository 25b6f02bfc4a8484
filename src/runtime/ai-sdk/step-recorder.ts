import type { Ctx } from "../../agent/definition.ts";
import type { Json } from "../../lib/json.ts";
import { toPlain } from "../shared/to-plain.ts";
import { begin, type Message, type Part, type Step, type StreamingAgent } from "./agent.ts";
import { resultsOf } from "./open-calls.ts";
import { joined, toWords, type VoiceSettings, type Words } from "./output-writer.ts";

/** What a step of an agent leaves: what it said to its caller, and what it is told itself in the next one. */
export interface Kept {
  readonly words: readonly Words[];
  readonly messages: readonly Json[];
  readonly finishReason?: string;
  /** There was nothing more to do. */
  readonly isEnd?: true;
}

export interface LiveParts {
  readonly agent: StreamingAgent;
  readonly options: unknown;
  readonly ctx: Ctx;
  readonly settings: VoiceSettings;
}

export interface Hearer {
  /** A model begins to answer. */
  beginStep(): void;
  hear(words: Words): Promise<void>;
}

type Left = Omit<Kept, "words">;

/** An agent at work. It goes on with its next step only when the one before is on record. */
export class Live {
  readonly #parts: LiveParts;
  readonly #closed = new AbortController();
  #stream: AsyncIterator<Part> | undefined;
  #next: Promise<Part | undefined> | undefined;
  #words: Words[] = [];
  #left: Left | undefined;
  #broken: { readonly error: unknown } | undefined;
  #news = Promise.withResolvers<undefined>();
  #goOn: () => void = () => {};

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  /** Works on to the end of a step. `messages`: all that was said before it, by whomever. */
  async step(messages: readonly Json[], hearer: Hearer): Promise<Kept> {
    if (this.#stream) this.#goOn();
    else this.#stream = await this.#begin(messages);
    for (;;) {
      if (this.#broken) throw this.#broken.error;
      if (this.#left) return this.#take(this.#left);
      const part = await Promise.race([this.#part(), this.#news.promise]);
      if (part === undefined) this.#news = Promise.withResolvers();
      else if (part.type === "end") return { words: joined(this.#words), messages: [], isEnd: true };
      else await this.#listen(part, hearer);
    }
  }

  /** Whatever it is doing, it need not go on. */
  close(): void {
    this.#closed.abort(new Error("nobody listens any more"));
    this.#next?.catch(() => {});
    this.#goOn();
  }

  #begin(messages: readonly Json[]): Promise<AsyncIterator<Part>> {
    const { agent, options, ctx } = this.#parts;
    let isFirst = true;
    return begin(agent, {
      messages,
      abortSignal: AbortSignal.any([ctx.signal, this.#closed.signal]),
      ...(options !== undefined && { options }),
      onStepStart: event =>
        this.#leave(() => {
          const results = isFirst ? resultsOf(event.messages, messages as unknown as readonly Message[]) : [];
          isFirst = false;
          return results.length === 0 ? undefined : { messages: results.map(one => toPlain(one)) };
        }),
      onStepEnd: step => this.#leave(() => this.#leaveStep(step)),
    });
  }

  #leaveStep({ response, usage, finishReason }: Step): Left {
    const { inputTokens, outputTokens, totalTokens } = usage;
    this.#parts.ctx.usage({ inputTokens, outputTokens, totalTokens });
    return { messages: response.messages.map(one => toPlain(one)), finishReason };
  }

  /** Resolves when it may go on. The SDK does not tell anybody what is thrown here. */
  async #leave(make: () => Left | undefined): Promise<void> {
    try {
      this.#left = make();
      if (!this.#left) return;
    } catch (error) {
      this.#broken = { error };
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#goOn = resolve;
    this.#news.resolve(undefined);
    if (!this.#closed.signal.aborted) await promise;
  }

  #take(left: Left): Kept {
    const words = joined(this.#words);
    this.#words = [];
    this.#left = undefined;
    return { ...left, words };
  }

  /** The same one until it is there. */
  #part(): Promise<Part | undefined> {
    this.#next ??= (this.#stream as AsyncIterator<Part>).next().then(({ value, done }) => {
      this.#next = undefined;
      return done ? END : (value as Part);
    });
    return this.#next;
  }

  async #listen(part: Part, hearer: Hearer): Promise<void> {
    const { ctx, settings } = this.#parts;
    if (part.type === "error") throw toError(part.error);
    if (part.type === "abort") {
      ctx.signal.throwIfAborted();
      throw new Error(`The agent was stopped: ${part.reason ?? "it did not say why"}`);
    }
    if (part.type === "tool-error") ctx.log.warn({ err: part.error, tool: part.toolName }, "a tool failed");
    if (part.type === "start-step") hearer.beginStep();
    const words = toWords(part, settings);
    if (!words) return;
    this.#words.push(words);
    await hearer.hear(words);
  }
}

const END: Part = { type: "end" };

const toError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(typeof error === "string" ? error : JSON.stringify(error));
