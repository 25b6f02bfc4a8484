import { type Part, textOf } from "../model/index.ts";
import type { Item } from "./types.ts";

interface Amount {
  chars: number;
  others: number;
}

const amountOf = (parts: readonly Part[]): Amount => ({
  chars: textOf(parts).length,
  others: parts.filter(part => part.kind !== "text").length,
});

/** Counts what a stream has told, so that a server that tells everything again is heard only from there on. */
export class Replay {
  readonly #told = new Map<string, Amount>();
  readonly #left = new Map<string, Amount>();
  #statuses = 0;
  #statusesLeft = 0;

  /** From here on everything comes once more. */
  begin(): void {
    this.#left.clear();
    for (const [id, amount] of this.#told) this.#left.set(id, { ...amount });
    this.#statusesLeft = this.#statuses;
  }

  /** What of it is new; null: nothing. */
  take(item: Item): Item | null {
    switch (item.kind) {
      case "message":
        return item;
      case "status":
        return this.#takeStatus(item);
      case "artifact":
        return this.#takeArtifact(item);
      case "task":
        this.#left.clear();
        for (const { artifactId, parts } of item.task.artifacts) this.#told.set(artifactId, amountOf(parts));
        return item;
    }
  }

  #takeStatus(item: Item & { kind: "status" }): Item | null {
    if (this.#statusesLeft > 0) {
      this.#statusesLeft -= 1;
      return null;
    }
    this.#statuses += 1;
    return item;
  }

  #takeArtifact(item: Item & { kind: "artifact" }): Item | null {
    const { artifactId, parts } = item.artifact;
    const left = this.#left.get(artifactId);
    if (left) {
      const rest = skipped(parts, left);
      if (left.chars === 0 && left.others === 0) this.#left.delete(artifactId);
      if (rest.length === 0) return null;
      this.#add(artifactId, rest);
      return { ...item, append: true, artifact: { ...item.artifact, parts: rest } };
    }
    if (!item.append) this.#told.set(artifactId, { chars: 0, others: 0 });
    this.#add(artifactId, parts);
    return item;
  }

  #add(artifactId: string, parts: readonly Part[]): void {
    const told = this.#told.get(artifactId) ?? { chars: 0, others: 0 };
    const { chars, others } = amountOf(parts);
    this.#told.set(artifactId, { chars: told.chars + chars, others: told.others + others });
  }
}

/** The parts without what is left to skip; what was skipped is no longer left. */
function skipped(parts: readonly Part[], left: Amount): readonly Part[] {
  const rest: Part[] = [];
  for (const part of parts) {
    if (part.kind !== "text") {
      if (left.others > 0) left.others -= 1;
      else rest.push(part);
      continue;
    }
    const known = Math.min(left.chars, part.text.length);
    left.chars -= known;
    if (known < part.text.length) rest.push(known === 0 ? part : { ...part, text: part.text.slice(known) });
  }
  return rest;
}
