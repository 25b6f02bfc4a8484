import type { Json, JsonObject } from "../../lib/json.ts";
import type { PushConfig, Role, TaskId, TaskState } from "../../model/index.ts";
import type { Operation, OperationResult } from "../../ports/index.ts";
import { encodeOfficialCardV03, type GrpcAt } from "../shared/card.ts";
import { encodeSecurityV03Proto } from "../shared/card-security.ts";
import {
  encodeV03Message,
  encodeV03Page,
  encodeV03Push,
  encodeV03PushConfig,
  encodeV03Task,
  type PushResult,
} from "../shared/v03-encode.ts";
import { PROTO_ROLES, PROTO_STATES } from "./names.ts";
import { PROTO_FORM } from "./schema.ts";

export function encodeResult(
  operation: Operation,
  result: OperationResult,
  grpcAt: GrpcAt | undefined,
): Json {
  const isProto = operation.form === PROTO_FORM;
  if (result.kind === "push" || result.kind === "pushes" || result.kind === "nothing")
    return isProto ? encodeProtoPush(result) : encodeV03Push(result);
  const json = encodeJsonForm(result, grpcAt);
  if (!isProto) return json;
  return result.kind === "card"
    ? { ...json, ...encodeSecurityV03Proto(result.security) }
    : toProtoResult(operation, json);
}

function encodeJsonForm(
  result: Exclude<OperationResult, PushResult>,
  grpcAt: GrpcAt | undefined,
): JsonObject {
  switch (result.kind) {
    case "task":
      return encodeV03Task(result.task);
    case "message":
      return encodeV03Message(result.message);
    case "page":
      return encodeV03Page(result.page);
    case "card":
      return encodeOfficialCardV03(result, grpcAt);
    case "agents":
      throw new Error("v0.3 has no list of agents");
  }
}

function encodeProtoPush(result: PushResult): JsonObject {
  switch (result.kind) {
    case "push":
      return encodeNamedConfig(result);
    case "pushes":
      return { configs: result.configs.map(encodeNamedConfig), nextPageToken: result.nextPageToken };
    case "nothing":
      return {};
  }
}

const encodeNamedConfig = ({ taskId, config }: { taskId: TaskId; config: PushConfig }): JsonObject => ({
  name: `tasks/${taskId}/pushNotificationConfigs/${config.id}`,
  pushNotificationConfig: encodeV03PushConfig(config),
});

// ---- from the JSON form to the proto form ----------------------------------------------------------------------

/** Only the response of a send is wrapped: it is a task or a message. */
function toProtoResult({ op }: Operation, json: JsonObject): JsonObject {
  switch (op) {
    case "send":
      return toProtoResponse(json);
    case "get":
    case "cancel":
      return toProtoTask(json);
    case "list":
      return { ...json, tasks: asObjects(json.tasks).map(toProtoTask) };
    default:
      return json;
  }
}

/** An object with a `kind` becomes the only member of an object: `{"task": …}`. */
export function toProtoResponse(json: JsonObject): JsonObject {
  const { kind, ...rest } = json;
  switch (kind) {
    case "task":
      return { task: toProtoTask(json) };
    case "message":
      return { message: toProtoMessage(json) };
    case "status-update":
      return { statusUpdate: { ...rest, status: toProtoStatus(json.status) } };
    default:
      return { artifactUpdate: { ...rest, artifact: toProtoArtifact(json.artifact) } };
  }
}

function toProtoTask(json: JsonObject): JsonObject {
  const { kind: _, status, artifacts, history, ...rest } = json;
  return {
    ...rest,
    status: toProtoStatus(status),
    ...(artifacts && { artifacts: asObjects(artifacts).map(toProtoArtifact) }),
    ...(history && { history: asObjects(history).map(toProtoMessage) }),
  };
}

function toProtoStatus(json: Json | undefined): JsonObject {
  const { state, message, ...rest } = json as JsonObject;
  return {
    state: PROTO_STATES[state as TaskState],
    ...(message && { message: toProtoMessage(message as JsonObject) }),
    ...rest,
  };
}

/** The definition has no `referenceTaskIds`, and generated readers reject unknown members. */
function toProtoMessage(json: JsonObject): JsonObject {
  const { kind: _, role, parts, referenceTaskIds: __, ...rest } = json;
  return { ...rest, role: PROTO_ROLES[role as Role], content: asObjects(parts).map(toProtoPart) };
}

function toProtoArtifact(json: Json | undefined): JsonObject {
  const { parts, ...rest } = json as JsonObject;
  return { ...rest, parts: asObjects(parts).map(toProtoPart) };
}

export function toProtoPart(json: JsonObject): JsonObject {
  const { kind, ...part } = json;
  if (kind === "data") return { ...part, data: { data: json.data as Json } };
  if (kind !== "file") return part;
  const { bytes, uri, ...file } = json.file as JsonObject;
  const content = bytes === undefined ? { fileWithUri: uri as Json } : { fileWithBytes: bytes };
  return { ...part, file: { ...content, ...file } };
}

const asObjects = (json: Json | undefined): readonly JsonObject[] => json as readonly JsonObject[];
