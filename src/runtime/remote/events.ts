/** From what an agent somewhere else says to what our task says. */
import type { AgentTask } from "../../agent/definition.ts";
import { type HeardArtifact, isPlain } from "../../client/dedupe.ts";
import type { RemoteState } from "../../client/types.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Message, Part } from "../../model/index.ts";
import { LIMITS } from "../../model/index.ts";
import type { AgentEvent } from "../../ports/index.ts";

/** What of one part goes into one event: what is longer goes in pieces. */
const TEXT_CHARS_MAX = LIMITS.eventBytesMax / 8;

/** Adding to an artifact stays adding; words go on where the last ones ended. */
export function* toArtifacts(heard: HeardArtifact): Generator<AgentEvent & { type: "artifact" }> {
  const { artifact, last, metadata } = heard;
  const pieces = inPieces(artifact.parts);
  for (const [at, parts] of pieces.entries()) {
    const append = heard.append || at > 0;
    const [first] = parts;
    const said = at === 0 ? artifact : { artifactId: artifact.artifactId };
    yield {
      type: "artifact",
      artifact: { ...said, parts },
      append,
      join: append && first !== undefined && isPlain(first),
      last: last && at === pieces.length - 1,
      ...(metadata && { metadata }),
    };
  }
}

/** Parts in portions that an event can hold. */
function inPieces(parts: readonly Part[]): readonly (readonly Part[])[] {
  const pieces: Part[][] = [];
  let weight = 0;
  for (const part of parts.flatMap(cut)) {
    const own = weightOf(part);
    const isFull = weight + own > TEXT_CHARS_MAX || (pieces.at(-1)?.length ?? 0) >= LIMITS.partsMax;
    if (pieces.length === 0 || isFull) {
      pieces.push([]);
      weight = 0;
    }
    (pieces.at(-1) as Part[]).push(part);
    weight += own;
  }
  return pieces;
}

function cut(part: Part): readonly Part[] {
  if (!isPlain(part) || part.text.length <= TEXT_CHARS_MAX) return [part];
  const pieces: Part[] = [];
  for (let at = 0; at < part.text.length; at += TEXT_CHARS_MAX)
    pieces.push({ kind: "text", text: part.text.slice(at, at + TEXT_CHARS_MAX) });
  return pieces;
}

function weightOf(part: Part): number {
  if (part.kind === "text") return part.text.length;
  if (part.kind === "bytes") return part.bytes.length;
  return part.kind === "url" ? part.url.length : JSON.stringify(part.data).length;
}

/** A message as our task says it. `nth`: where it has no id of its own. */
export function toMessage(message: Message, task: AgentTask, nth: number): Message {
  const { taskId: _task, contextId: _context, referenceTaskIds: _others, ...said } = message;
  const messageId = said.messageId || `${task.id}-${task.turn}-${nth}`;
  return { ...said, messageId, role: "agent", taskId: task.id, contextId: task.contextId };
}

export const toStatus = (
  state: Exclude<RemoteState, "unknown" | "submitted">,
  message: Message | undefined,
  metadata: JsonObject | undefined,
): AgentEvent => ({
  type: "status",
  state,
  ...(message && message.parts.length > 0 && { message }),
  ...(metadata && { metadata }),
});
