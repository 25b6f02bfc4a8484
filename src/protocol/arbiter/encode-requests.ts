import { type JsonObject, toJsonLine } from "../../lib/json.ts";
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
import type { EncodedFrame, StreamEncoder, WireCall, WireFault } from "../../ports/index.ts";
import { encodeV03Artifact } from "../shared/v03-encode.ts";
import { encodeUsage, findReply } from "./encode.ts";

/** Arbiter's own interface beside A2A: a task is a request, its log a stream of Arbiter's own events. */

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

/** Encodes the steps of one request as events of Arbiter's catalogue. */
export class RequestEncoder implements StreamEncoder {
  readonly after = undefined;
  readonly isOver = false;
  readonly #agent: string | undefined;

  /** `agent`: the name under which the caller knows the agent; undefined: its own. */
  constructor(agent: string | undefined) {
    this.#agent = agent;
  }

  encode(step: Step, closing: boolean): readonly EncodedFrame[] {
    const { task } = step;
    const agent = this.#agent ?? task.agent;
    const isEnd = isTerminal(task.status.state) || closing;
    const events = encodeEvent(step, agent);
    // A reader that has the last event gets the end of the request only.
    if (!isEnd || step.event === null) return isEnd ? [encodeDone(task)] : events;
    return [...events, ...encodeFailure(task), encodeStreamEnd(task, agent), encodeDone(task)];
  }

  encodeFault({ message }: WireFault): readonly EncodedFrame[] {
    return [toFrame("error", { message }), toFrame("done", { ok: false, error: message })];
  }
}

const toFrame = (event: string, data: JsonObject): EncodedFrame => ({ event, data: toJsonLine(data) });

function encodeEvent(step: Step, agent: string): readonly EncodedFrame[] {
  const { event, task } = step;
  switch (event?.type) {
    case "message":
      return encodeReceived(task, agent, event.message.parts);
    case "started":
      return [toEvent("stream_start", agent)];
    case "artifact":
      return [encodeArtifactEvent(agent, event)];
    case "usage":
      return [toEvent("token_usage", agent, encodeUsage(event.usage))];
    case "status":
    case "reply":
      return isTerminal(task.status.state) ? [] : encodeProgress(task, agent);
    case undefined:
      return task.status.state === "submitted"
        ? encodeReceived(task, agent, task.history[0]?.parts ?? [])
        : encodeTextSoFar(task, agent);
    case "answered":
    case "created":
    case "incoming":
    case "noted":
    case "chunk":
    case "released":
    case "shown":
    case "cancel":
      return [];
  }
}

/** A stream has one agent, the master agent of Arbiter: stream 1 at depth 0. */
const toEvent = (event: string, agent: string, data: JsonObject = {}): EncodedFrame =>
  toFrame(event, { agent, stream_id: 1, depth: 0, ...data });

const PREVIEW_CHARS = 200;

/** Only for the first message: later ones are further turns of the same request. */
function encodeReceived({ id, turn }: Task, agent: string, parts: readonly Part[]): readonly EncodedFrame[] {
  if (turn > 1) return [];
  const text = textOf(parts);
  const message = text.length > PREVIEW_CHARS ? `${text.slice(0, PREVIEW_CHARS).toWellFormed()}…` : text;
  return [toFrame("request_received", { agent, request_id: id, message })];
}

function encodeArtifactEvent(agent: string, event: TaskEvent & { type: "artifact" }): EncodedFrame {
  const { artifact, append } = event;
  if (artifact.parts.every(part => part.kind === "text"))
    return toEvent("text", agent, { delta: textOf(artifact.parts) });
  const file = encodeFile(artifact);
  return file
    ? toEvent("file", agent, file)
    : toEvent("artifact", agent, { artifact: encodeV03Artifact(artifact), append });
}

function encodeFile({ artifactId, name, parts }: Artifact): JsonObject | null {
  const [part] = parts;
  if (parts.length !== 1 || part?.kind !== "bytes") return null;
  const path = part.filename ?? name ?? artifactId;
  const type = part.mediaType !== undefined && { mime_type: part.mediaType };
  return { path, encoding: "base64", content: part.bytes, ...type };
}

function encodeProgress({ status }: Task, agent: string): readonly EncodedFrame[] {
  const { state, message } = status;
  return message ? [toEvent("status", agent, { state, message: textOf(message.parts) })] : [];
}

/** Arbiter has no snapshot event: the client gets the text so far in one event. */
function encodeTextSoFar({ artifacts }: Task, agent: string): readonly EncodedFrame[] {
  const delta = textOf(artifacts.flatMap(artifact => artifact.parts));
  return delta === "" ? [] : [toEvent("text", agent, { delta })];
}

/** A question is no failure: the request is done, and the task waits. */
const isOk = ({ status }: Task): boolean => status.state === "completed" || !isTerminal(status.state);
const reasonOf = (task: Task): string => textOf(findReply(task)?.parts ?? []) || task.status.state;

const encodeFailure = (task: Task): readonly EncodedFrame[] =>
  isOk(task) ? [] : [toFrame("error", { message: reasonOf(task) })];

const encodeStreamEnd = (task: Task, agent: string): EncodedFrame =>
  toFrame("stream_end", { agent, stream_id: 1, ok: isOk(task) });

function encodeDone(task: Task): EncodedFrame {
  const { status, usage = {} } = task;
  const ok = isOk(task);
  return toFrame("done", {
    ok,
    content: textOf(findReply(task)?.parts ?? []),
    input_tokens: usage.inputTokens ?? 0,
    output_tokens: usage.outputTokens ?? 0,
    duration_ms: status.at - task.createdAt,
    request_id: task.id,
    ...(!ok && { error: reasonOf(task) }),
  });
}
