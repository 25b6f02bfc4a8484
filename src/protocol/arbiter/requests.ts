import type { JsonObject } from "../../lib/json.ts";
import {
  type Artifact,
  isTerminal,
  type Part,
  type Step,
  type Task,
  type TaskEvent,
  textOf,
} from "../../model/index.ts";
import type { EncodedStep, WireCall } from "../../ports/index.ts";
import { writeArtifact } from "../shared/kind-write.ts";
import { replyOf, writeUsage } from "./encode.ts";

/** Arbiter's own interface, beside A2A: a task is a request, told in events of its own words. */

/** Its own words. Not there, over and not the caller's are one and the same, so that nobody can guess ids. */
const NOT_RUNNING = "no in-flight request with that id";

export const writeCanceled = (task: Task): JsonObject => ({ request_id: task.id, cancelled: true });

/** `isLost`: there is nothing that could be canceled. */
export function writeRefusal(message: string, isLost: boolean, call: WireCall): JsonObject {
  if (call.method !== "cancel" || !isLost) return { error: message };
  return { request_id: call.vars.id as string, cancelled: false, reason: NOT_RUNNING };
}

export function writeEvent(step: Step): EncodedStep | null {
  const { event } = step;
  switch (event?.type) {
    case "message":
      return writeReceived(step, event.message.parts);
    case "started":
      return say("stream_start", step);
    case "artifact":
      return writeMade(step, event);
    case "usage":
      return say("token_usage", step, writeUsage(event.usage));
    case "status":
    case "reply":
      return isTerminal(step.task.status.state) ? writeDone(step.task) : writeProgress(step);
    case undefined:
      return isTerminal(step.task.status.state) ? writeDone(step.task) : writeSoFar(step);
    case "answered":
    case "created":
    case "incoming":
    case "noted":
    case "released":
    case "shown":
    case "cancel":
      return null;
  }
}

/** Every agent is the master of its own stream: there are no others in it. */
const say = (event: string, step: Step, data: JsonObject = {}): EncodedStep => ({
  event,
  data: { agent: step.task.agent, stream_id: 1, depth: 0, ...data },
  steady: true,
});

const BRIEF_CHARS = 200;

/** Once, at the beginning: what comes later is another turn of the same request. */
function writeReceived(step: Step, parts: readonly Part[]): EncodedStep | null {
  const { agent, turn } = step.task;
  if (turn > 1) return null;
  const text = textOf(parts);
  const message = text.length > BRIEF_CHARS ? `${text.slice(0, BRIEF_CHARS).toWellFormed()}…` : text;
  return { event: "request_received", data: { agent, request_id: step.taskId, message } };
}

function writeMade(step: Step, event: TaskEvent & { type: "artifact" }): EncodedStep {
  const { artifact, append } = event;
  if (artifact.parts.every(part => part.kind === "text"))
    return say("text", step, { delta: textOf(artifact.parts) });
  const file = writeFile(artifact);
  return file
    ? say("file", step, file)
    : say("artifact", step, { artifact: writeArtifact(artifact), append });
}

function writeFile({ artifactId, name, parts }: Artifact): JsonObject | null {
  const [part] = parts;
  if (parts.length !== 1 || part?.kind !== "bytes") return null;
  const path = part.filename ?? name ?? artifactId;
  const type = part.mediaType !== undefined && { mime_type: part.mediaType };
  return { path, encoding: "base64", content: part.bytes, ...type };
}

/** A word on the way. */
function writeProgress(step: Step): EncodedStep | null {
  const { state, message } = step.task.status;
  return message ? say("status", step, { state, message: textOf(message.parts) }) : null;
}

/** There is no event for a task as it stands: who needs one gets the text so far in one piece. */
function writeSoFar(step: Step): EncodedStep | null {
  const delta = textOf(step.task.artifacts.flatMap(artifact => artifact.parts));
  return delta === "" ? null : say("text", step, { delta });
}

function writeDone(task: Task): EncodedStep {
  const { status, usage = {} } = task;
  const content = textOf(replyOf(task)?.parts ?? []);
  const ok = status.state === "completed";
  return {
    event: "done",
    data: {
      ok,
      content,
      input_tokens: usage.inputTokens ?? 0,
      output_tokens: usage.outputTokens ?? 0,
      duration_ms: status.at - task.createdAt,
      request_id: task.id,
      ...(!ok && { error: content || status.state }),
    },
  };
}
