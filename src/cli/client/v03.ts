import type { Json, JsonObject, Part, TaskState } from "../../model/index.ts";
import { defined } from "../../model/index.ts";
import type { ClientDialect } from "./dialect.ts";
import * as read from "./read.ts";
import type { Draft, Item, RemoteState } from "./view.ts";

/** v0.3 spells states as we do. */
const STATES: Readonly<Record<TaskState, RemoteState>> = {
  submitted: "submitted",
  working: "working",
  "input-required": "input-required",
  "auth-required": "auth-required",
  completed: "completed",
  failed: "failed",
  canceled: "canceled",
  rejected: "rejected",
};

const SPELLING: read.Spelling = { states: STATES, readPart };

function readPart(part: JsonObject): Part {
  if (typeof part.text === "string") return { kind: "text", text: part.text };
  if (read.has(part, "file")) return readFile(read.asObject(part.file));
  // What is no object travels in an envelope of its own: the convention of the official SDKs.
  const wrapped = read.asObject(part.metadata).data_part_compat === true;
  return { kind: "data", data: (wrapped ? read.asObject(part.data).value : part.data) ?? null };
}

function readFile(file: JsonObject): Part {
  const extras = defined<{ filename?: string; mediaType?: string }>({
    filename: read.asText(file.name),
    mediaType: read.asText(file.mimeType),
  });
  // Some servers say `data` for `bytes`, as an example in the specification does.
  const bytes = read.asText(file.bytes) ?? read.asText(file.data);
  if (bytes !== undefined) return { kind: "bytes", bytes, ...extras };
  return { kind: "url", url: read.asText(file.uri) ?? "", ...extras };
}

function writePart(part: Part): JsonObject {
  if (part.kind === "text") return { kind: "text", text: part.text };
  if (part.kind === "data") return writeData(part.data);
  const named = defined<JsonObject>({ name: part.filename, mimeType: part.mediaType });
  const file = part.kind === "bytes" ? { bytes: part.bytes, ...named } : { uri: part.url, ...named };
  return { kind: "file", file };
}

function writeData(data: Json): JsonObject {
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  if (isObject) return { kind: "data", data };
  return { kind: "data", data: { value: data }, metadata: { data_part_compat: true } };
}

function writeSend(draft: Draft): JsonObject {
  const message = defined<JsonObject>({
    kind: "message",
    messageId: draft.messageId,
    role: "user",
    parts: draft.parts.map(writePart),
    taskId: draft.taskId,
    contextId: draft.contextId,
  });
  // Said openly, because servers disagree on what silence means.
  return { message, configuration: { blocking: true } };
}

/** By `kind`; servers that leave it out are told by their members. */
function kindOf(from: JsonObject): string | undefined {
  if (typeof from.kind === "string") return from.kind;
  if (read.has(from, "artifact")) return "artifact-update";
  if (read.has(from, "status")) return read.has(from, "taskId") ? "status-update" : "task";
  return read.has(from, "parts") ? "message" : undefined;
}

function readItem(result: Json): Item {
  const from = read.asObject(result);
  switch (kindOf(from)) {
    case "task":
      return { kind: "task", task: read.readTask(SPELLING, from) };
    case "message":
      return { kind: "message", message: read.readMessage(SPELLING, from) };
    case "status-update":
      return { kind: "status", ...read.readPlace(from), ...read.readStatus(SPELLING, from.status) };
    case "artifact-update": {
      const artifact = read.readArtifact(SPELLING, from.artifact);
      return { kind: "artifact", ...read.readPlace(from), artifact, append: from.append === true };
    }
    default:
      throw read.notAnAnswer();
  }
}

export const v03: ClientDialect = {
  version: "0.3",
  methods: {
    send: "message/send",
    stream: "message/stream",
    get: "tasks/get",
    cancel: "tasks/cancel",
    subscribe: "tasks/resubscribe",
  },
  list: null,
  writeSend,
  readItem,
  readTask: result => read.readTask(SPELLING, result),
};
