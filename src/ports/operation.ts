/** What is asked and what is answered, in neutral words. */

import type { BatchSource } from "../lib/batch-source.ts";
import type { JsonObject } from "../lib/json.ts";
import type {
  AgentName,
  ContextId,
  ListFilter,
  Message,
  NewPush,
  Page,
  Permission,
  PushConfig,
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
import type { Agent } from "./index.ts";

/** `choice`, where no agent is named: "only" the one there is, if it is the only one; "any": the task's own. */
export type Operation = {
  readonly agent: AgentName | undefined;
  readonly choice?: "only" | "any";
  readonly tenant?: string;
  /** In which of its forms the dialect says the answer, where it has several. */
  readonly form?: string;
} & (
  | { readonly op: "send"; readonly send: Send; readonly until: Until | "accepted"; readonly view: View }
  | {
      readonly op: "stream";
      readonly send: Send;
      readonly until: Until;
      readonly view: View;
      /** Of a call that was made before: only what came after this place. */
      readonly from?: Seq;
    }
  | {
      readonly op: "subscribe";
      readonly taskId: TaskId;
      readonly contextId?: ContextId;
      /** "beginning": all of it; of an ended task, too, only a snapshot. */
      readonly from: Seq | "snapshot" | "beginning";
      readonly until: Until;
      /** What a reader of an ended task gets: v1 §3.1.6 an error, v0.3 the task once. */
      readonly ended: "fault" | "snapshot";
    }
  /** `contextId`, here and below: the task must be in this context. */
  | { readonly op: "get"; readonly taskId: TaskId; readonly contextId?: ContextId; readonly view: View }
  | { readonly op: "list"; readonly filter: ListFilter; readonly view: View }
  | {
      readonly op: "cancel";
      readonly taskId: TaskId;
      readonly contextId?: ContextId;
      readonly reason?: string;
      /** D5: whether cancelling twice is fine. */
      readonly again: "task" | "fault";
    }
  /** `field`: the parameter with the config; "": the parameters are the config. */
  | { readonly op: "push-set"; readonly taskId: TaskId; readonly config: NewPush; readonly field: string }
  /** Without an id, here and below: the only one, or the first. `none`: what whoever asks for one that is not there gets. */
  | {
      readonly op: "push-get";
      readonly taskId: TaskId;
      readonly id?: string;
      readonly none: "fault" | "nothing";
    }
  | {
      readonly op: "push-list";
      /** undefined: of the newest tasks, as many as one answer can have. */
      readonly taskId?: TaskId;
      readonly pageSize?: number;
      readonly pageToken?: string;
    }
  | { readonly op: "push-delete"; readonly taskId: TaskId; readonly id?: string }
  /** `grants`: what the caller may do, for what it may be told; added on the way in. */
  | { readonly op: "extended-card"; readonly base: string; readonly grants?: readonly Permission[] }
  | { readonly op: "card"; readonly base: string; readonly form: string }
  | { readonly op: "agents"; readonly base: string }
);
export interface Send {
  readonly origin: string;
  /** Without an id where the caller gave none: then it gets one. */
  readonly message: Omit<Message, "messageId"> & { readonly messageId?: string };
  /** This dialect has no bare messages: its caller sees a task, whatever the agent says. */
  readonly shown?: true;
  readonly taskId?: TaskId;
  /** What if that task is not there or takes no message; a dialect may go on with a new one. */
  readonly stray?: "new";
  /** The caller's own id of the task: goes on with the one that he called so before, or calls a new one so. */
  readonly alias?: string;
  readonly contextId?: ContextId;
  /** A repeated call with the same key is the same call. */
  readonly key?: string;
  /** Under which traces of the conversation are grouped. */
  readonly thread?: string;
  /** Text goes into this member of the agent's input; an agent whose input has no such member takes none. */
  readonly textInto?: string;
  readonly metadata?: JsonObject;
  readonly acceptedOutputModes?: readonly string[];
  readonly extensions: readonly string[];
  readonly trace?: Trace;
  /** Through how many servers it came that passed it on. */
  readonly hops?: number;
  readonly via?: Via;
  /** Where updates are to be delivered to, and the parameter that said so. */
  readonly push?: { readonly field: string; readonly config: NewPush };
}

export type Answer =
  | { readonly kind: "task"; readonly task: Task; readonly agent: Agent }
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "page"; readonly page: Page }
  /** What is secret in it is not shown. */
  | { readonly kind: "push"; readonly taskId: TaskId; readonly config: PushConfig }
  | {
      readonly kind: "pushes";
      readonly configs: readonly { readonly taskId: TaskId; readonly config: PushConfig }[];
      readonly nextPageToken: string;
    }
  | { readonly kind: "nothing" }
  | {
      readonly kind: "card";
      readonly agent: Agent;
      readonly isDefault: boolean;
      readonly base: string;
      /** How callers say who they are; any one of them is enough. */
      readonly security: readonly SecurityScheme[];
    }
  | {
      readonly kind: "agents";
      readonly agents: readonly Agent[];
      /** undefined: there is none for this caller. */
      readonly fallback: AgentName | undefined;
      readonly base: string;
    };
/** Steps come in bunches: all that is there is handed on at once. */
export interface StepBatch {
  readonly steps: readonly Step[];
  /** It ends the stream. */
  readonly closing: boolean;
}
/** `compacted`: the events after the place that the reader named are no longer kept; it gets the task as it stands. */
export type Steps = BatchSource<StepBatch> & { readonly compacted?: true };
export const isSteps = (answer: Answer | Steps): answer is Steps => "take" in answer;
