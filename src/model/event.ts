import type { Json, JsonObject } from "../lib/json.ts";
import type { CredentialRequest } from "./credential.ts";
import type { ErrorRecord } from "./error-record.ts";
import type { AgentName, ContextId, Seq, TaskId } from "./ids.ts";
import type { Artifact, Message } from "./message.ts";
import type { Task, TaskState, Usage } from "./task.ts";

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
      /** Its agent answers with bare messages: it is not listed unless it turns out to be a task. */
      readonly quiet?: boolean;
    }
  /** A caller's message: begins a turn. `again`: it lets the turn that was cut off be run once more instead. */
  | ({ readonly type: "message"; readonly answers?: JsonObject; readonly again?: true } & CallerMessage)
  /** Answers to some of several questions: the task waits for the rest. */
  | ({ readonly type: "answered"; readonly answers: JsonObject } & CallerMessage)
  /** A message to a task that is being worked on: it reaches the run. */
  | ({ readonly type: "incoming" } & CallerMessage)
  /** What a run wants to find again if it has to begin anew. */
  | { readonly type: "noted"; readonly note: StepRecord }
  /** A run has begun. */
  | { readonly type: "started"; readonly attempt: number }
  /** A run was given back unfinished, in good order; another will begin. */
  | { readonly type: "released" }
  | {
      readonly type: "status";
      readonly state: ReportedState;
      readonly message?: Message;
      /** The ids of several questions that wait for answers. */
      readonly asks?: readonly string[];
      /** What the caller is asked to give, so that the agent can act for it elsewhere. */
      readonly auth?: CredentialRequest;
      /** The agent did not say so itself: it broke off. */
      readonly broken?: true;
      /** Why, for operators alone. */
      readonly error?: ErrorRecord;
      /** It asks whether work that was cut off shall be run again. */
      readonly again?: true;
      readonly metadata?: JsonObject;
    }
  | {
      readonly type: "artifact";
      readonly artifact: Artifact;
      readonly append: boolean;
      readonly last: boolean;
      /** The first text part goes on where the artifact's last text part ends, as streamed words do. */
      readonly join: boolean;
      readonly metadata?: JsonObject;
    }
  /** The agent answers with a bare message. */
  | { readonly type: "reply"; readonly message: Message }
  /** A caller was given the task before the agent's first word. */
  | { readonly type: "shown" }
  /** A caller wants it to end. */
  | { readonly type: "cancel"; readonly reason?: string }
  | { readonly type: "usage"; readonly usage: Usage };

/** What a caller said, and what came with it. */
interface CallerMessage {
  readonly message: Message;
  /** A repeated call with the same key is the same call. */
  readonly key?: IdempotencyKey;
  /** What the call said, if a call with the same messageId is to be the same call. */
  readonly once?: string;
  /** Under which traces of a conversation are grouped, if the caller said so. */
  readonly thread?: string;
  /** Media types that the caller can read, if it said so. */
  readonly accepts?: readonly string[];
  readonly trace?: Trace;
  /** Through how many servers the call came that passed it on. */
  readonly hops?: number;
  readonly via?: Via;
}
/** How a call came, if not as JSON-RPC. */
export type Via = "rest" | "grpc";
/** Where a call stands in a trace, as its caller said it (W3C Trace Context, Baggage). */
export interface Trace {
  readonly traceparent: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}
/** A name that a caller gave to one call, and what the call said: the name must not be used for another. */
export interface IdempotencyKey {
  readonly name: string;
  readonly digest: string;
}
export interface StepRecord extends StepKey {
  readonly value: Json;
  /** The step threw: then the value tells what. */
  readonly threw?: true;
}
/** Where in a run something is noted. */
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

/** One thing in a stream: the task as it stands after the event; null: a snapshot. */
export interface Step {
  readonly seq: Seq;
  readonly at: number;
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  readonly event: TaskEvent | null;
  /** May be folded only when somebody looks: most readers need nothing but the event. */
  readonly task: Task;
  /** What dialects have made of it: all readers of a log share its steps, so each is written once per dialect. */
  memo?: unknown;
  /** See `wordsIn`; undefined: nobody has looked yet. */
  words?: string | null | undefined;
  /** The JSON of the event, from its append to its commit; null: it is made at the commit (see `prepare` in the store). */
  json?: string | null;
}

/** The JSON of what a step adds to an artifact, if that is nothing but words, as it mostly is; made once. */
export function appendedTextJson(step: Step): string | null {
  if (step.words !== undefined) return step.words;
  const { event } = step;
  step.words = event && textAppendTarget(event) !== null ? JSON.stringify(textOfEvent(event)) : null;
  return step.words;
}

/** The artifact to which the event adds nothing but words. */
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

/** The event that adds these words. */
export function toTextAppend(artifactId: string, text: string): TaskEvent & { readonly type: "artifact" } {
  const artifact: Artifact = { artifactId, parts: [{ kind: "text", text }] };
  return { type: "artifact", artifact, append: true, last: false, join: true };
}

/** The task as it stands, for a reader who joins in the middle. */
export function snapshotOf(task: Task, seq: Seq, at = task.status.at): Step {
  return { seq, at, taskId: task.id, contextId: task.contextId, event: null, task };
}
