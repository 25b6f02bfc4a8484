import type { Json, JsonObject } from "../lib/json.ts";
import type { Artifact, Message, Part, TaskState } from "../model/index.ts";

/** A state as another server names it; it may know one that we do not. */
export type RemoteState = TaskState | "unknown";

/** A task as its reader sees it, whatever version of the protocol brought it. */
export interface RemoteTask {
  readonly id: string;
  readonly contextId: string;
  readonly state: RemoteState;
  readonly message?: Message;
  /** When the state was entered, as the server wrote it. */
  readonly at?: string;
  readonly artifacts: readonly Artifact[];
  readonly history: readonly Message[];
}

/** One thing in a stream, or a whole answer. */
export type Item =
  | { readonly kind: "task"; readonly task: RemoteTask }
  | { readonly kind: "message"; readonly message: Message }
  | {
      readonly kind: "status";
      readonly taskId: string;
      readonly contextId: string;
      readonly state: RemoteState;
      readonly message?: Message;
      readonly metadata?: JsonObject;
    }
  | {
      readonly kind: "artifact";
      readonly taskId: string;
      readonly contextId: string;
      readonly artifact: Artifact;
      readonly append: boolean;
      /** Nothing will be added to the artifact. */
      readonly last: boolean;
      readonly metadata?: JsonObject;
    };

/** An item, with what was on the wire and where a lost stream would go on. */
export interface Received {
  readonly item: Item;
  readonly raw: Json;
  readonly eventId?: string;
}

export interface TaskPage {
  readonly tasks: readonly { readonly task: RemoteTask; readonly raw: Json }[];
  readonly nextPageToken: string;
  readonly totalSize?: number;
}

/** What is to be said to an agent. */
export interface Draft {
  readonly messageId: string;
  readonly parts: readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
  readonly referenceTaskIds?: readonly string[];
  /** Media types that whoever reads the answer takes; none: all. */
  readonly accepts?: readonly string[];
  /** Of the call, not of the message. */
  readonly callMetadata?: JsonObject;
  /** Under which traces of the conversation are grouped. */
  readonly thread?: string;
  /** Headers of this call: its key, its place in a trace. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer is wanted at once, finished or not. */
  readonly atOnce?: boolean;
}

/** A task somewhere else; some dialects find it only with its context. */
export interface TaskRef {
  readonly taskId: string;
  readonly contextId?: string | undefined;
}

export interface ListWish {
  readonly state?: TaskState;
  readonly contextId?: string;
  readonly pageSize: number;
  readonly pageToken?: string;
}
