import { CLIENT_DEFAULTS, type ClientDialect } from "../../client/client-protocol.ts";
import { findFault } from "../../client/faults.ts";
import * as read from "../../client/read.ts";
import type { OutgoingMessage, RemoteTask, StreamResponse } from "../../client/types.ts";
import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { readV03Part, STATES } from "../a2a-v03/client.ts";
import { encodeV03Part } from "../shared/v03-encode.ts";
import { INVALID_TASK_STATE, NUMBERS, STREAMING_NOT_SUPPORTED } from "./faults.ts";

/** Parts have a `type` instead of a `kind`, and the client chooses the ids of tasks. */

const FORMAT: read.ResponseFormat = { states: STATES, readPart: readV03Part, context: "sessionId" };

function writePart(part: Part): JsonObject {
  const { kind, ...rest } = encodeV03Part(part);
  return { type: kind ?? "text", ...rest };
}

/** A new task gets the id of its first message, so that a retry has the same id. */
function writeSend(draft: OutgoingMessage): JsonObject {
  const { messageId, taskId = messageId, contextId, metadata } = draft;
  return defined<JsonObject>({
    id: taskId,
    sessionId: contextId,
    message: defined<JsonObject>({ role: "user", parts: draft.parts.map(writePart), metadata }),
    metadata: undefined,
    ...read.writeCallMetadata(draft),
  });
}

/** A status with artifacts is the whole task: the first event of a resubscription. */
function readResponse(result: Json): StreamResponse {
  const from = read.asObject(result);
  const taskId = read.asText(from.id) ?? "";
  if (read.hasMember(from, "artifact")) {
    // `append` and `lastChunk` are members of the artifact.
    const { append = false, lastChunk = false } = read.asObject(from.artifact);
    return { ...read.readArtifactUpdate(FORMAT, { ...from, append, lastChunk }), taskId };
  }
  const isUpdate = read.hasMember(from, "final") && !read.hasMember(from, "artifacts");
  if (!isUpdate) return { kind: "task", task: readTask(from) };
  return { ...read.readStatusUpdate(FORMAT, from), taskId };
}

const readTask = (result: Json): RemoteTask => read.readTask(FORMAT, result);

/** Besides the number that later versions have as well. */
const isUnsupported = (number: number): boolean =>
  number === STREAMING_NOT_SUPPORTED || number === INVALID_TASK_STATE;

export const v01: ClientDialect = {
  ...CLIENT_DEFAULTS,
  version: undefined,
  title: "A2A 0.1",
  methods: {
    send: "tasks/send",
    stream: "tasks/sendSubscribe",
    get: "tasks/get",
    cancel: "tasks/cancel",
    subscribe: "tasks/resubscribe",
  },
  writeSend,
  readResponse,
  readTask,
  toFault: number => (isUnsupported(number) ? "unsupported-operation" : findFault(number, NUMBERS)),
};
