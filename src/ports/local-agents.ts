import type { JsonObject } from "../lib/json.ts";
import type { ContextId, Message, Part, Scope, Seq, Step, TaskId, Trace } from "../model/index.ts";

/** Calls of a run to the agents of the same server, for the caller of the run. */
export interface LocalAgents {
  /** Records the message; a repeated one with the same key is recorded once. A Fault if it is refused. */
  send(agent: string, message: LocalMessage, signal: AbortSignal): Promise<LocalTurn>;
  /** The events of the turn from its beginning, until the task has settled. */
  read(turn: LocalTurn, signal: AbortSignal): AsyncIterable<Step>;
  cancel(agent: string, taskId: TaskId): Promise<void>;
}
export type OpenLocalAgents = (scope: Scope) => LocalAgents;

export interface LocalMessage {
  /** Also the idempotency key. */
  readonly messageId: string;
  readonly parts: readonly Part[];
  readonly taskId?: TaskId;
  readonly contextId?: ContextId;
  readonly metadata?: JsonObject;
  readonly thread: string;
  readonly trace?: Trace | undefined;
  readonly hops: number;
}

/** Where the message was recorded. */
export interface LocalTurn {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  /** The event of the message; null: the agent replied with a message, and there is nothing to read. */
  readonly seq: Seq | null;
  readonly reply: Message | null;
}
