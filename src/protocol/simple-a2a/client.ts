import { CLIENT_DEFAULTS, type ClientDialect } from "../../client/client-protocol.ts";
import * as read from "../../client/read.ts";
import type { OutgoingMessage, StreamResponse } from "../../client/types.ts";
import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { TASK_STATES } from "../../model/index.ts";
import { readV1Part } from "../a2a-v1/client.ts";
import { v01 } from "../a2a-v01/client.ts";
import { encodeV1Part } from "../shared/v1-parts.ts";
import { NO_EXTENSION, WRONG_VERSION } from "./faults.ts";

/** simple_a2a: the methods of v0.1, the parts of v1, and states with underscores. */

const FORMAT: read.ResponseFormat = {
  states: Object.fromEntries(TASK_STATES.map(state => [state.replace("-", "_"), state])),
  readPart: readV1Part,
};

function writeSend(draft: OutgoingMessage): JsonObject {
  const message = defined<JsonObject>({
    messageId: draft.messageId,
    role: "user",
    parts: draft.parts.map(part => ({
      ...encodeV1Part(part),
      ...(part.kind === "text" && { kind: "text" }),
    })),
    contextId: draft.contextId,
    metadata: draft.metadata,
  });
  const task = draft.taskId === undefined ? {} : { id: draft.taskId };
  return { ...task, message, ...read.writeCallMetadata(draft) };
}

function readResponse(result: Json): StreamResponse {
  const from = read.asObject(result);
  if (from.type === "TaskArtifactUpdateEvent") return read.readArtifactUpdate(FORMAT, from);
  if (from.type !== "TaskStatusUpdateEvent") return { kind: "task", task: read.readTask(FORMAT, from) };
  // A status with artifacts is the whole task: the first event of a resubscription.
  if (!read.hasMember(from, "artifacts")) return read.readStatusUpdate(FORMAT, from);
  return { kind: "task", task: read.readTask(FORMAT, { ...from, id: from.taskId ?? "" }) };
}

export const simple: ClientDialect = {
  ...CLIENT_DEFAULTS,
  version: "1.0",
  title: "simple_a2a",
  toFault: number =>
    number === NO_EXTENSION
      ? "extension-required"
      : number === WRONG_VERSION
        ? "version-not-supported"
        : CLIENT_DEFAULTS.toFault(number),
  resumeBy: "replay",
  writeTask: ({ taskId }) => ({ taskId }),
  methods: v01.methods,
  writeSend,
  readResponse,
  readTask: result => read.readTask(FORMAT, result),
};
