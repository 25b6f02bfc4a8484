import { defined, type Json, type JsonObject } from "../../lib/json.ts";
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
import type { OperationResult, Page } from "../../ports/index.ts";
import { encodePushConfig } from "./push-config.ts";
import { encodeTime } from "./time.ts";

/** Results in the shape of v0.3, which v0.2, LangGraph and Arbiter share: every object has a `kind`. */

export function encodeV03Task(task: Task): JsonObject {
  const out: Record<string, Json> = {
    kind: "task",
    id: task.id,
    contextId: task.contextId,
    status: encodeV03Status(task.status),
  };
  if (task.artifacts.length > 0) out.artifacts = task.artifacts.map(encodeV03Artifact);
  if (task.history.length > 0) out.history = task.history.map(encodeV03Message);
  const metadata = metadataOf(task);
  if (metadata) out.metadata = metadata;
  return out;
}

export function encodeV03Status(status: TaskStatus): JsonObject {
  const out: Record<string, Json> = { state: status.state };
  if (status.message) out.message = encodeV03Message(status.message);
  out.timestamp = encodeTime(status.at);
  return out;
}

export function encodeV03Message(message: Message): JsonObject {
  const out: Record<string, Json> = {
    kind: "message",
    messageId: message.messageId,
    role: message.role,
    parts: message.parts.map(encodeV03Part),
  };
  if (message.contextId !== undefined) out.contextId = message.contextId;
  if (message.taskId !== undefined) out.taskId = message.taskId;
  if (message.metadata) out.metadata = message.metadata;
  if (message.extensions?.length) out.extensions = message.extensions;
  if (message.referenceTaskIds?.length) out.referenceTaskIds = message.referenceTaskIds;
  return out;
}

export function encodeV03Part(part: Part): JsonObject {
  switch (part.kind) {
    case "text":
      return withMetadata({ kind: "text", text: part.text }, toMetadataWithExtras(part));
    case "bytes":
      return withMetadata(
        { kind: "file", file: { bytes: part.bytes, ...toFileExtras(part) } },
        part.metadata,
      );
    case "url":
      return withMetadata({ kind: "file", file: { uri: part.url, ...toFileExtras(part) } }, part.metadata);
    case "data":
      return encodeData(part);
  }
}

/** v0.3 has file name and media type in files only: for other parts they are sent as metadata. */
export function toMetadataWithExtras({ filename, mediaType, metadata }: Part): JsonObject | undefined {
  if (filename === undefined && mediaType === undefined) return metadata;
  return { ...metadata, ...defined<JsonObject>({ filename, mediaType }) };
}

const toFileExtras = ({ filename: name, mediaType: mimeType }: Part): JsonObject =>
  defined<JsonObject>({ name, mimeType });

/** Data of v0.3 is an object; other values are wrapped and marked, as the official SDKs do it. */
function encodeData(part: Part & { kind: "data" }): JsonObject {
  const { data } = part;
  if (typeof data === "object" && data !== null && !Array.isArray(data))
    return withMetadata({ kind: "data", data }, toMetadataWithExtras(part));
  return {
    kind: "data",
    data: { value: data },
    metadata: { ...toMetadataWithExtras(part), data_part_compat: true },
  };
}

export const withMetadata = (part: JsonObject, metadata: JsonObject | undefined): JsonObject =>
  metadata ? { ...part, metadata } : part;

export function encodeV03Artifact(artifact: Artifact): JsonObject {
  const out: Record<string, Json> = { artifactId: artifact.artifactId };
  if (artifact.name !== undefined) out.name = artifact.name;
  if (artifact.description !== undefined) out.description = artifact.description;
  out.parts = artifact.parts.map(encodeV03Part);
  if (artifact.metadata) out.metadata = artifact.metadata;
  if (artifact.extensions?.length) out.extensions = artifact.extensions;
  return out;
}

export function encodeV03Page(page: Page): JsonObject {
  const { nextPageToken, pageSize, totalSize } = page;
  return { tasks: page.tasks.map(encodeV03Task), nextPageToken, pageSize, totalSize };
}

export type PushResult = Extract<OperationResult, { readonly kind: "push" | "pushes" | "nothing" }>;

export function encodeV03Push(result: PushResult): Json {
  switch (result.kind) {
    case "push":
      return encodeTaskPush(result);
    case "pushes":
      return result.configs.map(encodeTaskPush);
    case "nothing":
      return null;
  }
}

const encodeTaskPush = ({ taskId, config }: { taskId: TaskId; config: PushConfig }): JsonObject => ({
  taskId,
  pushNotificationConfig: encodeV03PushConfig(config),
});

export const encodeV03PushConfig = (config: PushConfig): JsonObject => ({
  id: config.id,
  ...encodePushConfig(config),
});

/** `closing`: v0.3 §7.2.2, `final` is true on the event after which the stream ends. */
export function encodeV03Step(step: Step, closing: boolean): JsonObject | null {
  const { event } = step;
  const ids = { taskId: step.taskId, contextId: step.contextId };
  switch (event?.type) {
    case undefined:
      return encodeV03Task(step.task);
    case "artifact": {
      const { append, last: lastChunk } = event;
      const artifact = encodeV03Artifact(event.artifact);
      const update = { kind: "artifact-update", ...ids, artifact, append, lastChunk };
      return event.metadata ? { ...update, metadata: event.metadata } : update;
    }
    case "reply":
      if (step.task.reply) return encodeV03Message(step.task.reply);
      return { kind: "status-update", ...ids, status: encodeV03Status(step.task.status), final: closing };
    case "message":
    case "started":
    case "status": {
      const status = encodeV03Status(step.task.status);
      const update = { kind: "status-update", ...ids, status, final: closing };
      return event.type === "status" && event.metadata ? { ...update, metadata: event.metadata } : update;
    }
    case "created":
    case "answered":
    case "incoming":
    case "noted":
    case "chunk":
    case "released":
    case "shown":
    case "cancel":
    case "usage":
      return null;
  }
}
