/** What a run tells the graph about itself. */
import { createHash } from "node:crypto";
import type { AgentTask, Ctx } from "../../agent/definition.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { DEFAULT_TENANT } from "../../model/index.ts";
import { isRecord } from "../shared/options.ts";
import { contextKeysOf, type Graph, type GraphConfig, type Saver } from "./graph.ts";
import { checkData } from "./input.ts";
import { STREAM_MODES } from "./listener.ts";

export interface ConfigSettings {
  readonly recursionLimit: number | undefined;
  /** For every run. */
  readonly context: Readonly<Record<string, unknown>>;
  /** Members of a request's metadata that may reach the graph. */
  readonly metadata: readonly string[];
}

/** Where a run hands its checkpointer to the graph; one that is set on the graph would be that of all runs at once. */
const CHECKPOINTER = "__pregel_checkpointer";
const RESERVED = /^(?:__|checkpoint_|thread_id$|langgraph_)/;

/** Names that mean something to LangGraph itself: nobody outside gives them a value. */
export const isReserved = (name: string): boolean => RESERVED.test(name);

export function toConfig(
  settings: ConfigSettings,
  task: AgentTask,
  ctx: Ctx,
  kept: { readonly saver: Saver; readonly thread: string } | undefined,
): GraphConfig {
  const context = { ...settings.context, ...toldIn(task, settings.metadata) };
  const { recursionLimit } = settings;
  return {
    configurable: {
      ...context,
      thread_id: kept?.thread ?? task.contextId,
      ...(kept && { [CHECKPOINTER]: kept.saver }),
    },
    context,
    streamMode: STREAM_MODES,
    subgraphs: true,
    durability: "sync",
    signal: ctx.signal,
    ...(recursionLimit !== undefined && { recursionLimit }),
    // What traces are found by, and those of one conversation are grouped by.
    metadata: { thread_id: task.thread, a2a_task_id: task.id },
    callbacks: [countUsage(ctx)],
  };
}

/** A schema may refuse what it does not know. */
export function fitted(config: GraphConfig, graph: Graph): GraphConfig {
  const keys = contextKeysOf(graph);
  if (!keys || !isRecord(config.context)) return config;
  const known = Object.entries(config.context).filter(([name]) => keys.includes(name));
  return { ...config, context: Object.fromEntries(known) };
}

function toldIn({ metadata, message }: AgentTask, names: readonly string[]): JsonObject {
  const told: Record<string, Json> = {};
  const all = { ...metadata, ...message.metadata };
  for (const name of names) if (Object.hasOwn(all, name)) told[name] = all[name] as Json;
  checkData(told);
  return told;
}

/**
 * The thread of a context in a checkpointer that the graph brings, and that knows nothing of callers: two of them who name
 * the same context are in two threads. One who need not say who he is has the context itself.
 */
export function threadOf({ contextId }: AgentTask, { caller }: Ctx): string {
  const isAnonymous = caller.tenant === DEFAULT_TENANT && caller.principal === "anonymous";
  if (isAnonymous && !contextId.startsWith("caller-")) return contextId;
  const digest = createHash("sha256")
    .update(JSON.stringify([caller.tenant, caller.principal]))
    .digest("hex");
  return `caller-${digest.slice(0, 32)}-${contextId}`;
}

/** What models spend, as LangChain tells it when one has answered. */
const countUsage = (ctx: Ctx) => ({
  name: "dragoman usage",
  // Else it might be told when the run is over.
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
