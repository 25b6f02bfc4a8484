/** The public types of `dragoman/client`. */
import type { Json, JsonObject } from "../lib/json.ts";
import type { Artifact, Message, Part } from "../model/index.ts";
import type { Fetch } from "../ports/index.ts";
import type { DialectName, ProtocolBinding } from "./protocols.ts";
import type { CreateGrpc } from "./transport.ts";
import type { RemoteState, RemoteTask, TaskListQuery, WebhookConfig } from "./types.ts";

export interface ConnectOptions {
  /** The bearer token, or a function that returns it. After HTTP 401 it is called again, with true, and the call is repeated once. */
  readonly token?:
    | string
    | ((refused: boolean) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** Headers of every request. Like the token they are sent only to the origin that `connect` was called with. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The name of the agent, on a server with several. */
  readonly agent?: string | undefined;
  /** The URL for calls, instead of the one in the card. */
  readonly url?: string | undefined;
  /** The dialect, instead of the newest one in the card. */
  readonly dialect?: DialectName | undefined;
  readonly transport?: ProtocolBinding | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** `grpc` of `dragoman/client/grpc`, for agents that are reached over gRPC alone. */
  readonly grpc?: CreateGrpc | undefined;
  /** Delays before an unavailable agent is called again, one per retry; they begin anew with each event. Default: 7 retries, 24 s. */
  readonly retryDelaysMs?: readonly number[] | undefined;
  /**
   * A message that may have arrived is sent again, with the same id and `Idempotency-Key`: Dragoman processes it once.
   * false, for servers that do not: it is sent again only if it cannot have arrived, and without the header. Default: true.
   */
  readonly resend?: boolean | undefined;
  /** A lost connection, in words for a log. */
  readonly onRetry?: ((text: string) => void) | undefined;
  /** Ends the reading of the card. */
  readonly signal?: AbortSignal | undefined;
}

export interface CallControl {
  /** Ends the call or the reading. The task continues: `cancel` ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** The content of a message: text, files, data, links. */
export type MessageContent = MessageItem | readonly MessageItem[];
export type MessageItem =
  | string
  | Blob
  | Part
  | { readonly data: Json }
  | (FileDetails & { readonly url: string })
  | (FileDetails & { readonly bytes: Uint8Array });
export interface FileDetails {
  readonly filename?: string | undefined;
  readonly mediaType?: string | undefined;
}

export interface MessageOptions extends CallControl {
  /** Continues a task that waits for input. */
  readonly taskId?: string | undefined;
  /** Continues a conversation with a new task. */
  readonly contextId?: string | undefined;
  /** Default: 128 random bits. */
  readonly messageId?: string | undefined;
  /** Of the message. */
  readonly metadata?: JsonObject | undefined;
  /** Of the request. */
  readonly callMetadata?: JsonObject | undefined;
  /** Media types that the caller accepts in the response. */
  readonly accepts?: readonly string[] | undefined;
  readonly extensions?: readonly string[] | undefined;
  readonly referenceTaskIds?: readonly string[] | undefined;
}

export interface TailOptions extends CallControl {
  /** "settled" (default): ends when the task waits for input, too. "terminal": only when it has ended. */
  readonly until?: "settled" | "terminal" | undefined;
}

/** One event of a stream: what is new, and the task with it. */
export type TaskUpdate = StateChange | ArtifactChange | MessageReply;

interface Changed {
  /** The task so far. It is a new object with each event; members that did not change are the same objects. */
  readonly task: RemoteTask;
}
/** A new state, or a message of the agent about its progress. The first event of a task is one. */
export interface StateChange extends Changed {
  readonly kind: "status";
  readonly state: RemoteState;
  readonly message?: Message;
  readonly metadata?: JsonObject;
}
export interface ArtifactChange extends Changed {
  readonly kind: "artifact";
  /** With the new parts only. */
  readonly artifact: Artifact;
  /** The parts are added to the artifact; false: it is new, or replaced. */
  readonly append: boolean;
  /** The artifact is complete. */
  readonly last: boolean;
  readonly metadata?: JsonObject;
}
/** The agent replied with a message, without a task: the id of `task` is empty. */
export interface MessageReply extends Changed {
  readonly kind: "message";
  readonly message: Message;
}

/** An agent that is called. */
export interface ConnectedAgent {
  readonly name: string;
  /** As the server sent it. */
  readonly card: JsonObject;
  /** How it is called. */
  readonly endpoint: { readonly url: string; readonly protocol: string; readonly transport: ProtocolBinding };
  /** Sends a message and waits until the task has ended, or asks. */
  send(content: MessageContent, options?: MessageOptions): Promise<RemoteTask>;
  /** The same with all events. A lost connection is resumed: no event is missing, and none is repeated. */
  stream(content: MessageContent, options?: MessageOptions): AsyncGenerator<TaskUpdate, void>;
  /** A task by its id; some dialects also need its context. */
  task(id: string, contextId?: string): TaskHandle;
  list(query?: Partial<TaskListQuery> & CallControl): Promise<TaskList>;
  /** Ends all calls and closes the connection. */
  close(): void;
}

export interface TaskHandle {
  readonly id: string;
  get(options?: CallControl): Promise<RemoteTask>;
  /** Everything that the task has, then new events. */
  tail(options?: TailOptions): AsyncGenerator<TaskUpdate, void>;
  cancel(options?: CallControl): Promise<RemoteTask>;
  /** Answers the question of a task that waits for input; to read the events of the answer, `stream` with its `taskId`. */
  answer(content: MessageContent, options?: Omit<MessageOptions, "taskId">): Promise<RemoteTask>;
  /** Webhooks that receive the updates of the task. */
  readonly push: PushHandle;
}

export interface PushHandle {
  set(config: WebhookConfig, options?: CallControl): Promise<WebhookConfig>;
  get(id: string, options?: CallControl): Promise<WebhookConfig>;
  list(options?: CallControl): Promise<readonly WebhookConfig[]>;
  delete(id: string, options?: CallControl): Promise<void>;
}

export interface TaskList {
  readonly tasks: readonly RemoteTask[];
  /** Empty: this is the last page. */
  readonly nextPageToken: string;
  readonly totalSize?: number;
}
