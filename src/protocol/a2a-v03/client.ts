import { CLIENT_DEFAULTS, type ClientDialect, type PushCalls } from "../../client/client-protocol.ts";
import * as read from "../../client/read.ts";
import type { OutgoingMessage, RemoteState, StreamResponse, WebhookConfig } from "../../client/types.ts";
import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { type Part, TASK_STATES } from "../../model/index.ts";
import { PUSH as V1_PUSH, v1 } from "../a2a-v1/client.ts";
import { STATES as V1_STATES } from "../a2a-v1/names.ts";
import { encodeV03Part } from "../shared/v03-encode.ts";
import { toProtoPart } from "./encode.ts";
import { METHOD_NAMES, type MethodName, PROTO_ROLES, PROTO_STATES } from "./names.ts";

/** v0.3 and older versions spell the states as the model does. */
export const STATES: Readonly<Record<string, RemoteState>> = Object.fromEntries(
  TASK_STATES.map(state => [state, state]),
);

const FORMAT: read.ResponseFormat = { states: STATES, readPart: readV03Part };

export function readV03Part(part: JsonObject): Part {
  return readPart(part, part.data);
}

function readPart(part: JsonObject, data: Json | undefined): Part {
  const metadata = read.asMetadata(part.metadata);
  if (typeof part.text === "string") return { kind: "text", text: part.text, ...(metadata && { metadata }) };
  if (!read.hasMember(part, "file")) return readData(data, metadata);
  const file = read.asObject(part.file);
  const details = read.readPartDetails(file, "name", "mimeType", metadata);
  // Some servers send `data` for `bytes`, as an example in the specification does.
  const bytes = read.asText(file.bytes ?? file.fileWithBytes ?? file.data);
  if (bytes !== undefined) return { kind: "bytes", bytes: read.asBase64(bytes), ...details };
  return { kind: "url", url: read.asText(file.uri ?? file.fileWithUri) ?? "", ...details };
}

/** Data that is not an object is wrapped and marked: the convention of the official SDKs. */
function readData(data: Json | undefined, metadata: JsonObject | undefined): Part {
  const { data_part_compat: isWrapped, ...rest } = metadata ?? {};
  const value = isWrapped === true ? read.asObject(data).value : data;
  return {
    kind: "data",
    data: value ?? null,
    ...defined<Pick<Part, "metadata">>({ metadata: read.asMetadata(rest) }),
  };
}

export const writeV03Send = (draft: OutgoingMessage): JsonObject =>
  writeSend(draft, { kind: "message", role: "user", parts: draft.parts.map(encodeV03Part) });

function writeSend(draft: OutgoingMessage, form: JsonObject): JsonObject {
  const { messageId, taskId, contextId } = draft;
  const message = defined({ ...form, messageId, taskId, contextId, ...read.writeMessageExtras(draft) });
  return { message, configuration: read.writeConfiguration(draft), ...read.writeCallMetadata(draft) };
}

/** For servers that leave out `kind`. */
function inferKind(from: JsonObject): string | undefined {
  if (read.hasMember(from, "artifact")) return "artifact-update";
  if (read.hasMember(from, "status")) return read.hasMember(from, "taskId") ? "status-update" : "task";
  return read.hasMember(from, "parts") ? "message" : undefined;
}

function readResponse(result: Json): StreamResponse {
  const from = read.asObject(result);
  switch (read.asText(from.kind) ?? inferKind(from)) {
    case "task":
      return { kind: "task", task: read.readTask(FORMAT, from) };
    case "message":
      return { kind: "message", message: read.readMessage(FORMAT, from) };
    case "status-update":
      return read.readStatusUpdate(FORMAT, from);
    case "artifact-update":
      return read.readArtifactUpdate(FORMAT, from);
    default:
      throw read.invalidResponse();
  }
}

/** Methods by their names in v1.0. */
const toMethods = <T extends Readonly<Record<string, string>>>(methods: T): T =>
  Object.fromEntries(
    Object.entries(methods).map(([key, name]) => [key, METHOD_NAMES[name as MethodName]]),
  ) as unknown as T;

/** The list of schemes has one entry. */
const writePush = ({ authentication, ...config }: WebhookConfig): JsonObject => {
  const { scheme, ...credentials } = authentication ?? {};
  const schemes = scheme && { authentication: { schemes: [scheme], ...credentials } };
  return { pushNotificationConfig: { ...config, ...schemes } };
};
/** The whole request message: the official servers do not take its member `config` as the body, as a2a.proto says. */
const writeProtoPush = (taskId: string, config: WebhookConfig): JsonObject => ({
  taskId,
  parent: `tasks/${taskId}`,
  config: writePush(config),
});
const readPush = (result: Json): WebhookConfig =>
  read.readWebhook(read.asObject(result).pushNotificationConfig);

const PUSH: PushCalls = {
  methods: toMethods(V1_PUSH.methods),
  write: (taskId, config) => ({ taskId, ...writePush(config) }),
  writeRef: (id, config) => (config === undefined ? { id } : { id, pushNotificationConfigId: config }),
  read: readPush,
};

export const v03: ClientDialect = {
  ...CLIENT_DEFAULTS,
  version: "0.3",
  title: "A2A 0.3",
  threadInEnvelope: true,
  methods: toMethods(v1.methods),
  push: PUSH,
  writeSend: writeV03Send,
  readResponse,
  readTask: result => read.readTask(FORMAT, result),
};

// ---- the proto form: HTTP+JSON and gRPC ------------------------------------------------------------------------

const PROTO_FORMAT: read.ResponseFormat = {
  // Some servers spell `canceled` with one L, as v1.0 does.
  states: Object.fromEntries(
    TASK_STATES.flatMap(state => [
      [PROTO_STATES[state], state],
      [V1_STATES[state], state],
    ]),
  ),
  readPart: part => readPart(part, read.asObject(part.data).data),
  content: "content",
};

/** The definition has no `referenceTaskIds`. */
const writeProtoSend = ({ referenceTaskIds: _, ...draft }: OutgoingMessage): JsonObject =>
  writeSend(draft, {
    role: PROTO_ROLES.user,
    content: draft.parts.map(part => toProtoPart(encodeV03Part(part))),
  });

/** The methods by their names in v1.0: HTTP maps them to paths, and gRPC to its own names. */
export const v03Proto: ClientDialect = {
  ...CLIENT_DEFAULTS,
  version: v03.version,
  title: v03.title,
  methods: v1.methods,
  push: { ...V1_PUSH, write: writeProtoPush, read: readPush },
  writeSend: writeProtoSend,
  readResponse: result => read.readWrapped(PROTO_FORMAT, result),
  readTask: result => read.readTask(PROTO_FORMAT, result),
};
