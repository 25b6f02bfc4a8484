import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import {
  type Artifact,
  type Message,
  metadataOf,
  type PushConfig,
  type Step,
  type Task,
  type TaskEvent,
  type TaskId,
  type TaskStatus,
} from "../../model/index.ts";
import type { Operation, OperationResult, Page } from "../../ports/index.ts";
import { encodeCardHybrid, encodeCardV1, type InterfaceOptions } from "../shared/card.ts";
import { encodePushExtras } from "../shared/push-config.ts";
import { encodeTime } from "../shared/time.ts";
import { encodeV1Part } from "../shared/v1-parts.ts";
import { ROLES, STATES } from "./names.ts";

export function encodeTask(task: Task): JsonObject {
  const out: Record<string, Json> = {
    id: task.id,
    contextId: task.contextId,
    status: encodeStatus(task.status),
  };
  if (task.artifacts.length > 0) out.artifacts = task.artifacts.map(encodeArtifact);
  if (task.history.length > 0) out.history = task.history.map(encodeMessage);
  const metadata = metadataOf(task);
  if (metadata) out.metadata = metadata;
  return out;
}

function encodeStatus(status: TaskStatus): JsonObject {
  const out: Record<string, Json> = { state: STATES[status.state] };
  if (status.message) out.message = encodeMessage(status.message);
  out.timestamp = encodeTime(status.at);
  return out;
}

export function encodeMessage(message: Message): JsonObject {
  const out: Record<string, Json> = {
    messageId: message.messageId,
    role: ROLES[message.role],
    parts: message.parts.map(encodeV1Part),
  };
  if (message.contextId !== undefined) out.contextId = message.contextId;
  if (message.taskId !== undefined) out.taskId = message.taskId;
  if (message.metadata) out.metadata = message.metadata;
  if (message.extensions?.length) out.extensions = message.extensions;
  if (message.referenceTaskIds?.length) out.referenceTaskIds = message.referenceTaskIds;
  return out;
}

function encodeArtifact(artifact: Artifact): JsonObject {
  const out: Record<string, Json> = { artifactId: artifact.artifactId };
  if (artifact.name !== undefined) out.name = artifact.name;
  if (artifact.description !== undefined) out.description = artifact.description;
  out.parts = artifact.parts.map(encodeV1Part);
  if (artifact.metadata) out.metadata = artifact.metadata;
  if (artifact.extensions?.length) out.extensions = artifact.extensions;
  return out;
}

/** v1 §3.1.4: with `includeArtifacts` the artifacts are present even if there are none. */
export function encodePage(page: Page, includeArtifacts: boolean, encodeOne = encodeTask): JsonObject {
  const tasks = page.tasks.map(task => {
    const { artifacts = [], ...rest } = encodeOne(task);
    return includeArtifacts ? { ...rest, artifacts } : rest;
  });
  return { tasks, nextPageToken: page.nextPageToken, pageSize: page.pageSize, totalSize: page.totalSize };
}

/** v1 §4.2: exactly one of task, message, statusUpdate, artifactUpdate; null: an internal event. */
export function encodeStep(step: Step): JsonObject | null {
  const { event } = step;
  switch (event?.type) {
    case undefined:
      return { task: encodeTask(step.task) };
    case "artifact":
      return { artifactUpdate: encodeArtifactUpdate(step, event) };
    case "reply":
      if (step.task.reply) return { message: encodeMessage(step.task.reply) };
      return { statusUpdate: encodeStatusUpdate(step.task) };
    case "message":
    case "started":
    case "status":
      return { statusUpdate: encodeStatusUpdate(step.task, event) };
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

/** The message of a step with more members in the task or update that it holds; a bare message has none. */
export function extendStep(
  step: Step,
  extend: (encoded: JsonObject, task: Task) => JsonObject,
): JsonObject | null {
  const encoded = encodeStep(step);
  const [name, value] = Object.entries(encoded ?? {})[0] ?? [];
  if (name === undefined || name === "message") return encoded;
  return { [name]: extend(value as JsonObject, step.task) };
}

/** v1 §4.3.1: flat, with a single authentication scheme. */
export function encodeTaskPushConfig({ taskId, config }: { taskId: TaskId; config: PushConfig }): JsonObject {
  const { id, url, token, authentication } = config;
  return defined<JsonObject>({
    id,
    taskId,
    url,
    token,
    authentication:
      authentication &&
      defined<JsonObject>({ scheme: authentication.schemes[0], credentials: authentication.credentials }),
    ...encodePushExtras(config),
  });
}

function encodeStatusUpdate(task: Task, event?: TaskEvent): JsonObject {
  const out: Record<string, Json> = {
    taskId: task.id,
    contextId: task.contextId,
    status: encodeStatus(task.status),
  };
  if (event?.type === "status" && event.metadata) out.metadata = event.metadata;
  return out;
}

function encodeArtifactUpdate(step: Step, event: TaskEvent & { type: "artifact" }): JsonObject {
  const out: Record<string, Json> = {
    taskId: step.taskId,
    contextId: step.contextId,
    artifact: encodeArtifact(event.artifact),
  };
  if (event.append) out.append = true;
  if (event.last) out.lastChunk = true;
  if (event.metadata) out.metadata = event.metadata;
  return out;
}

export function encodeResult(
  operation: Operation,
  answer: OperationResult,
  interfaces: InterfaceOptions,
  encodeOne = encodeTask,
): Json {
  switch (answer.kind) {
    case "task":
      return operation.op === "send" ? { task: encodeOne(answer.task) } : encodeOne(answer.task);
    case "message":
      return { message: encodeMessage(answer.message) };
    case "page":
      return encodePage(answer.page, operation.op === "list" && operation.view.artifacts, encodeOne);
    case "card": {
      const isHybrid = operation.op === "card" && operation.form === "hybrid";
      return isHybrid ? encodeCardHybrid(answer, interfaces) : encodeCardV1(answer, interfaces);
    }
    case "agents":
      return {
        agents: answer.agents.map(agent => ({
          name: agent.name,
          description: agent.card.description,
          url: `${answer.base}/agents/${agent.name}`,
          card: `${answer.base}/agents/${agent.name}/.well-known/agent-card.json`,
          default: agent.name === answer.fallback,
        })),
      };
    case "push":
      return encodeTaskPushConfig(answer);
    case "pushes":
      return { configs: answer.configs.map(encodeTaskPushConfig), nextPageToken: answer.nextPageToken };
    case "nothing":
      return {};
  }
}
