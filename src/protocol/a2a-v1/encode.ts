import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import {
  type Artifact,
  type Message,
  metadataOf,
  type PushAuthentication,
  type PushConfig,
  type Step,
  type Task,
  type TaskEvent,
  type TaskId,
  type TaskStatus,
} from "../../model/index.ts";
import type { Page } from "../../ports/index.ts";
import { writePart } from "../shared/member-parts.ts";
import { writeMore } from "../shared/push-config.ts";
import { writeTime } from "../shared/time.ts";
import { ROLES, STATES } from "./names.ts";

export function writeTask(task: Task): JsonObject {
  const out: Record<string, Json> = {
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

function writeStatus(status: TaskStatus): JsonObject {
  const out: Record<string, Json> = { state: STATES[status.state] };
  if (status.message) out.message = writeMessage(status.message);
  out.timestamp = writeTime(status.at);
  return out;
}

export function writeMessage(message: Message): JsonObject {
  const out: Record<string, Json> = {
    messageId: message.messageId,
    role: ROLES[message.role],
    parts: message.parts.map(writePart),
  };
  if (message.contextId !== undefined) out.contextId = message.contextId;
  if (message.taskId !== undefined) out.taskId = message.taskId;
  if (message.metadata) out.metadata = message.metadata;
  if (message.extensions?.length) out.extensions = message.extensions;
  if (message.referenceTaskIds?.length) out.referenceTaskIds = message.referenceTaskIds;
  return out;
}

function writeArtifact(artifact: Artifact): JsonObject {
  const out: Record<string, Json> = { artifactId: artifact.artifactId };
  if (artifact.name !== undefined) out.name = artifact.name;
  if (artifact.description !== undefined) out.description = artifact.description;
  out.parts = artifact.parts.map(writePart);
  if (artifact.metadata) out.metadata = artifact.metadata;
  if (artifact.extensions?.length) out.extensions = artifact.extensions;
  return out;
}

/** `artifacts`: v1 §3.1.4, present even if empty when they were asked for, absent when not. */
export function writePage(page: Page, artifacts: boolean): JsonObject {
  const tasks = page.tasks.map(task => {
    const { artifacts: made = [], ...rest } = writeTask(task);
    return artifacts ? { ...rest, artifacts: made } : rest;
  });
  return { tasks, nextPageToken: page.nextPageToken, pageSize: page.pageSize, totalSize: page.totalSize };
}

/** v1 §4.2: exactly one of task, message, statusUpdate, artifactUpdate; null for what only we record. */
export function writeStep(step: Step): JsonObject | null {
  const { event } = step;
  switch (event?.type) {
    case undefined:
      return { task: writeTask(step.task) };
    case "artifact":
      return { artifactUpdate: writeArtifactUpdate(step, event) };
    case "reply":
      if (step.task.reply) return { message: writeMessage(step.task.reply) };
      return { statusUpdate: writeStatusUpdate(step.task) };
    case "message":
    case "started":
    case "status":
      return { statusUpdate: writeStatusUpdate(step.task, event) };
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

/** v1 §4.3.1: flat, and with one scheme. */
export function writePush({ taskId, config }: { taskId: TaskId; config: PushConfig }): JsonObject {
  const { id, url, token, authentication } = config;
  return defined<JsonObject>({
    id,
    taskId,
    url,
    token,
    authentication: authentication && writeAuthentication(authentication),
    ...writeMore(config),
  });
}

const writeAuthentication = ({ schemes: [scheme], credentials }: PushAuthentication): JsonObject =>
  defined<JsonObject>({ scheme, credentials });

function writeStatusUpdate(task: Task, event?: TaskEvent): JsonObject {
  const out: Record<string, Json> = {
    taskId: task.id,
    contextId: task.contextId,
    status: writeStatus(task.status),
  };
  if (event?.type === "status" && event.metadata) out.metadata = event.metadata;
  return out;
}

function writeArtifactUpdate(step: Step, event: TaskEvent & { type: "artifact" }): JsonObject {
  const out: Record<string, Json> = {
    taskId: step.taskId,
    contextId: step.contextId,
    artifact: writeArtifact(event.artifact),
  };
  if (event.append) out.append = true;
  if (event.last) out.lastChunk = true;
  if (event.metadata) out.metadata = event.metadata;
  return out;
}
