/** What an agent says, before it is said: small enough to be kept and said again after a crash. */
import type { Ctx, Said } from "../../agent/definition.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { toPlain } from "../shared/to-plain.ts";
import type { Part } from "./agent.ts";

export type Words =
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly call: JsonObject }
  | { readonly result: JsonObject }
  | { readonly file: { readonly bytes: string; readonly mediaType: string } };

export interface VoiceSettings {
  readonly tools: boolean;
  readonly reasoning: boolean;
  /** Between the words of two steps. */
  readonly separator: string;
}

/** undefined: it is nothing that callers get. */
export function toWords(part: Part, { tools, reasoning }: VoiceSettings): Words | undefined {
  switch (part.type) {
    case "text-delta":
      return part.text ? { text: part.text } : undefined;
    case "reasoning-delta":
      return reasoning && part.text ? { reasoning: part.text } : undefined;
    case "file":
      return part.file && { file: { bytes: part.file.base64, mediaType: part.file.mediaType } };
    default:
      return tools ? toToolWords(part) : undefined;
  }
}

/** The reason why a tool failed is for the model and for the log. */
function toToolWords(part: Part): Words | undefined {
  const which = { id: part.toolCallId ?? "", tool: part.toolName ?? "" };
  const result = (status: string, more: { readonly result?: Json }): Words => ({
    result: { ...which, status, ...more } as JsonObject,
  });
  switch (part.type) {
    case "tool-call":
      return { call: { ...which, args: toPlain(part.input ?? {}) } };
    case "tool-result":
      return part.preliminary ? undefined : result("success", { result: toPlain(part.output) });
    case "tool-error":
      return result("error", {});
    case "tool-output-denied":
      return result("denied", {});
    default:
      return undefined;
  }
}

/** The same words in fewer pieces. */
export function joined(all: readonly Words[]): readonly Words[] {
  const result: Words[] = [];
  for (const words of all) {
    const last = result.at(-1);
    if (last && "text" in last && "text" in words)
      result[result.length - 1] = { text: last.text + words.text };
    else if (last && "reasoning" in last && "reasoning" in words)
      result[result.length - 1] = { reasoning: last.reasoning + words.reasoning };
    else result.push(words);
  }
  return result;
}

/** Puts words into events. */
export class Voice {
  readonly #ctx: Ctx;
  readonly #separator: string;
  #hasText = false;
  #isNew = false;
  #files = 0;

  constructor(ctx: Ctx, { separator }: VoiceSettings) {
    this.#ctx = ctx;
    this.#separator = separator;
  }

  /** Words of another step begin a paragraph. */
  beginStep(): void {
    this.#isNew = this.#hasText;
  }

  say(words: Words): Said {
    if ("text" in words) return this.#text(words.text);
    if ("reasoning" in words) return this.#ctx.text(words.reasoning, { name: "reasoning" });
    if ("file" in words) return this.#file(words.file);
    const [name, data] = "call" in words ? ["tool-call", words.call] : ["tool-result", words.result];
    return this.#ctx.data(data, { name, artifactId: `${name}-${data.id}` });
  }

  #text(text: string): Said {
    const between = this.#isNew ? this.#separator : "";
    this.#isNew = false;
    this.#hasText = true;
    return this.#ctx.text(between + text);
  }

  #file({ bytes, mediaType }: { readonly bytes: string; readonly mediaType: string }): Said {
    this.#files += 1;
    const ending = /\/([\w-]+)/.exec(mediaType)?.[1] ?? "bin";
    return this.#ctx.file({ name: `file-${this.#files}.${ending}`, bytes, mediaType });
  }
}
