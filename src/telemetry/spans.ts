/** Attributes that all spans share, and the conversion between W3C headers and spans. */
import {
  type Attributes,
  type Context,
  createTraceState,
  INVALID_SPANID,
  INVALID_TRACEID,
  ROOT_CONTEXT,
  type SpanContext,
  trace as spans,
  TraceFlags,
} from "@opentelemetry/api";
import type { Task, Trace } from "../model/index.ts";

/** Attribute names; gen_ai.* are those of the semantic conventions. */
export const ATTRIBUTES = {
  dialect: "a2a.dialect",
  binding: "a2a.binding",
  operation: "a2a.operation",
  method: "rpc.method",
  tenant: "a2a.tenant",
  outcome: "a2a.outcome",
  task: "a2a.task.id",
  context: "a2a.context.id",
  turn: "a2a.turn",
  attempt: "dragoman.attempt",
  step: "dragoman.step",
  events: "dragoman.events",
  usage: "dragoman.usage",
  error: "error.type",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  genOperation: "gen_ai.operation.name",
  tool: "gen_ai.tool.name",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  prompt: "gen_ai.prompt",
  completion: "gen_ai.completion",
  /** LangSmith groups traces of a conversation by it. */
  thread: "langsmith.metadata.thread_id",
} as const;

/** The task and context of a span. */
export const aboutTask = (task: Pick<Task, "id" | "contextId" | "agent" | "thread">): Attributes => ({
  [ATTRIBUTES.agent]: task.agent,
  [ATTRIBUTES.task]: task.id,
  ...aboutContext(task.contextId, task.thread),
});

export const aboutContext = (contextId: string, thread: string | undefined): Attributes => ({
  [ATTRIBUTES.context]: contextId,
  [ATTRIBUTES.conversation]: contextId,
  [ATTRIBUTES.thread]: thread ?? contextId,
});

const PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** undefined: not a valid traceparent. */
export function toSpanContext({ traceparent, tracestate }: Trace): SpanContext | undefined {
  const [, traceId, spanId, flags] = PARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  if (traceId === INVALID_TRACEID || spanId === INVALID_SPANID) return undefined;
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags as string, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
}

/** The parent of a span; without a trace the span is a root. */
export function toParent(trace: Trace | undefined): Context {
  const context = trace && toSpanContext(trace);
  return context ? spans.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

/** The headers that continue the trace; baggage is passed on. */
export function toTrace(context: SpanContext, baggage: string | undefined): Trace {
  const tracestate = context.traceState?.serialize();
  const flags = (context.traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, "0");
  return {
    traceparent: `00-${context.traceId}-${context.spanId}-${flags}`,
    ...(tracestate && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  };
}
