/** The config that a run passes to the graph. */
import { createHash } from "node:crypto";
import type { AgentTask, Ctx } from "../../agent/context.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { DEFAULT_TENANT } from "../../model/index.ts";
import { isRecord } from "../shared/options.ts";
import { type Checkpointer, contextKeysOf, type Graph, type GraphConfig } from "./graph.ts";
import { createSpanHandler } from "./graph-spans.ts";
import { checkData } from "./input.ts";
import { STREAM_MODES } from "./stream-listener.ts";

export interface ConfigSettings {
  readonly recursionLimit: number | undefined;
  /** The same for every run. */
  readonly context: Readonly<Record<string, unknown>>;
  /** The members of the request metadata that are passed to the graph. */
  readonly metadata: readonly string[];
}

/** The config member for the checkpointer of a run; a checkpointer on the graph would be shared by all runs. */
export const CHECKPOINTER = "__pregel_checkpointer";
const RESERVED = /^(?:__|checkpoint_|thread_id$|langgraph_)/;

/** Names that LangGraph uses itself: callers must not set them. */
export const isReserved = (name: string): boolean => RESERVED.test(name);

export function toConfig(
  settings: ConfigSettings,
  task: AgentTask,
  ctx: Ctx,
  state: { readonly checkpointer: Checkpointer; readonly thread: string } | undefined,
): GraphConfig {
  const context = { ...settings.context, ...pickMetadata(task, settings.metadata) };
  const { recursionLimit } = settings;
  const spans = createSpanHandler(task, ctx);
  return {
    configurable: {
      ...context,
      thread_id: state?.thread ?? task.contextId,
      ...(state && { [CHECKPOINTER]: state.checkpointer }),
    },
    context,
    streamMode: STREAM_MODES,
    subgraphs: true,
    durability: "sync",
    signal: ctx.signal,
    ...(recursionLimit !== undefined && { recursionLimit }),
    // For LangSmith: traces are grouped by thread and found by task.
    metadata: { thread_id: task.thread, a2a_task_id: task.id },
    callbacks: [countUsage(ctx), ...(spans ? [spans] : [])],
  };
}

/** Without members that the context schema does not have: a strict schema would reject them. */
export function withKnownContext(config: GraphConfig, graph: Graph): GraphConfig {
  const keys = contextKeysOf(graph);
  if (!keys || !isRecord(config.context)) return config;
  const known = Object.entries(config.context).filter(([name]) => keys.includes(name));
  return { ...config, context: Object.fromEntries(known) };
}

function pickMetadata({ metadata, message }: AgentTask, names: readonly string[]): JsonObject {
  const picked: Record<string, Json> = {};
  const all = { ...metadata, ...message.metadata };
  for (const name of names) if (Object.hasOwn(all, name)) picked[name] = all[name] as Json;
  checkData(picked);
  return picked;
}

/**
 * The thread id in a checkpointer of the graph, which knows nothing of callers: two callers with the same context id get
 * two threads. Without authentication the thread is the context.
 */
export function threadOf(
  { contextId }: Pick<AgentTask, "contextId">,
  { caller }: Pick<Ctx, "caller">,
): string {
  const isAnonymous = caller.tenant === DEFAULT_TENANT && caller.principal === "anonymous";
  if (isAnonymous && !contextId.startsWith("caller-")) return contextId;
  const digest = createHash("sha256")
    .update(JSON.stringify([caller.tenant, caller.principal]))
    .digest("hex");
  return `caller-${digest.slice(0, 32)}-${contextId}`;
}

/** Reports the token usage of LangChain models. */
const countUsage = (ctx: Ctx) => ({
  name: "dragoman usage",
  // Otherwise the callback may come after the end of the run.
  awaitHandlers: true,
  handleLLMEnd(output: unknown): void {
    const generation =
      isRecord(output) && Array.isArray(output.generations) ? output.generations[0]?.[0] : undefined;
    const usage: unknown = generation?.message?.usage_metadata;
    if (!isRecord(usage)) return;
    const details = (name: string, detail: string): number | undefined =>
      isRecord(usage[name]) ? count((usage[name] as Record<string, unknown>)[detail]) : undefined;
    ctx.usage({
      inputTokens: count(usage.input_tokens),
      outputTokens: count(usage.output_tokens),
      cachedInputTokens: details("input_token_details", "cache_read"),
      reasoningTokens: details("output_token_details", "reasoning"),
    });
  },
});

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;
