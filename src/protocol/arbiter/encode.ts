import type { Json, JsonObject } from "../../lib/json.ts";
import {
  type Artifact,
  isSettled,
  isTerminal,
  type Message,
  type Part,
  type Step,
  type Task,
  type TaskEvent,
  type TaskStatus,
  type Usage,
} from "../../model/index.ts";
import type { EncodedStep } from "../../ports/index.ts";
import { writeArtifact, writeMessage, writeStatus } from "../shared/kind-write.ts";

/** The words of callers and the reply are its history; what was said on the way is not. */
export function writeTask(task: Task): JsonObject {
  const out: Record<string, Json> = {
    kind: "task",
    id: task.id,
    contextId: task.contextId,
    status: writeStatus(statusOf(task)),
  };
  if (isSettled(task.status.state)) {
    const artifacts = task.artifacts.filter(artifact => !isSaid(task, artifact));
    if (artifacts.length > 0) out.artifacts = artifacts.map(one => writeNamed(task, one));
    const reply = replyOf(task);
    const asked = task.history.filter(message => message.role === "user");
    out.history = (reply ? [...asked, reply] : asked).map(writeMessage);
  }
  out.metadata = { ...task.metadata, ...factsOf(task) };
  return out;
}

function statusOf(task: Task): TaskStatus {
  const { state, at } = task.status;
  const message = replyOf(task);
  return message ? { state, message, at } : { state, at };
}

/**
 * As long as a task is being worked on, its state is all there is to say. In the end it is the words of the last
 * status, else all the text that the agent made.
 */
export function replyOf({ id: taskId, contextId, status, artifacts }: Task): Message | undefined {
  if (!isTerminal(status.state)) return isSettled(status.state) ? status.message : undefined;
  const parts = status.message?.parts ?? artifacts.flatMap(one => one.parts).filter(isText);
  if (parts.length === 0) return undefined;
  return { ...status.message, messageId: `${taskId}-r`, role: "agent", parts, taskId, contextId };
}

const isText = (part: Part | undefined): boolean => part?.kind === "text";
/** Whether an artifact is in the reply already. */
const isSaid = (task: Task, { parts }: Artifact): boolean => !task.status.message && parts.every(isText);

function factsOf({ agent, usage = {} }: Task): JsonObject {
  return {
    "x-arbiter.agent_id": agent,
    "x-arbiter.input_tokens": usage.inputTokens ?? 0,
    "x-arbiter.output_tokens": usage.outputTokens ?? 0,
  };
}

/** Counters by the names that they have here: `input_tokens`. */
export const writeUsage = (usage: Usage): JsonObject =>
  Object.fromEntries(
    Object.entries(usage).map(([name, count]) => [
      name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      count,
    ]),
  );

/** Texts are numbered; one without a name is the response. Neither changes while words are added. */
function writeNamed(task: Task, piece: Artifact): JsonObject {
  const { artifactId } = piece;
  const texts = task.artifacts.filter(one => isText(one.parts[0]));
  const at = texts.findIndex(one => one.artifactId === artifactId);
  if (at === -1) return writeArtifact(piece);
  const name = texts[at]?.name ?? "response";
  return writeArtifact({ ...piece, artifactId: `${task.id}-text-${at}`, name });
}

/** `closing`: `final` is true on the event after which the stream ends. */
export function writeStep(step: Step, closing: boolean): EncodedStep | null {
  const { event } = step;
  switch (event?.type) {
    case "artifact":
      return { event: "message", data: writeChunk(step, event), steady: true };
    case undefined:
    case "answered":
      return closing ? writeUpdate(step, true) : null;
    case "started":
    case "reply":
    case "status":
      return writeUpdate(step, closing, event.type === "status" ? event.metadata : undefined);
    case "usage":
      return writeUpdate(step, closing, { "x-arbiter.usage": writeUsage(event.usage) });
    case "created":
    case "message":
    case "incoming":
    case "noted":
    case "released":
    case "shown":
    case "cancel":
      return null;
  }
}

function writeChunk(step: Step, event: TaskEvent & { type: "artifact" }): JsonObject {
  return {
    kind: "artifact-update",
    taskId: step.taskId,
    contextId: step.contextId,
    artifact: writeNamed(step.task, event.artifact),
    append: event.append,
    ...(event.last && { lastChunk: true }),
    ...(event.metadata && { metadata: event.metadata }),
  };
}

function writeUpdate(step: Step, closing: boolean, metadata?: JsonObject): EncodedStep {
  const { task } = step;
  const status = isSettled(task.status.state) ? statusOf(task) : task.status;
  const data = {
    kind: "status-update",
    taskId: step.taskId,
    contextId: step.contextId,
    status: writeStatus(status),
    final: closing,
    ...(metadata && { metadata }),
  };
  return { event: "message", data };
}
