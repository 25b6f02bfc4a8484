import { CLIENT_DEFAULTS, type ClientDialect, type PushCalls } from "../../client/client-protocol.ts";
import * as read from "../../client/read.ts";
import type { OutgoingMessage, RemoteState, TaskListQuery } from "../../client/types.ts";
import { defined, type JsonObject } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { encodeV1Part } from "../shared/v1-parts.ts";
import { ROLES, STATES } from "./names.ts";

const FORMAT: read.ResponseFormat = {
  states: Object.fromEntries(Object.entries(STATES).map(([state, name]) => [name, state as RemoteState])),
  readPart: readV1Part,
};

/** v1 §4.1.6: the member that is present tells the kind; `data` may be any JSON value, also null. */
export function readV1Part(part: JsonObject): Part {
  const details = read.readPartDetails(part, "filename", "mediaType", read.asMetadata(part.metadata));
  if (typeof part.text === "string") return { kind: "text", text: part.text, ...details };
  if (typeof part.raw === "string") return { kind: "bytes", bytes: read.asBase64(part.raw), ...details };
  if (typeof part.url === "string") return { kind: "url", url: part.url, ...details };
  return { kind: "data", data: part.data ?? null, ...details };
}

function writeSend(draft: OutgoingMessage): JsonObject {
  const message = defined<JsonObject>({
    messageId: draft.messageId,
    role: ROLES.user,
    parts: draft.parts.map(encodeV1Part),
    taskId: draft.taskId,
    contextId: draft.contextId,
    ...read.writeMessageExtras(draft),
  });
  const configuration = read.asMetadata(
    defined<JsonObject>({
      returnImmediately: draft.returnImmediately || undefined,
      acceptedOutputModes: draft.accepts,
    }),
  );
  return { message, ...(configuration && { configuration }), ...read.writeCallMetadata(draft) };
}

const writeList = (query: TaskListQuery): JsonObject =>
  defined<JsonObject>({
    pageSize: query.pageSize,
    pageToken: query.pageToken,
    contextId: query.contextId,
    status: query.state && STATES[query.state],
  });

/** v1 §4.3.1: config and task id are one object. */
export const PUSH: PushCalls = {
  methods: {
    set: "CreateTaskPushNotificationConfig",
    get: "GetTaskPushNotificationConfig",
    list: "ListTaskPushNotificationConfigs",
    delete: "DeleteTaskPushNotificationConfig",
  },
  write: (taskId, config) => ({ taskId, ...config }),
  writeRef: (taskId, id) => (id === undefined ? { taskId } : { taskId, id }),
  read: read.readWebhook,
};

export const v1: ClientDialect = {
  ...CLIENT_DEFAULTS,
  version: "1.0",
  title: "A2A 1.0",
  methods: {
    send: "SendMessage",
    stream: "SendStreamingMessage",
    get: "GetTask",
    cancel: "CancelTask",
    subscribe: "SubscribeToTask",
  },
  resumeBy: "snapshot",
  list: { method: "ListTasks", write: writeList },
  push: PUSH,
  writeSend,
  readResponse: result => read.readWrapped(FORMAT, result),
  readTask: result => read.readTask(FORMAT, result),
};
