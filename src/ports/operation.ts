/** Operations and their results, independent of any dialect. */

import type { BatchSource } from "../lib/batch-source.ts";
import type { JsonObject } from "../lib/json.ts";
import type {
  AgentName,
  ContextId,
  Message,
  NewPushConfig,
  Permission,
  PushConfig,
  RunRequest,
  SecurityScheme,
  Seq,
  Step,
  Task,
  TaskId,
  Trace,
  Until,
  Via,
  View,
} from "../model/index.ts";
import type { Agent } from "./runtime.ts";
import type { ListFilter, Page } from "./store.ts";

/** `choice`, where no agent is named: "only": the agent, if there is a single one; "any": the agent of the task. */
export type Operation = {
  readonly agent: AgentName | undefined;
  readonly choice?: "only" | "any";
  readonly tenant?: string;
  /** The form of the response, in a dialect that has several. */
  readonly form?: string;
} & (
  | {
      readonly op: "send";
      readonly send: SendRequest;
      readonly until: Until | "accepted";
      readonly view: View;
    }
  | {
      readonly op: "stream";
      readonly send: SendRequest;
      readonly until: Until;
      readonly view: View;
      /** Of a repeated call: only the events after this one. */
      readonly from?: Seq;
    }
  | {
      readonly op: "subscribe";
      /** undefined: the newest task of the context that has not settled. */
      readonly taskId: TaskId | undefined;
      readonly contextId?: ContextId;
      /** "beginning": all events; only a snapshot if the task has ended. */
      readonly from: Seq | "snapshot" | "beginning";
      readonly until: Until;
      /** A replay of all events begins with the task, as the live stream did; a reader that has the last one gets nothing. */
      readonly taskFirst?: true;
      /** The response for an ended task: v1 §3.1.6 an error, v0.3 the task once. */
      readonly ended: "fault" | "snapshot";
    }
  /** `contextId`, here and below: the task must be in this context. */
  | {
      readonly op: "get";
      readonly taskId: TaskId;
      readonly contextId?: ContextId;
      readonly view: View;
      /** The caller has this generation: the response waits for the next one, for a limited time. */
      readonly newerThan?: number;
    }
  /** `whole`: all tasks in one result, as far as they fit `LIMITS.pageBytesMax`. */
  | { readonly op: "list"; readonly filter: ListFilter; readonly view: View; readonly whole?: true }
  | {
      readonly op: "cancel";
      /** undefined: the newest task of the context that has not settled. */
      readonly taskId: TaskId | undefined;
      readonly contextId?: ContextId;
      readonly reason?: string;
      /** The response for a task that is already canceled (D5). */
      readonly again: "task" | "fault";
    }
  /** `field`: the parameter that holds the config; "": the parameters are the config. */
  | {
      readonly op: "push-set";
      readonly taskId: TaskId;
      readonly config: NewPushConfig;
      readonly field: string;
      readonly names?: PushFieldNames;
    }
  /** Without an id, here and below: the only config, or the first. `none`: the response if it is not found. */
  | {
      readonly op: "push-get";
      readonly taskId: TaskId;
      readonly id?: string;
      readonly none: "fault" | "nothing";
    }
  | {
      readonly op: "push-list";
      /** undefined: of the newest tasks, as many as one response can have. */
      readonly taskId?: TaskId;
      readonly pageSize?: number;
      readonly pageToken?: string;
    }
  | { readonly op: "push-delete"; readonly taskId: TaskId; readonly id?: string }
  /** `grants`: the caller's permissions; added by the pipeline. */
  | { readonly op: "extended-card"; readonly base: string; readonly grants?: readonly Permission[] }
  | { readonly op: "card"; readonly base: string; readonly form: string }
  | { readonly op: "agents"; readonly base: string }
  /** The caller reads or changes a record of its own beside its tasks: nothing is done but to check that it may. */
  | { readonly op: "read-resource" }
  | { readonly op: "write-resource" }
);
export interface SendRequest {
  readonly origin: string;
  /** The server creates an id if the caller gave none. */
  readonly message: Omit<Message, "messageId"> & { readonly messageId?: string };
  /** This dialect has no bare messages: its caller gets a task even if the agent replies with a message. */
  readonly shown?: true;
  readonly taskId?: TaskId;
  /**
   * The message answers this task if it waits for its caller, else it begins a new task in the same context. `turn`: it must
   * be the newest turn of the task. `field`: the parameter that names it.
   */
  readonly follows?: { readonly taskId: TaskId; readonly turn?: number; readonly field: string };
  /** The message is an answer: it is refused unless a task waits for it. */
  readonly answer?: AnswerTarget;
  /** The conversation before the message, where it was held elsewhere: recorded with the first task of a context. */
  readonly earlier?: readonly Message[];
  /** The caller wants JSON by a schema: the agent must declare its output. `field`: the parameter that says so. */
  readonly structured?: { readonly field: string };
  /** "new": a message for a task that is not found or takes none begins a new task. */
  readonly stray?: "new";
  /** The caller's own id of the task: continues the task with this alias, or gives it to a new one. */
  readonly alias?: string;
  readonly contextId?: ContextId;
  /**
   * Without a task id, the message answers a task of its context that waits. "one": for input, if there is exactly one and
   * the agent's policy allows it. "newest": the newest one, also for credentials; for protocols without task ids.
   */
  readonly contextAnswers?: "one" | "newest";
  /** The Idempotency-Key: a repeated call with the same key is the same call. */
  readonly key?: string;
  /** The id under which traces of the conversation are grouped. */
  readonly thread?: string;
  /** The protocol has no threads: traces are grouped by the context. */
  readonly threadless?: true;
  /** The parameter that holds the data of the message, in the dialects that have no `message.parts`. */
  readonly inputField?: string;
  /** The parameter with the parts, and the member of a part with its data; absent: `message.parts` and `data`. */
  readonly partNames?: { readonly parts: string; readonly data: string };
  /** The member of the agent's input for text; an agent whose input schema lacks it takes no text. */
  readonly textInto?: string;
  readonly metadata?: JsonObject;
  readonly acceptedOutputModes?: readonly string[];
  readonly extensions: readonly string[];
  readonly trace?: Trace;
  /** The number of servers that forwarded the call. */
  readonly hops?: number;
  readonly via?: Via;
  /** A push config to set with the message, and the parameter that holds it. */
  readonly push?: {
    readonly field: string;
    readonly config: NewPushConfig;
    readonly names?: PushFieldNames;
  };
  /** What the call asks of the run beyond its message: the message then begins a turn, and is found by its id. */
  readonly request?: RunRequest;
  /** No other turn of the context may be due or running: else Fault("busy"). */
  readonly free?: true;
  /** A task that exists must have this generation: else Fault("task-generation-mismatch"). */
  readonly ifGeneration?: number;
}

/** The members of a config that the operation checks, in a protocol that has other names for them. */
export interface PushFieldNames {
  readonly url: string;
  readonly header: string;
}

/** What an answer is for. `field`: the parameter that says so. */
export interface AnswerTarget {
  readonly field: string;
  /** The id of the message that asks. */
  readonly question?: string;
  /** The ids of several questions, each with the parameter that names it. */
  readonly ids?: readonly { readonly id: string; readonly field: string }[];
  /** The name of the credentials that are given. */
  readonly credentials?: string;
}

export type OperationResult =
  /** `seq`: of a send, the event of the message. */
  | { readonly kind: "task"; readonly task: Task; readonly agent: Agent; readonly seq?: Seq }
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "page"; readonly page: Page }
  /** Without its secrets. */
  | { readonly kind: "push"; readonly taskId: TaskId; readonly config: PushConfig }
  | {
      readonly kind: "pushes";
      readonly configs: readonly { readonly taskId: TaskId; readonly config: PushConfig }[];
      readonly nextPageToken: string;
    }
  | { readonly kind: "nothing" }
  | CardResult
  | {
      readonly kind: "agents";
      readonly agents: readonly Agent[];
      /** Their cards, in the same order. */
      readonly cards: readonly CardResult[];
      /** undefined: there is none for this caller. */
      readonly fallback: AgentName | undefined;
      readonly base: string;
    };
export interface CardResult {
  readonly kind: "card";
  readonly agent: Agent;
  readonly isDefault: boolean;
  readonly base: string;
  /** The accepted security schemes; any of them is enough. */
  readonly security: readonly SecurityScheme[];
}
/** All steps that are available at once. */
export interface StepBatch {
  readonly steps: readonly Step[];
  /** The last batch of the stream. */
  readonly closing: boolean;
}
/** `compacted`: the events after the one that the reader named were deleted; it gets the task as it stands. */
export type StepStream = BatchSource<StepBatch> & { readonly compacted?: true };
export const isStepStream = (result: OperationResult | StepStream): result is StepStream => "take" in result;
