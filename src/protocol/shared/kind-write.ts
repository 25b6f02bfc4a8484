import type { Json, JsonObject } from "../../lib/json.ts";
import {
  type Artifact,
  type Message,
  metadataOf,
  type Part,
  type PushConfig,
  type Step,
  type Task,
  type TaskId,
  type TaskStatus,
} from "../../model/index.ts";
import type { Answer, Page } from "../../ports/index.ts";
import { writePush as writeNameless } from "./push-config.ts";
import { writeTime } from "./time.ts";

/** What is written in the shape that v0.2 and v0.3 have, and the dialects that grew from them: everything tells its `kind`. */

export function writeTask(task: Task): JsonObject {
  const out: Record<string, Json> = {
    kind: "task",
    id: task.id,
    contextId: task.contextId,
    status: writeStatus(task.status),
  };
  if (task.artifacts.length > 0) out.artifacts = task.artifacts.map(writeArtifact);
  if (task.history.length > 0) out.history = task.history.map(writeMessage);
  const metadata = metadataOf(task);
  if (metadata) out.metadata = metadata;
  return out;
}

export function writeStatus(status: TaskStatus): JsonObject {
  const out: Record<string, Json> = { state: status.state };
  if (status.message) out.message = writeMessage(status.message);
  out.timestamp = writeTime(status.at);
  return out;
}

export function writeMessage(message: Message): JsonObject {
  const out: Record<string, Json> = {
    kind: "message",
    messageId: message.messageId,
    role: message.role,
    parts: message.parts.map(writePart),
  };
  if (message.contextId !== undefined) out.contextId = message.contextId;
  if (message.taskId !== undefined) out.taskId = message.taskId;
  if (message.metadata) out.metadata = message.metadata;
  if (message.extensions?.length) out.extensions = message.extensions;
  if (message.referenceTaskIds?.length) out.referenceTaskIds = message.referenceTaskIds;
  return out;
}

export function writePart(part: Part): JsonObject {
  switch (part.kind) {
    case "text":
      return withMetadata({ kind: "text", text: part.text }, extrasOf(part));
    case "bytes":
      return withMetadata({ kind: "file", file: { bytes: part.bytes, ...fileExtras(part) } }, part.metadata);
    case "url":
      return withMetadata({ kind: "file", file: { uri: part.url, ...fileExtras(part) } }, part.metadata);
    case "data":
      return writeData(part);
  }
}

/** v0.3 has a place for file name and media type in files only: with other parts they go along as metadata. */
export function extrasOf(part: Part): JsonObject | undefined {
  if (part.filename === undefined && part.mediaType === undefined) return part.metadata;
  return {
    ...part.metadata,
    ...(part.filename !== undefined && { filename: part.filename }),
    ...(part.mediaType !== undefined && { mediaType: part.mediaType }),
  };
}

function fileExtras(part: Part): JsonObject {
  return {
    ...(part.filename !== undefined && { name: part.filename }),
    ...(part.mediaType !== undefined && { mimeType: part.mediaType }),
  };
}

/** v0.3 data is an object; anything else travels wrapped and marked, as the official SDKs do it. */
function writeData(part: Part & { kind: "data" }): JsonObject {
  const { data } = part;
  if (typeof data === "object" && data !== null && !Array.isArray(data))
    return withMetadata({ kind: "data", data }, extrasOf(part));
  return { kind: "data", data: { value: data }, metadata: { ...extrasOf(part), data_part_compat: true } };
}

export const withMetadata = (part: JsonObject, metadata: JsonObject | undefined): JsonObject =>
  metadata ? { ...part, metadata } : part;

export function writeArtifact(artifact: Artifact): JsonObject {
  const out: Record<string, Json> = { artifactId: artifact.artifactId };
  if (artifact.name !== undefined) out.name = artifact.name;
  if (artifact.description !== undefined) out.description = artifact.description;
  out.parts = artifact.parts.map(writePart);
  if (artifact.metadata) out.metadata = artifact.metadata;
  if (artifact.extensions?.length) out.extensions = artifact.extensions;
  return out;
}

export function writePage(page: Page): JsonObject {
  const { nextPageToken, pageSize, totalSize } = page;
  return { tasks: page.tasks.map(writeTask), nextPageToken, pageSize, totalSize };
}

export type PushAnswer = Extract<Answer, { readonly kind: "push" | "pushes" | "nothing" }>;

export function writePush(answer: PushAnswer): Json {
  switch (answer.kind) {
    case "push":
      return writeOne(answer);
    case "pushes":
      return answer.configs.map(writeOne);
    case "nothing":
      return null;
  }
}

const writeOne = ({ taskId, config }: { taskId: TaskId; config: PushConfig }): JsonObject => ({
  taskId,
  pushNotificationConfig: writeConfig(config),
});

export const writeConfig = (config: PushConfig): JsonObject => ({ id: config.id, ...writeNameless(config) });

/** `closing`: v0.3 §7.2.2, `final` is true on the event after which the stream ends. */
export function writeStep(step: Step, closing: boolean): JsonObject | null {
  const { event } = step;
  const whose = { taskId: step.taskId, contextId: step.contextId };
  switch (event?.type) {
    case undefined:
      return writeTask(step.task);
    case "artifact": {
      const { append, last: lastChunk } = event;
      const artifact = writeArtifact(event.artifact);
      const update = { kind: "artifact-update", ...whose, artifact, append, lastChunk };
      return event.metadata ? { ...update, metadata: event.metadata } : update;
    }
    case "reply":
      if (step.task.reply) return writeMessage(step.task.reply);
      return { kind: "status-update", ...whose, status: writeStatus(step.task.status), final: closing };
    case "message":
    case "started":
    case "status": {
      const status = writeStatus(step.task.status);
      const update = { kind: "status-update", ...whose, status, final: closing };
      return event.type === "status" && event.metadata ? { ...update, metadata: event.metadata } : update;
    }
    case "created":
    case "answered":
    case "incoming":
    case "noted":
    case "released":
    case "shown":
    case "cancel":
    case "usage":
      return null;
  }
}
