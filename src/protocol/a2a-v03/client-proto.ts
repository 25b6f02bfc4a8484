import { type ClientDialect, USUAL } from "../../client/client-protocol.ts";
import * as read from "../../client/read.ts";
import type { Draft, RemoteState } from "../../client/types.ts";
import type { JsonObject } from "../../lib/json.ts";
import { defined } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { readEnclosed } from "../a2a-v1/client.ts";
import { readData, v03, writePart as writeKindPart } from "./client.ts";

/** v0.3 as the ProtoJSON of its definition has it: over HTTP+JSON and gRPC. */

const STATES: Readonly<Record<string, RemoteState>> = {
  TASK_STATE_SUBMITTED: "submitted",
  TASK_STATE_WORKING: "working",
  TASK_STATE_INPUT_REQUIRED: "input-required",
  TASK_STATE_AUTH_REQUIRED: "auth-required",
  TASK_STATE_COMPLETED: "completed",
  TASK_STATE_FAILED: "failed",
  // The definition has two Ls, some servers have one.
  TASK_STATE_CANCELLED: "canceled",
  TASK_STATE_CANCELED: "canceled",
  TASK_STATE_REJECTED: "rejected",
};

const SPELLING: read.Spelling = { states: STATES, readPart, content: "content" };

function readPart(part: JsonObject): Part {
  const metadata = read.asMetadata(part.metadata);
  if (typeof part.text === "string") return { kind: "text", text: part.text, ...(metadata && { metadata }) };
  if (!read.has(part, "file")) return readData(read.asObject(part.data).data, metadata);
  const file = read.asObject(part.file);
  const extras = defined<Pick<Part, "filename" | "mediaType" | "metadata">>({
    filename: read.asText(file.name) || undefined,
    mediaType: read.asText(file.mimeType) || undefined,
    metadata,
  });
  const bytes = read.asText(file.fileWithBytes);
  if (bytes !== undefined) return { kind: "bytes", bytes: read.asBase64(bytes), ...extras };
  return { kind: "url", url: read.asText(file.fileWithUri) ?? "", ...extras };
}

function writePart(part: Part): JsonObject {
  const { kind, ...said } = writeKindPart(part);
  if (kind === "data") return { ...said, data: { data: said.data ?? null } };
  if (kind !== "file") return said;
  const { bytes, uri, ...file } = read.asObject(said.file);
  const content = bytes === undefined ? { fileWithUri: uri ?? "" } : { fileWithBytes: bytes };
  return { ...said, file: { ...content, ...file } };
}

/** It has no word for tasks that are referred to. */
function writeSend(draft: Draft): JsonObject {
  const { referenceTaskIds: _, ...facts } = read.writeFacts(draft);
  const message = defined<JsonObject>({
    messageId: draft.messageId,
    role: "ROLE_USER",
    content: draft.parts.map(writePart),
    taskId: draft.taskId,
    contextId: draft.contextId,
    ...facts,
  });
  return { message, configuration: read.writeBlocking(draft), ...read.callMetadata(draft) };
}

/** Over HTTP+JSON the paths have the names that v1 gave to the methods. */
export const v03Rest: ClientDialect = {
  ...USUAL,
  version: v03.version,
  title: v03.title,
  methods: {
    send: "SendMessage",
    stream: "SendStreamingMessage",
    get: "GetTask",
    cancel: "CancelTask",
    subscribe: "SubscribeToTask",
  },
  writeSend,
  readItem: result => readEnclosed(SPELLING, result),
  readTask: result => read.readTask(SPELLING, result),
};

/** Over gRPC tasks are called by resource names. */
export const v03Grpc: ClientDialect = {
  ...v03Rest,
  methods: { ...v03Rest.methods, subscribe: "TaskSubscription" },
  writeTask: ({ taskId }) => ({ name: `tasks/${taskId}` }),
};
