import { type ClientDialect, USUAL } from "../../client/client-protocol.ts";
import * as read from "../../client/read.ts";
import type { Draft, Item, ListWish, RemoteState } from "../../client/types.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { defined } from "../../lib/json.ts";
import type { Part, TaskState } from "../../model/index.ts";

const STATES: Readonly<Record<TaskState, string>> = {
  submitted: "TASK_STATE_SUBMITTED",
  working: "TASK_STATE_WORKING",
  "input-required": "TASK_STATE_INPUT_REQUIRED",
  "auth-required": "TASK_STATE_AUTH_REQUIRED",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  canceled: "TASK_STATE_CANCELED",
  rejected: "TASK_STATE_REJECTED",
};

const SPELLING: read.Spelling = {
  states: Object.fromEntries(Object.entries(STATES).map(([ours, theirs]) => [theirs, ours as RemoteState])),
  readPart,
};

/** v1 §4.1.6: which member is present tells the kind; `data` may be any JSON value, null included. */
export function readPart(part: JsonObject): Part {
  const extras = defined<Pick<Part, "filename" | "mediaType" | "metadata">>({
    filename: read.asText(part.filename) || undefined,
    mediaType: read.asText(part.mediaType) || undefined,
    metadata: read.asMetadata(part.metadata),
  });
  if (typeof part.text === "string") return { kind: "text", text: part.text, ...extras };
  if (typeof part.raw === "string") return { kind: "bytes", bytes: read.asBase64(part.raw), ...extras };
  if (typeof part.url === "string") return { kind: "url", url: part.url, ...extras };
  return { kind: "data", data: part.data ?? null, ...extras };
}

export function writePart(part: Part): JsonObject {
  const { filename, mediaType, metadata } = part;
  const extras = defined<JsonObject>({ filename, mediaType, metadata });
  if (part.kind === "text") return { text: part.text, ...extras };
  if (part.kind === "bytes") return { raw: part.bytes, ...extras };
  if (part.kind === "url") return { url: part.url, ...extras };
  return { data: part.data, ...extras };
}

function writeSend(draft: Draft): JsonObject {
  const message = defined<JsonObject>({
    messageId: draft.messageId,
    role: "ROLE_USER",
    parts: draft.parts.map(writePart),
    taskId: draft.taskId,
    contextId: draft.contextId,
    ...read.writeFacts(draft),
  });
  const configuration = defined<JsonObject>({
    returnImmediately: draft.atOnce || undefined,
    acceptedOutputModes: draft.accepts,
  });
  const said = Object.keys(configuration).length > 0 && { configuration };
  return { message, ...said, ...read.callMetadata(draft) };
}

function writeList(wish: ListWish): JsonObject {
  return defined<JsonObject>({
    pageSize: wish.pageSize,
    pageToken: wish.pageToken,
    contextId: wish.contextId,
    status: wish.state && STATES[wish.state],
  });
}

/** v1 §3.2.3: exactly one of four members. */
export function readEnclosed(spelling: read.Spelling, result: Json): Item {
  const from = read.asObject(result);
  if (from.task) return { kind: "task", task: read.readTask(spelling, from.task) };
  if (from.message) return { kind: "message", message: read.readMessage(spelling, from.message) };
  const status = read.asObject(from.statusUpdate);
  if (read.has(status, "status")) return read.readStatusUpdate(spelling, status);
  const update = read.asObject(from.artifactUpdate);
  if (!read.has(update, "artifact")) throw read.notAnAnswer();
  return read.readArtifactUpdate(spelling, update);
}

export const v1: ClientDialect = {
  ...USUAL,
  version: "1.0",
  title: "A2A 1.0",
  methods: {
    send: "SendMessage",
    stream: "SendStreamingMessage",
    get: "GetTask",
    cancel: "CancelTask",
    subscribe: "SubscribeToTask",
  },
  rejoins: "snapshot",
  list: { method: "ListTasks", write: writeList },
  writeSend,
  readItem: result => readEnclosed(SPELLING, result),
  readTask: result => read.readTask(SPELLING, result),
};
