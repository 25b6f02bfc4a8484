import { type Part, textOf } from "../model/index.ts";

/** What of an artifact was shown already. */
export interface Seen {
  readonly text: string;
  /** Parts that are not text. */
  readonly others: number;
}

export const NOTHING_SEEN: Seen = { text: "", others: 0 };

export interface Unseen {
  readonly parts: readonly Part[];
  readonly seen: Seen;
  /** The artifact was replaced by something else, so all of it is new. */
  readonly replaced: boolean;
}

const othersOf = (parts: readonly Part[]): number => parts.filter(part => part.kind !== "text").length;

/** More parts of an artifact. */
export function unseenAppended(parts: readonly Part[], seen: Seen): Unseen {
  const now = { text: seen.text + textOf(parts), others: seen.others + othersOf(parts) };
  return { parts, seen: now, replaced: false };
}

/** The artifact as it stands: after a lost connection a snapshot repeats what was shown before. */
export function unseenWhole(parts: readonly Part[], seen: Seen): Unseen {
  const now = { text: textOf(parts), others: othersOf(parts) };
  if (!now.text.startsWith(seen.text) || now.others < seen.others)
    return { parts, seen: now, replaced: seen !== NOTHING_SEEN };
  return { parts: skip(parts, seen), seen: now, replaced: false };
}

function skip(parts: readonly Part[], seen: Seen): readonly Part[] {
  let { others } = seen;
  let chars = seen.text.length;
  const rest: Part[] = [];
  for (const part of parts) {
    if (part.kind !== "text") {
      if (others-- <= 0) rest.push(part);
    } else if (chars < part.text.length) {
      rest.push({ ...part, text: part.text.slice(chars) });
      chars = 0;
    } else chars -= part.text.length;
  }
  return rest;
}
