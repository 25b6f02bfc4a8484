/** What a graph says, before it is said: small enough to be kept and said again after a crash. */
import type { Ctx, Said } from "../../agent/definition.ts";
import type { Json } from "../../lib/json.ts";

export type Words =
  /** `message`: words of one message go on, those of another begin a paragraph. */
  | { readonly text: string; readonly message?: string }
  | { readonly status: string }
  | { readonly data: Json; readonly name?: string; readonly artifactId?: string };

/** Puts words into events. */
export class Voice {
  readonly #ctx: Ctx;
  readonly #separator: string;
  #message: string | undefined;
  hasText = false;

  constructor(ctx: Ctx, separator: string) {
    this.#ctx = ctx;
    this.#separator = separator;
  }

  *say(words: Words): Generator<Said> {
    if ("status" in words) return yield this.#ctx.status(words.status);
    if ("data" in words) {
      const { data, ...options } = words;
      return yield this.#ctx.data(data, options);
    }
    const between = this.hasText && words.message !== this.#message ? this.#separator : "";
    this.hasText = true;
    this.#message = words.message;
    for (const piece of toPieces(between + words.text)) yield this.#ctx.text(piece);
  }
}

/** What one event carries; words that are said again are said whole. */
const PIECE_CHARS_MAX = 1_000_000;

function* toPieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const cut = at + PIECE_CHARS_MAX;
    // Not through the middle of a character.
    const end = /[\uD800-\uDBFF]/.test(text[cut - 1] ?? "") ? cut + 1 : cut;
    yield text.slice(at, end);
    at = end;
  }
}

/** Said by a task of the graph; `path`: the ids of the tasks that it is in, the innermost last. */
export interface Heard {
  readonly path: readonly string[];
  readonly words: Words;
}

/** The same words in fewer pieces. */
export function joined(all: readonly Heard[]): readonly Heard[] {
  const result: Heard[] = [];
  for (const heard of all) {
    const last = result.at(-1);
    const before = last?.words;
    const { words } = heard;
    if (last && before && "text" in before && "text" in words && before.message === words.message)
      result[result.length - 1] = { ...last, words: { ...before, text: before.text + words.text } };
    else result.push(heard);
  }
  return result;
}
