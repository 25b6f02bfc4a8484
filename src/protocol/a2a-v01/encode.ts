import type { Json, JsonObject } from "../../lib/json.ts";
import {
  type Artifact,
  type Message,
  metadataOf,
  type Step,
  type Task,
  type TaskEvent,
  type TaskStatus,
} from "../../model/index.ts";
import type { EncodedStep } from "../../ports/index.ts";
import { writeTime } from "../shared/time.ts";
import { idOf, indexOf, writeArtifact as writeNumbered, writeParts } from "../shared/type-write.ts";
import { carries, STATES } from "./names.ts";

/** `history`: only callers that ask for it get it. */
export function writeTask(task: Task, history: boolean): JsonObject {
  const out: Record<string, Json> = {
    id: idOf(task),
    sessionId: task.contextId,
    status: writeStatus(task.status),
  };
  if (task.artifacts.length > 0) out.artifacts = task.artifacts.map(writeArtifact);
  if (history && task.history.length > 0) out.history = task.history.map(writeMessage);
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

function writeMessage({ role, parts, metadata }: Message): JsonObject {
  const out: Record<string, Json> = { role, parts: writeParts(parts, carries) };
  if (metadata) out.metadata = metadata;
  return out;
}

function writeArtifact(artifact: Artifact, index: number): Record<string, Json> {
  const out = writeNumbered(artifact, index, carries);
  if (artifact.metadata) out.metadata = artifact.metadata;
  return out;
}

/** `closing`: `final` is true on the event after which the stream ends. */
export function writeStep(step: Step, closing: boolean): EncodedStep | null {
  const { event } = step;
  switch (event?.type) {
    case undefined:
      return { data: writeSnapshot(step.task, closing) };
    case "artifact":
      // Neither the caller's id nor the number of an artifact changes while words are added to it.
      return { data: writeChunk(step.task, event), steady: true };
    case "message":
    case "started":
    case "status":
    case "reply": {
      const update = { id: idOf(step.task), status: writeStatus(step.task.status), final: closing };
      const metadata = event.type === "status" ? event.metadata : undefined;
      return { data: metadata ? { ...update, metadata } : update };
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

/** v0.1 streams no tasks. Whoever comes back gets a status, and with it what he may have missed. */
function writeSnapshot(task: Task, closing: boolean): JsonObject {
  const update = { id: idOf(task), status: writeStatus(task.status), final: closing };
  return task.artifacts.length > 0 ? { ...update, artifacts: task.artifacts.map(writeArtifact) } : update;
}

/** Whether a chunk goes on, and whether it is the last one, is said in the artifact itself. */
function writeChunk(task: Task, event: TaskEvent & { type: "artifact" }): JsonObject {
  const { artifact, append, last: lastChunk, metadata } = event;
  const chunk = { ...writeArtifact(artifact, indexOf(task, artifact.artifactId)), append, lastChunk };
  const update = { id: idOf(task), artifact: chunk };
  return metadata ? { ...update, metadata } : update;
}
