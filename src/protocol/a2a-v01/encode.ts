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
import type { EncodedStep, Operation, OperationResult } from "../../ports/index.ts";
import { encodeCardV01, toAgentUrl } from "../shared/card.ts";
import { encodeTime } from "../shared/time.ts";
import {
  encodeV01Artifact,
  encodeV01Parts,
  encodeV01Push,
  findArtifactIndex,
  getCallerTaskId,
} from "../shared/v01-encode.ts";
import { allowsData, STATES } from "./names.ts";

/** `history`: only if the caller requested it. */
export function encodeTask(task: Task, history: boolean): JsonObject {
  const out: Record<string, Json> = {
    id: getCallerTaskId(task),
    sessionId: task.contextId,
    status: encodeStatus(task.status),
  };
  if (task.artifacts.length > 0) out.artifacts = task.artifacts.map(encodeArtifact);
  if (history && task.history.length > 0) out.history = task.history.map(encodeMessage);
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

function encodeMessage({ role, parts, metadata }: Message): JsonObject {
  const out: Record<string, Json> = { role, parts: encodeV01Parts(parts, allowsData) };
  if (metadata) out.metadata = metadata;
  return out;
}

function encodeArtifact(artifact: Artifact, index: number): Record<string, Json> {
  const out = encodeV01Artifact(artifact, index, allowsData);
  if (artifact.metadata) out.metadata = artifact.metadata;
  return out;
}

/** `final` is true on the event after which the stream ends. */
export function encodeStep(step: Step, closing: boolean): EncodedStep | null {
  const { event } = step;
  switch (event?.type) {
    case undefined:
      return { data: encodeSnapshot(step.task, closing) };
    case "artifact":
      // Task id and artifact index stay the same while text is appended.
      return { data: encodeChunk(step.task, event), stableTaskFields: true };
    case "message":
    case "started":
    case "status":
    case "reply": {
      const update = {
        id: getCallerTaskId(step.task),
        status: encodeStatus(step.task.status),
        final: closing,
      };
      const metadata = event.type === "status" ? event.metadata : undefined;
      return { data: metadata ? { ...update, metadata } : update };
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

/** v0.1 has no task in a stream: a reconnected client gets the status with all artifacts so far. */
function encodeSnapshot(task: Task, closing: boolean): JsonObject {
  const update = { id: getCallerTaskId(task), status: encodeStatus(task.status), final: closing };
  return task.artifacts.length > 0 ? { ...update, artifacts: task.artifacts.map(encodeArtifact) } : update;
}

/** `append` and `lastChunk` are members of the artifact. */
function encodeChunk(task: Task, event: TaskEvent & { type: "artifact" }): JsonObject {
  const { artifact, append, last: lastChunk, metadata } = event;
  const chunk = {
    ...encodeArtifact(artifact, findArtifactIndex(task, artifact.artifactId)),
    append,
    lastChunk,
  };
  const update = { id: getCallerTaskId(task), artifact: chunk };
  return metadata ? { ...update, metadata } : update;
}

export function encodeResult(operation: Operation, result: OperationResult): Json {
  switch (result.kind) {
    case "task": {
      const hasHistory = "view" in operation && operation.view.historyMax !== undefined;
      return encodeTask(result.task, hasHistory);
    }
    case "card":
      return encodeCardV01(result, toAgentUrl(result));
    case "push":
      return encodeV01Push(result);
    case "nothing":
      return null;
    case "message":
    case "page":
    case "agents":
    case "pushes":
      throw new Error(`v0.1 cannot encode a result of the kind "${result.kind}"`);
  }
}
