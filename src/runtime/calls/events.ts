/** Converts updates of a remote agent to events of our task. */
import type { AgentTask } from "../../agent/context.ts";
import { type ArtifactUpdate, isPlainText } from "../../client/dedupe.ts";
import type { RemoteState } from "../../client/types.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Message, Part } from "../../model/index.ts";
import { LIMITS } from "../../model/index.ts";
import type { AgentEvent } from "../../ports/index.ts";

/** The maximum text length per event; longer text is split. */
const TEXT_CHARS_MAX = LIMITS.eventBytesMax / 8;

/** Appended text continues the last text part of the artifact. */
export function* toArtifactEvents(update: ArtifactUpdate): Generator<AgentEvent & { type: "artifact" }> {
  const { artifact, last, metadata } = update;
  const portions = splitParts(artifact.parts);
  for (const [at, parts] of portions.entries()) {
    const append = update.append || at > 0;
    const [first] = parts;
    const header = at === 0 ? artifact : { artifactId: artifact.artifactId };
    yield {
      type: "artifact",
      artifact: { ...header, parts },
      append,
      join: append && first !== undefined && isPlainText(first),
      last: last && at === portions.length - 1,
      ...(metadata && { metadata }),
    };
  }
}

/** Portions that fit into one event. */
function splitParts(parts: readonly Part[]): readonly (readonly Part[])[] {
  const portions: Part[][] = [];
  let size = 0;
  for (const part of parts.flatMap(splitText)) {
    const partSize = sizeOf(part);
    const isFull = size + partSize > TEXT_CHARS_MAX || (portions.at(-1)?.length ?? 0) >= LIMITS.partsMax;
    if (portions.length === 0 || isFull) {
      portions.push([]);
      size = 0;
    }
    (portions.at(-1) as Part[]).push(part);
    size += partSize;
  }
  return portions;
}

function splitText(part: Part): readonly Part[] {
  if (!isPlainText(part) || part.text.length <= TEXT_CHARS_MAX) return [part];
  const pieces: Part[] = [];
  for (let at = 0; at < part.text.length; at += TEXT_CHARS_MAX)
    pieces.push({ kind: "text", text: part.text.slice(at, at + TEXT_CHARS_MAX) });
  return pieces;
}

function sizeOf(part: Part): number {
  if (part.kind === "text") return part.text.length;
  if (part.kind === "bytes") return part.bytes.length;
  return part.kind === "url" ? part.url.length : JSON.stringify(part.data).length;
}

/** The message as a message of our task. `nth`: part of its id, if it has none. */
export function toMessage(message: Message, task: AgentTask, nth: number): Message {
  const { taskId: _task, contextId: _context, referenceTaskIds: _others, ...rest } = message;
  const messageId = rest.messageId || `${task.id}-${task.turn}-${nth}`;
  return { ...rest, messageId, role: "agent", taskId: task.id, contextId: task.contextId };
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
