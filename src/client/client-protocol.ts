import type { Json, JsonObject } from "../lib/json.ts";
import type { RemoteErrorKind } from "./errors.ts";
import { toErrorKind } from "./faults.ts";
import type { OutgoingMessage, RemoteTask, StreamResponse, TaskListQuery, TaskRef } from "./types.ts";

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
  toErrorKind(code: number): RemoteErrorKind;
}

export const CLIENT_DEFAULTS = {
  list: null,
  resumeBy: "poll" as const,
  toErrorKind,
  writeTask: ({ taskId }: TaskRef): JsonObject => ({ id: taskId }),
};
