import type { AgentName, ContextId, Seq, TaskId } from "./ids.ts";
import type { JsonObject } from "./json.ts";
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
      readonly metadata?: JsonObject;
      readonly shown: boolean;
    }
  /** A caller's message: begins a turn. */
  | { readonly type: "message"; readonly message: Message }
  /** A run has begun. */
  | { readonly type: "started"; readonly attempt: number }
  /** A run was given back unfinished, in good order; another will begin. */
  | { readonly type: "released" }
  | {
      readonly type: "status";
      readonly state: ReportedState;
      readonly message?: Message;
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

export interface Recorded {
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
}

/** The task as it stands, for a reader who joins in the middle. */
export function snapshotOf(task: Task, seq: Seq, at = task.status.at): Step {
  return { seq, at, taskId: task.id, contextId: task.contextId, event: null, task };
}
