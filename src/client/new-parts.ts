import { type Part, textOf } from "../model/index.ts";

/** The content of an artifact that was reported so far. */
export interface SeenParts {
  readonly text: string;
  /** The number of parts that are not text. */
  readonly others: number;
}

export const NOTHING_SEEN: SeenParts = { text: "", others: 0 };

export interface NewParts {
  readonly parts: readonly Part[];
  readonly seen: SeenParts;
  /** The artifact has other content than before, so all of it is new. */
  readonly replaced: boolean;
}

export const countOthers = (parts: readonly Part[]): number =>
  parts.filter(part => part.kind !== "text").length;

/** Parts appended to an artifact are all new. */
export function appendParts(parts: readonly Part[], seen: SeenParts): NewParts {
  const now = { text: seen.text + textOf(parts), others: seen.others + countOthers(parts) };
  return { parts, seen: now, replaced: false };
}

/** The new parts of a whole artifact: after a lost connection a snapshot repeats earlier parts. */
export function findNewParts(parts: readonly Part[], seen: SeenParts): NewParts {
  const now = { text: textOf(parts), others: countOthers(parts) };
  if (!now.text.startsWith(seen.text) || now.others < seen.others)
    return { parts, seen: now, replaced: seen !== NOTHING_SEEN };
  return {
    parts: skipContent(parts, { chars: seen.text.length, others: seen.others }),
    seen: now,
    replaced: false,
  };
}

/** An amount of content: characters of text, and parts that are not text. */
export interface ContentAmount {
  chars: number;
  others: number;
}

/** The parts without the first `amount`, which is reduced by the skipped content. */
export function skipContent(parts: readonly Part[], amount: ContentAmount): readonly Part[] {
  const rest: Part[] = [];
  for (const part of parts) {
    if (part.kind !== "text") {
      if (amount.others > 0) amount.others -= 1;
      else rest.push(part);
      continue;
    }
    const skipped = Math.min(amount.chars, part.text.length);
    amount.chars -= skipped;
    if (skipped < part.text.length)
      rest.push(skipped === 0 ? part : { ...part, text: part.text.slice(skipped) });
  }
  return rest;
}
