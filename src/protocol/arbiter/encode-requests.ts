import type { JsonObject } from "../../lib/json.ts";
import {
  type Artifact,
  type Fault,
  type FaultCode,
  isTerminal,
  type Part,
  type Step,
  type Task,
  type TaskEvent,
  textOf,
} from "../../model/index.ts";
import type { EncodedStep, WireCall } from "../../ports/index.ts";
import { encodeV03Artifact } from "../shared/v03-encode.ts";
import { encodeUsage, findReply } from "./encode.ts";

/** Arbiter's requests interface beside A2A: a task is a request, its log a stream of Arbiter's own events. */

/** The text of Arbiter. Unknown, ended and foreign requests get the same answer, so that ids cannot be guessed. */
const NOT_RUNNING = "no in-flight request with that id";

const NOT_CANCELABLE: ReadonlySet<FaultCode> = new Set<FaultCode>(["task-not-found", "task-not-cancelable"]);

export function encodeRequestFault(
  { code, message }: Pick<Fault, "code" | "message">,
  call: WireCall,
): JsonObject {
  if (call.method !== "cancel" || !NOT_CANCELABLE.has(code)) return { error: message };
  return { request_id: call.vars.id as string, cancelled: false, reason: NOT_RUNNING };
}

export function encodeRequestEvent(step: Step): EncodedStep | null {
  const { event } = step;
  switch (event?.type) {
    case "message":
      return encodeReceived(step, event.message.parts);
    case "started":
      return toEvent("stream_start", step);
    case "artifact":
      return encodeArtifactEvent(step, event);
    case "usage":
      return toEvent("token_usage", step, encodeUsage(event.usage));
    case "status":
    case "reply":
      return isTerminal(step.task.status.state) ? encodeDone(step.task) : encodeProgress(step);
    case undefined:
      return isTerminal(step.task.status.state) ? encodeDone(step.task) : encodeTextSoFar(step);
    case "answered":
    case "created":
    case "incoming":
    case "noted":
    case "chunk":
    case "released":
    case "shown":
    case "cancel":
      return null;
  }
}

/** A stream has one agent, the master agent of Arbiter: stream 1 at depth 0. */
const toEvent = (event: string, step: Step, data: JsonObject = {}): EncodedStep => ({
  event,
  data: { agent: step.task.agent, stream_id: 1, depth: 0, ...data },
  stableTaskFields: true,
});

const PREVIEW_CHARS = 200;

/** Only for the first message: later ones are further turns of the same request. */
function encodeReceived(step: Step, parts: readonly Part[]): EncodedStep | null {
  const { agent, turn } = step.task;
  if (turn > 1) return null;
  const text = textOf(parts);
  const message = text.length > PREVIEW_CHARS ? `${text.slice(0, PREVIEW_CHARS).toWellFormed()}…` : text;
  return { event: "request_received", data: { agent, request_id: step.taskId, message } };
}

function encodeArtifactEvent(step: Step, event: TaskEvent & { type: "artifact" }): EncodedStep {
  const { artifact, append } = event;
  if (artifact.parts.every(part => part.kind === "text"))
    return toEvent("text", step, { delta: textOf(artifact.parts) });
  const file = encodeFile(artifact);
  return file
    ? toEvent("file", step, file)
    : toEvent("artifact", step, { artifact: encodeV03Artifact(artifact), append });
}

function encodeFile({ artifactId, name, parts }: Artifact): JsonObject | null {
  const [part] = parts;
  if (parts.length !== 1 || part?.kind !== "bytes") return null;
  const path = part.filename ?? name ?? artifactId;
  const type = part.mediaType !== undefined && { mime_type: part.mediaType };
  return { path, encoding: "base64", content: part.bytes, ...type };
}

function encodeProgress(step: Step): EncodedStep | null {
  const { state, message } = step.task.status;
  return message ? toEvent("status", step, { state, message: textOf(message.parts) }) : null;
}

/** Arbiter has no snapshot event: the client gets the text so far in one event. */
function encodeTextSoFar(step: Step): EncodedStep | null {
  const delta = textOf(step.task.artifacts.flatMap(artifact => artifact.parts));
  return delta === "" ? null : toEvent("text", step, { delta });
}

function encodeDone(task: Task): EncodedStep {
  const { status, usage = {} } = task;
  const content = textOf(findReply(task)?.parts ?? []);
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
