import type { Json, JsonObject } from "../lib/json.ts";
import type { CredentialRequest } from "./credential.ts";
import type { ErrorRecord } from "./error-record.ts";
import type { AgentName, ContextId, Seq, TaskId } from "./ids.ts";
import type { Artifact, Message } from "./message.ts";
import type { TaskState } from "./task-state.ts";
import type { Usage } from "./usage.ts";

/** A state that an agent, or the runner on its behalf, can put a task in. */
export type ReportedState = Exclude<TaskState, "submitted">;

export type TaskEvent =
  | {
      readonly type: "created";
      readonly id: TaskId;
      readonly contextId: ContextId;
      readonly agent: AgentName;
      readonly origin: string;
      /** The caller's own id of the task: unique among the tasks of one caller and agent. */
      readonly alias?: string;
      readonly metadata?: JsonObject;
      readonly shown: boolean;
      /** It does not wait for the other turns of its context. */
      readonly alone?: boolean;
      /** Its agent replies with bare messages: it is not listed unless it turns out to be a task. */
      readonly quiet?: boolean;
    }
  /** A caller's message: begins a turn. `again`: it repeats the interrupted turn instead. */
  | ({
      readonly type: "message";
      readonly answers?: JsonObject;
      readonly again?: true;
      /** The conversation before this message, as the caller knows it; it was held elsewhere. */
      readonly earlier?: readonly Message[];
    } & CallerMessage)
  /** Answers to some of several questions: the task waits for the rest. */
  | ({ readonly type: "answered"; readonly answers: JsonObject } & CallerMessage)
  /** A message to a task that is being worked on: it is delivered to the run. */
  | ({ readonly type: "incoming" } & CallerMessage)
  /** The result of a step, for a later attempt of the turn. */
  | { readonly type: "noted"; readonly note: StepRecord }
  /** Output in the form of the agent's own framework, for clients of that framework; other dialects do not show it. */
  | { readonly type: "chunk"; readonly mode: string; readonly ns?: readonly string[]; readonly data: Json }
  /** A run has begun. */
  | { readonly type: "started"; readonly attempt: number }
  /** The server released an unfinished run at shutdown; another run will begin. */
  | { readonly type: "released" }
  | {
      readonly type: "status";
      readonly state: ReportedState;
      readonly message?: Message;
      /** The ids of several questions that wait for answers. */
      readonly asks?: readonly string[];
      /** The credentials that the agent needs to act for the caller elsewhere. */
      readonly auth?: CredentialRequest;
      /** The server ended the turn, not the agent: the run failed or was interrupted. */
      readonly broken?: true;
      /** The reason, for operators alone. */
      readonly error?: ErrorRecord;
      /** The status asks whether an interrupted run shall be repeated. */
      readonly again?: true;
      readonly metadata?: JsonObject;
    }
  | {
      readonly type: "artifact";
      readonly artifact: Artifact;
      readonly append: boolean;
      readonly last: boolean;
      /** The first text part continues the artifact's last text part, as streamed text does. */
      readonly join: boolean;
      readonly metadata?: JsonObject;
    }
  /** The agent answers with a bare message. */
  | { readonly type: "reply"; readonly message: Message }
  /** A caller was given the task before the agent's first event. */
  | { readonly type: "shown" }
  /** A caller requests the end of the task. */
  | { readonly type: "cancel"; readonly reason?: string }
  /** `of`: the message to another agent of this server that caused it; it is counted in the task of that message. */
  | { readonly type: "usage"; readonly usage: Usage; readonly of?: string };

/** A caller's message and the facts of its call. */
interface CallerMessage {
  readonly message: Message;
  /** A repeated call with the same key is the same call. */
  readonly key?: IdempotencyKey;
  /** The digest of the call, if a call with the same messageId is to be the same call. */
  readonly once?: string;
  /** The caller's id under which traces of a conversation are grouped. */
  readonly thread?: string;
  /** Media types that the caller accepts, if it named any. */
  readonly accepts?: readonly string[];
  readonly trace?: Trace;
  /** The number of servers that forwarded the call. */
  readonly hops?: number;
  readonly via?: Via;
  readonly request?: RunRequest;
}
/** What a call asks of the run beyond its message, in a protocol whose clients know the agent's framework. */
export interface RunRequest {
  /** The members of the call, as the runtime of that framework reads them. */
  readonly body: JsonObject;
  /** The run begins at this time, in milliseconds. */
  readonly startAt?: number;
}
/** The transport of a call, unless it is JSON-RPC. */
export type Via = "rest" | "grpc";
/** The trace of a call, as its caller sent it (W3C Trace Context, Baggage). */
export interface Trace {
  readonly traceparent: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}
/** The key of a call, and the digest of its content: the key must not be used for another call. */
export interface IdempotencyKey {
  readonly name: string;
  readonly digest: string;
}
export interface StepRecord extends StepKey {
  readonly value: Json;
  /** The step threw: `value` is the error. */
  readonly threw?: true;
}
/** The position of a step in a run. */
export interface StepKey {
  readonly kind: "step" | "sleep" | "now" | "random";
  readonly name: string;
  /** Which one of this kind and name, in the order in which the run began them: 1, 2, 3, … */
  readonly nth: number;
}

export interface RecordedEvent {
  readonly seq: Seq;
  readonly at: number;
  readonly event: TaskEvent;
}

/** The artifact to which the event appends text and does nothing else. */
export function textAppendTarget(event: TaskEvent): string | null {
  if (event.type !== "artifact" || !event.append || !event.join || event.last || event.metadata) return null;
  const { artifactId, parts, name, description, metadata, extensions } = event.artifact;
  const part = parts[0];
  if (parts.length !== 1 || part?.kind !== "text" || name || description || metadata || extensions)
    return null;
  return part.mediaType || part.filename || part.metadata ? null : artifactId;
}

export function textOfEvent(event: TaskEvent): string {
  const part = event.type === "artifact" ? event.artifact.parts[0] : undefined;
  return part?.kind === "text" ? part.text : "";
}

export function toTextAppend(artifactId: string, text: string): TaskEvent & { readonly type: "artifact" } {
  const artifact: Artifact = { artifactId, parts: [{ kind: "text", text }] };
  return { type: "artifact", artifact, append: true, last: false, join: true };
}
