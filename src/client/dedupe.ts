import type { JsonObject } from "../lib/json.ts";
import { type Artifact, isSettled, type Message, type Part, textOf } from "../model/index.ts";
import type { ClientDialect } from "./client-protocol.ts";
import { appendParts, findNewParts, NOTHING_SEEN, type SeenParts } from "./new-parts.ts";
import type { ReceivedResponse, RemoteState, StreamResponse } from "./types.ts";

/** Output of a remote agent without repetitions: of a snapshot only the new parts. */
export type AgentUpdate = ArtifactUpdate | StatusUpdate | FinalUpdate;

export interface ArtifactUpdate {
  readonly kind: "artifact";
  readonly artifact: Artifact;
  readonly append: boolean;
  readonly last: boolean;
  readonly metadata?: JsonObject;
}
/** A message while the task is working. */
export interface StatusUpdate {
  readonly kind: "status";
  readonly message: Message;
  readonly metadata?: JsonObject;
}
/** The task has ended, or waits for input or authorization. */
export interface FinalUpdate {
  readonly kind: "end";
  readonly state: RemoteState;
  readonly message?: Message;
  readonly metadata?: JsonObject;
  /** The agent responded with this message instead of a task. */
  readonly replied?: true;
}

/** Removes repetitions from the responses of an agent. The last update is always a `FinalUpdate`. */
export async function* dedupe(
  responses: AsyncIterable<ReceivedResponse>,
  { repeatsText }: Pick<ClientDialect, "repeatsText">,
): AsyncGenerator<AgentUpdate> {
  const deduper = new Deduper();
  let lastMessage = "";
  let end: FinalUpdate | undefined;
  for await (const { item } of responses) {
    end = toFinalUpdate(item);
    yield* deduper.takeArtifacts(item);
    const status = toStatusUpdate(item);
    const key = status && `${status.message.messageId} ${textOf(status.message.parts)}`;
    if (!status || !key || key === lastMessage) continue;
    lastMessage = key;
    yield status;
  }
  if (repeatsText && end?.message && textOf(end.message.parts) === deduper.artifactText()) {
    const { message: _, ...rest } = end;
    yield rest;
  } else yield end ?? { kind: "end", state: "unknown" };
}

function toStatusUpdate(item: StreamResponse): StatusUpdate | undefined {
  if (item.kind === "artifact" || item.kind === "message") return undefined;
  const { state, message } = item.kind === "task" ? item.task : item;
  if (!message || (state !== "unknown" && isSettled(state))) return undefined;
  const metadata = item.kind === "status" ? item.metadata : undefined;
  return { kind: "status", message, ...(metadata && { metadata }) };
}

/** A settled state at the beginning of a follow-up is not final: later responses replace it. */
function toFinalUpdate(item: StreamResponse): FinalUpdate | undefined {
  if (item.kind === "artifact") return undefined;
  if (item.kind === "message")
    return { kind: "end", state: "completed", message: item.message, replied: true };
  const { state, message } = item.kind === "task" ? item.task : item;
  if (state === "unknown" || !isSettled(state)) return undefined;
  const metadata = item.kind === "status" ? item.metadata : undefined;
  return { kind: "end", state, ...(message && { message }), ...(metadata && { metadata }) };
}

/** Knows the artifacts of a stream so far, so that a snapshot adds only what is new. */
export class Deduper {
  readonly #seen = new Map<string, SeenParts>();

  /** All text of all artifacts. */
  artifactText(): string {
    return [...this.#seen.values()].map(seen => seen.text).join("");
  }

  *takeArtifacts(item: StreamResponse): Generator<ArtifactUpdate> {
    if (item.kind === "artifact") yield* this.#artifact(item);
    else if (item.kind === "task")
      for (const artifact of item.task.artifacts) yield* this.#snapshot(artifact);
  }

  *#artifact(item: StreamResponse & { kind: "artifact" }): Generator<ArtifactUpdate> {
    const { artifact, append, last, metadata } = item;
    const { artifactId, parts } = artifact;
    const isKnown = this.#seen.has(artifactId);
    const known = (append && this.#seen.get(artifactId)) || NOTHING_SEEN;
    this.#seen.set(artifactId, appendParts(parts, known).seen);
    // An append to an unknown artifact creates it.
    yield { kind: "artifact", artifact, append: append && isKnown, last, ...(metadata && { metadata }) };
  }

  *#snapshot(artifact: Artifact): Generator<ArtifactUpdate> {
    const { artifactId } = artifact;
    const known = this.#seen.get(artifactId) ?? NOTHING_SEEN;
    const { parts, seen, replaced } = findNewParts(artifact.parts, known);
    this.#seen.set(artifactId, seen);
    if (parts.length === 0) return;
    const append = known !== NOTHING_SEEN && !replaced;
    const update = append ? { artifactId, parts } : { ...artifact, parts: joinTexts(parts) };
    yield { kind: "artifact", artifact: update, append, last: false };
  }
}

/** Some servers store each streamed chunk as a text part of its own. */
function joinTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    if (before && isPlainText(before) && isPlainText(part))
      joined[joined.length - 1] = { ...before, text: before.text + part.text };
    else joined.push(part);
  }
  return joined;
}

/** A text part without members that belong to this part only. */
export const isPlainText = (part: Part): part is Part & { kind: "text" } =>
  part.kind === "text" && !part.mediaType && !part.filename && !part.metadata;
