import { type ClientDialect, USUAL } from "../../client/client-protocol.ts";
import * as read from "../../client/read.ts";
import type { Draft, Item, RemoteState, TaskRef } from "../../client/types.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { defined } from "../../lib/json.ts";
import type { Part, TaskState } from "../../model/index.ts";

/** v0.3 spells states as we do. */
export const STATES: Readonly<Record<TaskState, RemoteState>> = {
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

export function readPart(part: JsonObject): Part {
  const metadata = read.asMetadata(part.metadata);
  if (typeof part.text === "string") return { kind: "text", text: part.text, ...(metadata && { metadata }) };
  if (read.has(part, "file")) return readFile(read.asObject(part.file), metadata);
  return readData(part.data, metadata);
}

/** What is no object travels in an envelope of its own: the convention of the official SDKs. */
export function readData(data: Json | undefined, said: JsonObject | undefined): Part {
  const { data_part_compat: wrapped, ...rest } = said ?? {};
  const metadata = read.asMetadata(rest);
  const value = wrapped === true ? read.asObject(data).value : data;
  return { kind: "data", data: value ?? null, ...(metadata && { metadata }) };
}

function readFile(file: JsonObject, metadata: JsonObject | undefined): Part {
  const extras = defined<Pick<Part, "filename" | "mediaType" | "metadata">>({
    filename: read.asText(file.name) || undefined,
    mediaType: read.asText(file.mimeType) || undefined,
    metadata,
  });
  // Some servers say `data` for `bytes`, as an example in the specification does.
  const bytes = read.asText(file.bytes) ?? read.asText(file.data);
  if (bytes !== undefined) return { kind: "bytes", bytes: read.asBase64(bytes), ...extras };
  return { kind: "url", url: read.asText(file.uri) ?? "", ...extras };
}

/** Only files have a place for a name and a media type; with other parts they go along as metadata. */
export function writePart(part: Part): JsonObject {
  const { filename, mediaType } = part;
  if (part.kind === "bytes" || part.kind === "url") {
    const named = defined<JsonObject>({ name: filename, mimeType: mediaType });
    const file = part.kind === "bytes" ? { bytes: part.bytes, ...named } : { uri: part.url, ...named };
    return { kind: "file", file, ...(part.metadata && { metadata: part.metadata }) };
  }
  const extras = read.asMetadata({ ...part.metadata, ...defined<JsonObject>({ filename, mediaType }) });
  if (part.kind === "text") return { kind: "text", text: part.text, ...(extras && { metadata: extras }) };
  return writeData(part.data, extras);
}

function writeData(data: Json, metadata: JsonObject | undefined): JsonObject {
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  if (isObject) return { kind: "data", data, ...(metadata && { metadata }) };
  return { kind: "data", data: { value: data }, metadata: { ...metadata, data_part_compat: true } };
}

export function writeSend(draft: Draft): JsonObject {
  const message = defined<JsonObject>({
    kind: "message",
    messageId: draft.messageId,
    role: "user",
    parts: draft.parts.map(writePart),
    taskId: draft.taskId,
    contextId: draft.contextId,
    ...read.writeFacts(draft),
  });
  return { message, configuration: read.writeBlocking(draft), ...read.callMetadata(draft) };
}

/** By `kind`; servers that leave it out are told by their members. */
function kindOf(from: JsonObject): string | undefined {
  if (typeof from.kind === "string") return from.kind;
  if (read.has(from, "artifact")) return "artifact-update";
  if (read.has(from, "status")) return read.has(from, "taskId") ? "status-update" : "task";
  return read.has(from, "parts") ? "message" : undefined;
}

export function readItem(result: Json): Item {
  const from = read.asObject(result);
  switch (kindOf(from)) {
    case "task":
      return { kind: "task", task: read.readTask(SPELLING, from) };
    case "message":
      return { kind: "message", message: read.readMessage(SPELLING, from) };
    case "status-update":
      return read.readStatusUpdate(SPELLING, from);
    case "artifact-update":
      return read.readArtifactUpdate(SPELLING, from);
    default:
      throw read.notAnAnswer();
  }
}

/** What v0.2 and v0.3 say, and the dialects that grew from them. */
export const v03: ClientDialect = {
  ...USUAL,
  version: "0.3",
  title: "A2A 0.3",
  threadBeside: true,
  methods: {
    send: "message/send",
    stream: "message/stream",
    get: "tasks/get",
    cancel: "tasks/cancel",
    subscribe: "tasks/resubscribe",
  },
  writeSend,
  readItem,
  readTask: result => read.readTask(SPELLING, result),
};

/** v0.2 demands to be told what its caller can take. */
export const v02: ClientDialect = {
  ...v03,
  version: "0.2",
  title: "A2A 0.2",
  writeSend: draft => writeSend({ accepts: ["*/*"], ...draft }),
};

/** A task is found with its context only, and a configuration is unknown there. */
export const langgraph: ClientDialect = {
  ...v03,
  version: undefined,
  title: "LangGraph Agent Server",
  writeSend: ({ callMetadata: _, thread: _thread, ...draft }) => {
    const { configuration: _unknown, ...rest } = writeSend(draft);
    return rest;
  },
  writeTask: ({ taskId, contextId }: TaskRef) =>
    contextId === undefined ? { id: taskId } : { id: taskId, contextId },
};

/** Takes text only. It calls itself newer than it speaks. */
export const arbiter: ClientDialect = {
  ...v03,
  version: "1.0",
  title: "Arbiter",
  rejoins: "replay",
  repeatsWords: true,
};
