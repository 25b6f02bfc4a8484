/** An agent of the AI SDK, as far as it is used here. Nothing of the SDK is imported: any copy of it will do. */
import type { AgentTask, Ctx } from "../../agent/definition.ts";

/** Takes any agent: what it is called with is checked by the SDK itself. */
export interface StreamingAgent {
  stream(options: never): PromiseLike<{ readonly stream: AsyncIterable<{ readonly type: string }> }>;
}
/** One for all, or made for each run. */
export type AgentSource =
  | StreamingAgent
  | ((task: AgentTask, ctx: Ctx) => StreamingAgent | Promise<StreamingAgent>);

export interface CallOptions {
  readonly messages: readonly unknown[];
  readonly abortSignal: AbortSignal;
  /** What the author's agent wants besides, by its `callOptionsSchema`. */
  readonly options?: unknown;
  /** Before a model is called. The SDK waits for it. */
  onStepStart(event: { readonly messages: readonly Message[] }): Promise<void>;
  /** When a model has answered, and the tools that it called have run. The SDK waits for it. */
  onStepEnd(step: Step): Promise<void>;
}
export interface Step {
  readonly response: { readonly messages: readonly unknown[] };
  readonly usage: Tokens;
  readonly finishReason: string;
}
export interface Tokens {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
}

export interface Message {
  readonly role: string;
  readonly content: string | readonly Content[];
}
/** A part of a message. */
export interface Content {
  readonly type: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly approvalId?: string;
  readonly reason?: string;
  readonly providerExecuted?: boolean;
}

/** A piece of a stream. */
export interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly preliminary?: boolean;
  readonly error?: unknown;
  readonly reason?: string;
  readonly file?: { readonly base64: string; readonly mediaType: string };
}

export const begin = async (agent: StreamingAgent, options: CallOptions): Promise<AsyncIterator<Part>> => {
  const call = agent.stream.bind(agent) as unknown as (
    options: CallOptions,
  ) => ReturnType<StreamingAgent["stream"]>;
  return (await call(options)).stream[Symbol.asyncIterator]() as AsyncIterator<Part>;
};
