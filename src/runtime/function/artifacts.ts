/**
 * The artifacts of one run. Ids follow from turn and order: a second turn does not overwrite the artifacts of the first,
 * and a repeated attempt of the same turn replaces those of the attempt before.
 */
import type { ArtifactContent, DataOptions, FileContent, TextOptions } from "../../agent/content.ts";
import type { Json } from "../../lib/json.ts";
import { defined } from "../../lib/json.ts";
import type { Artifact, DataPart, Part } from "../../model/index.ts";
import type { AgentEvent, Turn } from "../../ports/index.ts";
import { toFilePart, toMetadata, toParts } from "./content.ts";

const RESPONSE = "response";

const suffixOf = (turn: Turn): string => (turn.task.turn > 1 ? `-${turn.task.turn}` : "");

/** Streamed text: the first chunk of a run creates an artifact, the others are appended. */
export class TextArtifacts {
  readonly #suffix: string;
  readonly #responseId: string;
  #hasResponse = false;
  #others: Set<string> | undefined;

  constructor(turn: Turn) {
    this.#suffix = suffixOf(turn);
    this.#responseId = RESPONSE + this.#suffix;
  }

  /** The hot path: allocates only the event. */
  chunk(text: string, last: boolean): AgentEvent {
    const artifactId = this.#responseId;
    const parts: readonly Part[] = [{ kind: "text", text }];
    if (this.#hasResponse)
      return { type: "artifact", artifact: { artifactId, parts }, append: true, last, join: true };
    this.#hasResponse = true;
    const artifact = { artifactId, name: RESPONSE, parts };
    return { type: "artifact", artifact, append: false, last, join: false };
  }

  named(text: string, options: TextOptions): AgentEvent {
    const name = options.name ?? RESPONSE;
    const artifactId = options.artifactId ?? name + this.#suffix;
    const append = this.#markStarted(artifactId);
    const artifact = defined<Artifact>({
      artifactId,
      name: append ? undefined : name,
      parts: [defined<Part>({ kind: "text", text, mediaType: options.mediaType })],
      metadata: options.metadata && toMetadata(options.metadata),
    });
    return { type: "artifact", artifact, append, last: options.last ?? false, join: append };
  }

  /** Whether the artifact had been started before. */
  #markStarted(artifactId: string): boolean {
    if (artifactId === this.#responseId) {
      const wasStarted = this.#hasResponse;
      this.#hasResponse = true;
      return wasStarted;
    }
    this.#others ??= new Set();
    const wasStarted = this.#others.has(artifactId);
    this.#others.add(artifactId);
    return wasStarted;
  }
}

/** Artifacts that are created by one event. */
export class WholeArtifacts {
  readonly #suffix: string;
  #count = 0;

  constructor(turn: Turn) {
    this.#suffix = suffixOf(turn);
  }

  data(value: unknown, options: DataOptions): AgentEvent {
    const parts = defined<DataPart>({ kind: "data", data: value as Json, mediaType: options.mediaType });
    return this.any({
      ...options,
      artifactId: options.artifactId ?? this.#nextId("data"),
      parts,
      last: true,
    });
  }

  file(content: FileContent): AgentEvent {
    const parts = toFilePart(content);
    const artifactId = content.artifactId ?? this.#nextId("file");
    const { name, description, metadata } = content;
    return this.any({ artifactId, name, description, metadata, parts, last: true });
  }

  any(content: ArtifactContent): AgentEvent {
    const artifact = defined<Artifact>({
      artifactId: content.artifactId ?? this.#nextId("artifact"),
      name: content.name,
      description: content.description,
      parts: toParts(content.parts),
      metadata: content.metadata && toMetadata(content.metadata),
      extensions: content.extensions,
    });
    const { append = false, last = false, join = false } = content;
    return { type: "artifact", artifact, append, last, join };
  }

  #nextId(kind: string): string {
    this.#count += 1;
    return `${kind}-${this.#count}${this.#suffix}`;
  }
}
