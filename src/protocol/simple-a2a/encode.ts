import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import {
  type Artifact,
  type Message,
  metadataOf,
  type Part,
  type PushAuthentication,
  type PushConfig,
  type Step,
  type Task,
  type TaskId,
  type TaskStatus,
} from "../../model/index.ts";
import type { CardResult, Operation, OperationResult } from "../../ports/index.ts";
import { toAgentUrl } from "../shared/card.ts";
import { encodeSecurityV03 } from "../shared/card-security.ts";
import { encodePushConfig } from "../shared/push-config.ts";
import { encodeTime } from "../shared/time.ts";
import { encodeV1Part } from "../shared/v1-parts.ts";
import { STATES } from "./names.ts";

export function encodeTask(task: Task): JsonObject {
  const out: Record<string, Json> = {
    id: task.id,
    contextId: task.contextId,
    status: encodeStatus(task.status),
    artifacts: task.artifacts.map(encodeArtifact),
  };
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

function encodeMessage({ messageId, role, parts, metadata }: Message): JsonObject {
  const out: Record<string, Json> = { messageId, role, parts: parts.map(encodePart) };
  if (metadata) out.metadata = metadata;
  return out;
}

/** In the document only text parts have a `kind`. */
function encodePart(part: Part): JsonObject {
  if (part.kind !== "text") return encodeV1Part(part);
  const { text, ...extras } = encodeV1Part(part);
  return { text: text as Json, kind: "text", ...extras };
}

function encodeArtifact(artifact: Artifact): JsonObject {
  const out: Record<string, Json> = { artifactId: artifact.artifactId };
  if (artifact.name !== undefined) out.name = artifact.name;
  if (artifact.description !== undefined) out.description = artifact.description;
  out.parts = artifact.parts.map(encodePart);
  if (artifact.metadata) out.metadata = artifact.metadata;
  if (artifact.extensions?.length) out.extensions = artifact.extensions;
  return out;
}

/** `final` is true on the event after which the stream ends. */
export function encodeStep(step: Step, closing: boolean): JsonObject | null {
  const { event } = step;
  switch (event?.type) {
    case undefined:
      return encodeSnapshot(step, closing);
    case "artifact":
      return {
        type: "TaskArtifactUpdateEvent",
        taskId: step.taskId,
        contextId: step.contextId,
        artifact: encodeArtifact(event.artifact),
        append: event.append,
        lastChunk: event.last,
        ...(event.metadata && { metadata: event.metadata }),
        final: closing,
      };
    case "message":
    case "started":
    case "reply":
      return encodeStatusEvent(step, closing);
    case "status": {
      const update = encodeStatusEvent(step, closing);
      return event.metadata ? { ...update, metadata: event.metadata } : update;
    }
    case "answered":
      return closing ? encodeStatusEvent(step, closing) : null;
    case "created":
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

function encodeStatusEvent(step: Step, closing: boolean): JsonObject {
  return {
    type: "TaskStatusUpdateEvent",
    taskId: step.taskId,
    contextId: step.contextId,
    status: encodeStatus(step.task.status),
    final: closing,
  };
}

/** simple_a2a has no event for a whole task: a reconnected client gets the status with all artifacts so far. */
function encodeSnapshot(step: Step, closing: boolean): JsonObject {
  const update = encodeStatusEvent(step, closing);
  const { artifacts } = step.task;
  return artifacts.length > 0 ? { ...update, artifacts: artifacts.map(encodeArtifact) } : update;
}

function encodeCard({ agent: { card }, security }: CardResult, url: string): JsonObject {
  return {
    name: card.name,
    version: card.version,
    description: card.description,
    ...(card.provider && { provider: { ...card.provider } }),
    capabilities: {
      streaming: card.streaming,
      pushNotifications: card.push,
      stateTransitionHistory: card.stateTransitionHistory,
    },
    skills: card.skills as unknown as Json,
    interfaces: [{ type: "json-rpc", url, version: "1.0" }],
    ...(card.extensions.length > 0 && { extensions: card.extensions as unknown as Json }),
    ...encodeSecurityV03(security),
  };
}

function encodePush({ taskId, config }: { taskId: TaskId; config: PushConfig }): JsonObject {
  const { url, authentication: _, ...rest } = encodePushConfig(config);
  const { authentication } = config;
  const pushNotificationConfig = defined<JsonObject>({
    webhookUrl: url as Json,
    authenticationInfo: authentication && encodeAuthenticationInfo(authentication),
    ...rest,
  });
  return { id: taskId, pushNotificationConfig };
}

const encodeAuthenticationInfo = ({
  schemes: [scheme = "value"],
  credentials,
  header,
}: PushAuthentication): JsonObject =>
  defined<JsonObject>({ scheme: scheme.toLowerCase(), value: credentials, headerName: header });

export function encodeResult(operation: Operation, result: OperationResult): Json {
  switch (result.kind) {
    case "task":
      return encodeTask(result.task);
    case "page":
      return result.page.tasks.map(encodeTask);
    case "card":
      // The card at /agentCard has the URL of the root, where the default agent is called.
      return encodeCard(result, operation.agent ? toAgentUrl(result) : `${result.base}/`);
    case "push":
      return encodePush(result);
    case "pushes":
      return result.configs.map(encodePush);
    case "nothing":
      return null;
    case "message":
    case "agents":
      throw new Error(`simple_a2a cannot encode a result of the kind "${result.kind}"`);
  }
}
