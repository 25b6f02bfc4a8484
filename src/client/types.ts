import type { Json, JsonObject } from "../lib/json.ts";
import type { Artifact, Message, Part, TaskState } from "../model/index.ts";

/** `unknown`: the other server reported a state that A2A does not define. */
export type RemoteState = TaskState | "unknown";

/** A task of another server, independent of its protocol version. */
export interface RemoteTask {
  readonly id: string;
  readonly contextId: string;
  readonly state: RemoteState;
  readonly message?: Message;
  /** The timestamp of the status, as the server wrote it. */
  readonly at?: string;
  readonly artifacts: readonly Artifact[];
  readonly history: readonly Message[];
}

/** One event of a stream, or the result of a call. */
export type StreamResponse =
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
      /** The artifact is complete. */
      readonly last: boolean;
      readonly metadata?: JsonObject;
    };

/** A response with its JSON, and the event id after which a lost stream is resumed. */
export interface ReceivedResponse {
  readonly item: StreamResponse;
  readonly raw: Json;
  readonly eventId?: string;
}

export interface TaskPage {
  readonly tasks: readonly { readonly task: RemoteTask; readonly raw: Json }[];
  readonly nextPageToken: string;
  readonly totalSize?: number;
}

/** A message to another agent. */
export interface OutgoingMessage {
  readonly messageId: string;
  readonly parts: readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
  readonly referenceTaskIds?: readonly string[];
  /** Media types accepted in the response; undefined: all. */
  readonly accepts?: readonly string[];
  /** Metadata of the request, not of the message. */
  readonly callMetadata?: JsonObject;
  /** The id that groups the traces of a conversation. */
  readonly thread?: string;
  /** Headers of this call: idempotency key, trace context. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The agent responds before the task has ended. */
  readonly returnImmediately?: boolean;
}

/** A task of another server; some dialects need the context id to find it. */
export interface TaskRef {
  readonly taskId: string;
  readonly contextId?: string | undefined;
}

export interface TaskListQuery {
  readonly state?: TaskState;
  readonly contextId?: string;
  readonly pageSize: number;
  readonly pageToken?: string;
}

/** A push notification config. */
export interface WebhookConfig {
  /** Default: chosen by the server. */
  readonly id?: string;
  readonly url: string;
  /** Sent with each delivery. */
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
  /** Dragoman only. "status": no artifact updates. */
  readonly events?: "all" | "status";
  /** Dragoman only: the key of the signature. */
  readonly secret?: string;
}
