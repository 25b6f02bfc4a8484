/** The `task` argument of a function. */
import type { AgentFile } from "../../agent/content.ts";
import type { AgentTask } from "../../agent/context.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { mediaTypeOf, mergeData, textOf } from "../../model/index.ts";
import type { Turn } from "../../ports/index.ts";

const EMPTY_OBJECT: JsonObject = Object.freeze({});
const EMPTY_LIST: readonly never[] = Object.freeze([]);

/** `skill`: the one that the caller named or meant, if it is one of the agent's. */
export function toAgentTask({ task, message }: Turn, skill?: string | undefined): AgentTask {
  return {
    id: task.id,
    contextId: task.contextId,
    thread: task.thread ?? task.contextId,
    accepts: task.accepts ?? EMPTY_LIST,
    text: textOf(message.parts),
    data: message.parts.find(part => part.kind === "data")?.data,
    input: mergeData(message.parts) ?? EMPTY_OBJECT,
    skill,
    answers: task.answers ?? EMPTY_OBJECT,
    files: toFiles(message.parts),
    message,
    history: task.history,
    turn: task.turn,
    metadata: task.metadata ?? EMPTY_OBJECT,
    request: task.request?.body,
  };
}

function toFiles(parts: readonly Part[]): readonly AgentFile[] {
  const files: AgentFile[] = [];
  for (const part of parts) {
    if (part.kind !== "bytes" && part.kind !== "url") continue;
    files.push(toFile(part, part.filename ?? `file-${files.length + 1}`));
  }
  return files.length > 0 ? files : EMPTY_LIST;
}

function toFile(part: Part & { kind: "bytes" | "url" }, name: string): AgentFile {
  const mediaType = mediaTypeOf(part);
  if (part.kind === "url") return { name, mediaType, url: part.url };
  let bytes: Uint8Array | undefined;
  return {
    name,
    mediaType,
    // Decoded on first use: many agents only forward a file or read its name.
    get bytes() {
      bytes ??= Buffer.from(part.bytes, "base64");
      return bytes;
    },
  };
}
