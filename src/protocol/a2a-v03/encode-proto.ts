import type { Json, JsonObject } from "../../lib/json.ts";
import type { Role, TaskState } from "../../model/index.ts";
import type { Operation } from "../../ports/index.ts";
import { PROTO_ROLES, PROTO_STATES } from "./names.ts";

/** What v0.3 says in its JSON schema, said as the ProtoJSON of its definition. */

/** Where an answer can be only one thing, nothing is around it. */
export function toAnswer({ op }: Operation, said: JsonObject): JsonObject {
  switch (op) {
    case "send":
      return toEnclosed(said);
    case "get":
    case "cancel":
      return toTask(said);
    case "list":
      return { ...said, tasks: listOf(said.tasks).map(toTask) };
    default:
      return said;
  }
}

/** `{"task": …}` and the like: what an object is, is told from outside. */
export function toEnclosed(said: JsonObject): JsonObject {
  switch (said.kind) {
    case "task":
      return { task: toTask(said) };
    case "message":
      return { message: toMessage(said) };
    case "status-update":
      return { statusUpdate: { ...withoutKind(said), status: toStatus(said.status) } };
    default:
      return { artifactUpdate: { ...withoutKind(said), artifact: toArtifact(said.artifact) } };
  }
}

function toTask(said: JsonObject): JsonObject {
  const { status, artifacts, history, ...rest } = withoutKind(said);
  return {
    ...rest,
    status: toStatus(status),
    ...(artifacts && { artifacts: listOf(artifacts).map(toArtifact) }),
    ...(history && { history: listOf(history).map(toMessage) }),
  };
}

function toStatus(said: Json | undefined): JsonObject {
  const { state, message, ...rest } = said as JsonObject;
  return {
    state: PROTO_STATES[state as TaskState],
    ...(message && { message: toMessage(message as JsonObject) }),
    ...rest,
  };
}

/** Readers that are generated from the definition refuse what it does not have: tasks that are referred to. */
function toMessage(said: JsonObject): JsonObject {
  const { role, parts, referenceTaskIds: _, ...rest } = withoutKind(said);
  return { ...rest, role: PROTO_ROLES[role as Role], content: listOf(parts).map(toPart) };
}

function toArtifact(said: Json | undefined): JsonObject {
  const { parts, ...rest } = said as JsonObject;
  return { ...rest, parts: listOf(parts).map(toPart) };
}

function toPart(said: JsonObject): JsonObject {
  const part = withoutKind(said);
  if (said.kind === "data") return { ...part, data: { data: said.data as Json } };
  if (said.kind !== "file") return part;
  const { bytes, uri, ...file } = said.file as JsonObject;
  const content = bytes === undefined ? { fileWithUri: uri as Json } : { fileWithBytes: bytes };
  return { ...part, file: { ...content, ...file } };
}

function withoutKind(said: JsonObject): JsonObject {
  const { kind: _, ...rest } = said;
  return rest;
}

const listOf = (said: Json | undefined): readonly JsonObject[] => said as readonly JsonObject[];
