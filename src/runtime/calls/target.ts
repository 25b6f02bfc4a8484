import type { AgentTask, Ctx } from "../../agent/context.ts";
import type { AgentUpdate } from "../../client/dedupe.ts";
import type { OutgoingMessage } from "../../client/types.ts";
import type { Usage } from "../../model/index.ts";
import type { SentMessage } from "./remote-call.ts";

/** Another agent: of another server, or of this one. */
export interface CallTarget {
  /** Names it among the agents of a context; undefined: it has no name. */
  readonly name: string | undefined;
  /** Sends the message once, however often it is called. The result is recorded. */
  send(): Promise<SentMessage>;
  /** All output since the message, also after a restart. The last update is a `FinalUpdate`. */
  read(sent: SentMessage): AsyncIterable<AgentUpdate>;
  /** What the other agent has used for this message, after `read`; undefined: it is not known. */
  readonly usage: Usage | undefined;
  cancel(sent: SentMessage): Promise<void>;
  /** Adds the remedy to errors that options can fix. */
  explain(error: unknown): unknown;
  close(): void;
}

export interface TargetParts {
  readonly task: AgentTask;
  readonly ctx: Ctx;
  /** Aborted at the deadline of the call. */
  readonly signal: AbortSignal;
  readonly message: () => Promise<OutgoingMessage>;
}
