/** Output of a model or graph in a form that can be stored and written again after a crash. */
import type { AgentOutput, Ctx } from "../../agent/context.ts";
import type { Json, JsonObject } from "../../lib/json.ts";

/** `message`: text of another message begins a paragraph. */
export interface TextOutput {
  readonly text: string;
  readonly message?: string;
}
export interface StatusOutput {
  readonly status: string;
}
export interface DataOutput {
  readonly data: Json;
  readonly name?: string;
  readonly artifactId?: string;
}
export type RuntimeOutput =
  | TextOutput
  | StatusOutput
  | DataOutput
  | { readonly reasoning: string }
  | { readonly call: JsonObject }
  | { readonly result: JsonObject }
  | { readonly file: { readonly bytes: string; readonly mediaType: string } };

/** The maximum length of the text of one event; merged text can be longer. */
const TEXT_CHARS_MAX = 1_000_000;

/** Converts output to events. */
export class OutputWriter {
  readonly #ctx: Ctx;
  /** Between two paragraphs of the response. */
  readonly #separator: string;
  #message: string | undefined;
  #startsParagraph = false;
  #files = 0;
  hasText = false;

  constructor(ctx: Ctx, separator: string) {
    this.#ctx = ctx;
    this.#separator = separator;
  }

  beginParagraph(): void {
    this.#startsParagraph = this.hasText;
  }

  *write(output: RuntimeOutput): Generator<AgentOutput> {
    if ("text" in output) yield* this.#text(output);
    else if ("reasoning" in output) yield this.#ctx.text(output.reasoning, { name: "reasoning" });
    else if ("status" in output) yield this.#ctx.status(output.status);
    else if ("file" in output) yield this.#file(output.file);
    else if ("data" in output) {
      const { data, ...options } = output;
      yield this.#ctx.data(data, options);
    } else {
      const [name, data] = "call" in output ? ["tool-call", output.call] : ["tool-result", output.result];
      yield this.#ctx.data(data, { name, artifactId: `${name}-${data.id}` });
    }
  }

  *#text({ text, message }: TextOutput): Generator<AgentOutput> {
    const isParagraph = this.#startsParagraph || (this.hasText && message !== this.#message);
    const whole = isParagraph ? this.#separator + text : text;
    this.#startsParagraph = false;
    this.#message = message;
    this.hasText = true;
    for (let start = 0; start < whole.length; ) {
      const cut = start + TEXT_CHARS_MAX;
      // Surrogate pairs stay together.
      const end = /[\uD800-\uDBFF]/.test(whole[cut - 1] ?? "") ? cut + 1 : cut;
      yield this.#ctx.text(whole.slice(start, end));
      start = end;
    }
  }

  #file({ bytes, mediaType }: { readonly bytes: string; readonly mediaType: string }): AgentOutput {
    this.#files += 1;
    const extension = /\/([\w-]+)/.exec(mediaType)?.[1] ?? "bin";
    return this.#ctx.file({ name: `file-${this.#files}.${extension}`, bytes, mediaType });
  }
}

/** One output for two consecutive ones; undefined: they cannot be merged. */
export function mergeOutput(first: RuntimeOutput, second: RuntimeOutput): RuntimeOutput | undefined {
  if ("text" in first && "text" in second && first.message === second.message)
    return { ...first, text: first.text + second.text };
  if ("reasoning" in first && "reasoning" in second) return { reasoning: first.reasoning + second.reasoning };
  return undefined;
}

/** `merge` returns undefined for two items that stay separate. */
export function mergeAdjacent<T>(
  items: readonly T[],
  merge: (first: T, second: T) => T | undefined,
): readonly T[] {
  const merged: T[] = [];
  for (const item of items) {
    const last = merged.at(-1);
    const both = last === undefined ? undefined : merge(last, item);
    if (both === undefined) merged.push(item);
    else merged[merged.length - 1] = both;
  }
  return merged;
}
