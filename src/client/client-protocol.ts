import type { Json, JsonObject } from "../lib/json.ts";
import type { FaultCode } from "../model/index.ts";
import { findFault } from "./faults.ts";
import type {
  OutgoingMessage,
  RemoteTask,
  StreamResponse,
  TaskListQuery,
  TaskRef,
  WebhookConfig,
} from "./types.ts";

/** One dialect as the client writes and reads it; the transports do the rest. */
export interface ClientDialect {
  /** The value of the `A2A-Version` header; undefined: no header is sent. */
  readonly version: string | undefined;
  /** The name in messages to users. */
  readonly title: string;
  readonly methods: {
    readonly send: string;
    readonly stream: string;
    readonly get: string;
    readonly cancel: string;
    readonly subscribe: string;
  };
  /**
   * How a stream without event ids is resumed. "snapshot": a subscription begins with the current task. "replay": a
   * subscription repeats all events. "poll": a subscription would leave a gap, so the client polls the task.
   */
  readonly resumeBy: "snapshot" | "replay" | "poll";
  /** null: this dialect cannot list tasks. */
  readonly list: { readonly method: string; write(query: TaskListQuery): JsonObject } | null;
  /** null: this dialect has no push configs, or not all operations on them. */
  readonly push: PushCalls | null;
  writeSend(message: OutgoingMessage): JsonObject;
  writeTask(task: TaskRef): JsonObject;
  readResponse(result: Json): StreamResponse;
  readTask(result: Json): RemoteTask;
  /** The thread id is also sent as `metadata.thread_id` beside `params`: LangGraph servers read it there. */
  readonly threadInEnvelope?: true;
  /** Events of a stream have no JSON-RPC envelope. */
  readonly unwrappedFrames?: true;
  /** When the agent sends no final message, its server repeats the text of the artifacts as one. */
  readonly repeatsText?: true;
  /** The fault with this JSON-RPC number; undefined: there is none. */
  toFault(number: number): FaultCode | undefined;
}

/** Operations on push configs: their methods, and the forms of configs and references. */
export interface PushCalls {
  readonly methods: { readonly [K in "set" | "get" | "list" | "delete"]: string };
  write(taskId: string, config: WebhookConfig): JsonObject;
  /** `id`: undefined for a list. */
  writeRef(taskId: string, id?: string): JsonObject;
  read(result: Json): WebhookConfig;
}

export const CLIENT_DEFAULTS = {
  list: null,
  push: null,
  resumeBy: "poll" as const,
  toFault: (number: number): FaultCode | undefined => findFault(number),
  writeTask: ({ taskId }: TaskRef): JsonObject => ({ id: taskId }),
};
