import { type Part, textOf } from "../model/index.ts";
import { type ContentAmount, countOthers, skipContent } from "./new-parts.ts";
import type { StreamResponse } from "./types.ts";

const toAmount = (parts: readonly Part[]): ContentAmount => ({
  chars: textOf(parts).length,
  others: countOthers(parts),
});

/** Counts the content of a stream. When the server replays the stream from its beginning, the counted content is skipped. */
export class ReplayFilter {
  readonly #received = new Map<string, ContentAmount>();
  readonly #toSkip = new Map<string, ContentAmount>();
  #statuses = 0;
  #statusesToSkip = 0;

  /** The server now replays the stream. */
  begin(): void {
    this.#toSkip.clear();
    for (const [id, amount] of this.#received) this.#toSkip.set(id, { ...amount });
    this.#statusesToSkip = this.#statuses;
  }

  /** The response without replayed content; null: all of it is replayed. */
  take(item: StreamResponse): StreamResponse | null {
    switch (item.kind) {
      case "message":
        return item;
      case "status":
        return this.#takeStatus(item);
      case "artifact":
        return this.#takeArtifact(item);
      case "task":
        this.#toSkip.clear();
        for (const { artifactId, parts } of item.task.artifacts)
          this.#received.set(artifactId, toAmount(parts));
        return item;
    }
  }

  #takeStatus(item: StreamResponse & { kind: "status" }): StreamResponse | null {
    if (this.#statusesToSkip > 0) {
      this.#statusesToSkip -= 1;
      return null;
    }
    this.#statuses += 1;
    return item;
  }

  #takeArtifact(item: StreamResponse & { kind: "artifact" }): StreamResponse | null {
    const { artifactId, parts } = item.artifact;
    const toSkip = this.#toSkip.get(artifactId);
    if (toSkip) {
      const rest = skipContent(parts, toSkip);
      if (toSkip.chars === 0 && toSkip.others === 0) this.#toSkip.delete(artifactId);
      if (rest.length === 0) return null;
      this.#add(artifactId, rest);
      return { ...item, append: true, artifact: { ...item.artifact, parts: rest } };
    }
    if (!item.append) this.#received.set(artifactId, { chars: 0, others: 0 });
    this.#add(artifactId, parts);
    return item;
  }

  #add(artifactId: string, parts: readonly Part[]): void {
    const received = this.#received.get(artifactId) ?? { chars: 0, others: 0 };
    const { chars, others } = toAmount(parts);
    this.#received.set(artifactId, { chars: received.chars + chars, others: received.others + others });
  }
}
