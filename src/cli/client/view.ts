import type { Artifact, Json, Message, Part, TaskState } from "../../model/index.ts";

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
    }
  | {
      readonly kind: "artifact";
      readonly taskId: string;
      readonly contextId: string;
      readonly artifact: Artifact;
      readonly append: boolean;
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
}

export interface ListWish {
  readonly state?: TaskState;
  readonly contextId?: string;
  readonly pageSize: number;
  readonly pageToken?: string;
}
