import type { Json, JsonObject } from "../../lib/json.ts";
import {
  type AgentCard,
  type Artifact,
  type Message,
  metadataOf,
  type Part,
  type Step,
  type Task,
  type TaskStatus,
} from "../../model/index.ts";
import { writePart as writeMemberPart } from "../shared/member-parts.ts";
import { writeTime } from "../shared/time.ts";
import { STATES } from "./names.ts";

export function writeTask(task: Task): JsonObject {
  const out: Record<string, Json> = {
    id: task.id,
    contextId: task.contextId,
    status: writeStatus(task.status),
    artifacts: task.artifacts.map(writeArtifact),
  };
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

function writeMessage({ messageId, role, parts, metadata }: Message): JsonObject {
  const out: Record<string, Json> = { messageId, role, parts: parts.map(writePart) };
  if (metadata) out.metadata = metadata;
  return out;
}

/** Only of text does the document tell a `kind`. */
function writePart(part: Part): JsonObject {
  if (part.kind !== "text") return writeMemberPart(part);
  const { text, ...extras } = writeMemberPart(part);
  return { text: text as Json, kind: "text", ...extras };
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

/** `closing`: `final` is true on the event after which the stream ends. */
export function writeStep(step: Step, closing: boolean): JsonObject | null {
  const { event } = step;
  switch (event?.type) {
    case undefined:
      return writeSnapshot(step, closing);
    case "artifact":
      return {
        type: "TaskArtifactUpdateEvent",
        taskId: step.taskId,
        contextId: step.contextId,
        artifact: writeArtifact(event.artifact),
        append: event.append,
        lastChunk: event.last,
        ...(event.metadata && { metadata: event.metadata }),
        final: closing,
      };
    case "message":
    case "started":
    case "reply":
      return writeStatusEvent(step, closing);
    case "status": {
      const said = writeStatusEvent(step, closing);
      return event.metadata ? { ...said, metadata: event.metadata } : said;
    }
    case "answered":
      return closing ? writeStatusEvent(step, closing) : null;
    case "created":
    case "incoming":
    case "noted":
    case "released":
    case "shown":
    case "cancel":
    case "usage":
      return null;
  }
}

function writeStatusEvent(step: Step, closing: boolean): JsonObject {
  return {
    type: "TaskStatusUpdateEvent",
    taskId: step.taskId,
    contextId: step.contextId,
    status: writeStatus(step.task.status),
    final: closing,
  };
}

/** There is no event for a whole task: a status, and with it what a reader may have missed. */
function writeSnapshot(step: Step, closing: boolean): JsonObject {
  const said = writeStatusEvent(step, closing);
  const { artifacts } = step.task;
  return artifacts.length > 0 ? { ...said, artifacts: artifacts.map(writeArtifact) } : said;
}

/** `url`: where it is called. */
export function writeCard(card: AgentCard, url: string): JsonObject {
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
  };
}
