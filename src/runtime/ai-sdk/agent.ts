/** The types of the AI SDK that are used here. The SDK is not imported, so that any version of it works. */
import type { AgentTask, Ctx } from "../../agent/context.ts";

/** Any agent of the SDK; `never`, because the SDK checks the options itself. */
export interface StreamingAgent {
  stream(options: never): PromiseLike<{ readonly stream: AsyncIterable<{ readonly type: string }> }>;
}
/** An agent for all runs, or a function that creates one for each run. */
export type AiSdkSource =
  | StreamingAgent
  | ((task: AgentTask, ctx: Ctx) => StreamingAgent | Promise<StreamingAgent>);

export interface StreamOptions {
  readonly messages: readonly unknown[];
  readonly abortSignal: AbortSignal;
  /** The call options of the agent's `callOptionsSchema`. */
  readonly options?: unknown;
  /** Called before a model request; the SDK awaits it. */
  onStepStart(event: { readonly messages: readonly ModelMessage[] }): Promise<void>;
  /** Called after the response of a model and its tool calls; the SDK awaits it. */
  onStepEnd(step: ModelStep): Promise<void>;
}
export interface ModelStep {
  readonly response: { readonly messages: readonly unknown[] };
  readonly usage: TokenUsage;
  readonly finishReason: string;
}
export interface TokenUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
}

export interface ModelMessage {
  readonly role: string;
  readonly content: string | readonly MessagePart[];
}
export interface MessagePart {
  readonly type: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly approvalId?: string;
  readonly reason?: string;
  readonly providerExecuted?: boolean;
}

export interface StreamPart {
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

export const startStream = async (
  agent: StreamingAgent,
  options: StreamOptions,
): Promise<AsyncIterator<StreamPart>> => {
  const call = agent.stream.bind(agent) as unknown as (
    options: StreamOptions,
  ) => ReturnType<StreamingAgent["stream"]>;
  return (await call(options)).stream[Symbol.asyncIterator]() as AsyncIterator<StreamPart>;
};
