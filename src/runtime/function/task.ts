/** The `task` argument of a function. */
import type { AgentFile } from "../../agent/content.ts";
import type { AgentTask } from "../../agent/context.ts";
import type { JsonObject } from "../../lib/json.ts";
import { isObject } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { mediaTypeOf, textOf } from "../../model/index.ts";
import type { Turn } from "../../ports/index.ts";

const EMPTY_OBJECT: JsonObject = Object.freeze({});
const EMPTY_LIST: readonly never[] = Object.freeze([]);

export function toAgentTask({ task, message }: Turn): AgentTask {
  return {
    id: task.id,
    contextId: task.contextId,
    thread: task.thread ?? task.contextId,
    accepts: task.accepts ?? EMPTY_LIST,
    text: textOf(message.parts),
    data: message.parts.find(part => part.kind === "data")?.data,
    input: toInput(message.parts),
    answers: task.answers ?? EMPTY_OBJECT,
    files: toFiles(message.parts),
    message,
    history: task.history,
    turn: task.turn,
    metadata: task.metadata ?? EMPTY_OBJECT,
    request: task.request?.body,
  };
}

function toInput(parts: readonly Part[]): JsonObject {
  let input: JsonObject | undefined;
  for (const part of parts)
    if (part.kind === "data" && isObject(part.data)) input = { ...input, ...part.data };
  return input ?? EMPTY_OBJECT;
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
