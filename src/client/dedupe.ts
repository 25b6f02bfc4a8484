import type { JsonObject } from "../lib/json.ts";
import { type Artifact, isSettled, type Message, type Part, textOf } from "../model/index.ts";
import type { ClientDialect } from "./client-protocol.ts";
import { NOTHING_SEEN, type Seen, unseenAppended, unseenWhole } from "./new-parts.ts";
import type { Item, Received, RemoteState } from "./types.ts";

/** What an agent somewhere else says, each thing once: of snapshots only what is new. */
export type Heard = HeardArtifact | HeardStatus | HeardEnd;

export interface HeardArtifact {
  readonly kind: "artifact";
  readonly artifact: Artifact;
  readonly append: boolean;
  readonly last: boolean;
  readonly metadata?: JsonObject;
}
/** On the way. */
export interface HeardStatus {
  readonly kind: "status";
  readonly message: Message;
  readonly metadata?: JsonObject;
}
/** Nothing more is to come for now. */
export interface HeardEnd {
  readonly kind: "end";
  readonly state: RemoteState;
  readonly message?: Message;
  readonly metadata?: JsonObject;
  /** There is no task: the message is all. */
  readonly replied?: true;
}

/** From items to what is new in them. The last thing is always the end; what breaks off throws. */
export async function* hear(
  items: AsyncIterable<Received>,
  { repeatsWords }: Pick<ClientDialect, "repeatsWords">,
): AsyncGenerator<Heard> {
  const ear = new Ear();
  let end: HeardEnd | undefined;
  for await (const { item } of items) {
    end = endIn(item);
    yield* ear.take(item);
  }
  if (repeatsWords && end?.message && textOf(end.message.parts) === ear.words()) {
    const { message: _, ...rest } = end;
    yield rest;
  } else yield end ?? { kind: "end", state: "unknown" };
}

/** A state in which a follow-up finds the task is no end: what comes after it overrules it. */
function endIn(item: Item): HeardEnd | undefined {
  switch (item.kind) {
    case "message":
      return { kind: "end", state: "completed", message: item.message, replied: true };
    case "task":
      return toEnd(item.task.state, item.task.message, undefined);
    case "status":
      return toEnd(item.state, item.message, item.metadata);
    case "artifact":
      return undefined;
  }
}

function toEnd(
  state: RemoteState,
  message: Message | undefined,
  metadata: JsonObject | undefined,
): HeardEnd | undefined {
  if (state === "unknown" || !isSettled(state)) return undefined;
  return { kind: "end", state, ...(message && { message }), ...(metadata && { metadata }) };
}

class Ear {
  readonly #seen = new Map<string, Seen>();
  #said = "";

  /** All text of all artifacts. */
  words(): string {
    return [...this.#seen.values()].map(seen => seen.text).join("");
  }

  *take(item: Item): Generator<Heard> {
    if (item.kind === "artifact") yield* this.#artifact(item);
    else if (item.kind === "status") yield* this.#status(item.state, item.message, item.metadata);
    else if (item.kind === "task") {
      for (const artifact of item.task.artifacts) yield* this.#whole(artifact);
      yield* this.#status(item.task.state, item.task.message, undefined);
    }
  }

  *#status(
    state: RemoteState,
    message: Message | undefined,
    metadata: JsonObject | undefined,
  ): Generator<Heard> {
    const key = message && `${message.messageId} ${textOf(message.parts)}`;
    if (!message || !key || key === this.#said || (state !== "unknown" && isSettled(state))) return;
    this.#said = key;
    yield { kind: "status", message, ...(metadata && { metadata }) };
  }

  *#artifact(item: Item & { kind: "artifact" }): Generator<Heard> {
    const { artifact, append, last, metadata } = item;
    const { artifactId, parts } = artifact;
    const isKnown = this.#seen.has(artifactId);
    const known = (append && this.#seen.get(artifactId)) || NOTHING_SEEN;
    this.#seen.set(artifactId, unseenAppended(parts, known).seen);
    // An append to what is not there begins it.
    yield { kind: "artifact", artifact, append: append && isKnown, last, ...(metadata && { metadata }) };
  }

  *#whole(artifact: Artifact): Generator<Heard> {
    const { artifactId } = artifact;
    const known = this.#seen.get(artifactId) ?? NOTHING_SEEN;
    const { parts, seen, replaced } = unseenWhole(artifact.parts, known);
    this.#seen.set(artifactId, seen);
    if (parts.length === 0) return;
    const append = known !== NOTHING_SEEN && !replaced;
    const said = append ? { artifactId, parts } : { ...artifact, parts: joinTexts(parts) };
    yield { kind: "artifact", artifact: said, append, last: false };
  }
}

/** Servers that keep streamed words as many parts show in a snapshot what would have been one text. */
function joinTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    if (before && isPlain(before) && isPlain(part))
      joined[joined.length - 1] = { ...before, text: before.text + part.text };
    else joined.push(part);
  }
  return joined;
}

/** Text and nothing that belongs to this piece of it alone. */
export const isPlain = (part: Part): part is Part & { kind: "text" } =>
  part.kind === "text" && !part.mediaType && !part.filename && !part.metadata;
