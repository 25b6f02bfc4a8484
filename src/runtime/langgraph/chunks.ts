/** The stream of a graph as chunks of the log, in the form in which the Agent Server sends them. */
import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { isRecord } from "../shared/options.ts";
import type { GraphConfig, StreamChunk } from "./graph.ts";
import { CHECKPOINT_IDS, type GraphRequest } from "./request.ts";
import { toCheckpoint } from "./snapshot.ts";
import { toWire } from "./wire.ts";

/** null: the caller did not ask for it. */
export function toChunk(
  [ns, mode, payload]: StreamChunk,
  { modes, subgraphs }: GraphRequest,
  threadId: string,
): AgentEvent | null {
  if (mode === "checkpoints" && modes.includes(CHECKPOINT_IDS))
    return {
      type: "chunk",
      mode: CHECKPOINT_IDS,
      ...(ns.length > 0 && { ns }),
      data: toCheckpointId(payload),
    };
  const isAsked =
    modes.includes(mode) ||
    (mode === "messages" && modes.includes("messages-tuple")) ||
    // The old mode tells complete messages by the state.
    (mode === "values" && modes.includes("messages"));
  // What nodes write, messages and tools of subgraphs come without being asked for; their namespace is that of the node.
  if (!isAsked || (ns.length > 0 && !subgraphs && !OF_ALL_DEPTHS.has(mode))) return null;
  return {
    type: "chunk",
    mode,
    ...(subgraphs && ns.length > 0 && { ns }),
    data: toWire(convert(mode, payload, threadId)),
  };
}

function toCheckpointId(payload: unknown): JsonObject {
  const { config, parentConfig, parent_config, metadata } = (isRecord(payload) ? payload : {}) as Members;
  const idOf = (of: unknown): Json | undefined =>
    toWire((of as GraphConfig | undefined)?.configurable?.checkpoint_id);
  const { step, source } = (isRecord(metadata) ? metadata : {}) as Readonly<Record<string, Json>>;
  return defined<JsonObject>({
    id: idOf(config),
    parent_id: idOf(parentConfig ?? parent_config),
    step,
    source,
  });
}

const OF_ALL_DEPTHS: ReadonlySet<string> = new Set(["messages", "custom", "tools"]);

export const toEventChunk = (event: unknown): AgentEvent => ({
  type: "chunk",
  mode: "events",
  data: toWire(event),
});

function convert(mode: string, payload: unknown, threadId: string): unknown {
  if (!isRecord(payload)) return payload;
  if (mode === "tasks") return convertTask(payload, threadId);
  if (mode === "checkpoints") return convertCheckpoint(payload, threadId);
  if (mode !== "debug" || !isRecord(payload.payload)) return payload;
  if (payload.type === "checkpoint")
    return { ...payload, payload: convertCheckpoint(payload.payload, threadId) };
  if (payload.type === "task_result") return { ...payload, payload: convertTask(payload.payload, threadId) };
  return payload;
}

type Members = Readonly<Record<string, unknown>>;

/** LangGraph.js spells some members differently, and has whole configs where checkpoints are meant. */
function convertCheckpoint({ parentConfig, config, tasks, ...rest }: Members, threadId: string): unknown {
  const parent = (rest.parent_config ?? parentConfig) as GraphConfig | undefined;
  return {
    ...rest,
    config: withoutInternals(config),
    parent_config: withoutInternals(parent),
    checkpoint: isRecord(config) ? toCheckpoint(config as GraphConfig, threadId) : null,
    parent_checkpoint: parent ? toCheckpoint(parent, threadId) : null,
    tasks: Array.isArray(tasks) ? tasks.map(task => convertTask(task as Members, threadId)) : [],
  };
}

function convertTask(task: Members, threadId: string): unknown {
  const { state, ...rest } = task;
  if (!isRecord(state) || !isRecord(state.configurable)) return task;
  return { ...rest, checkpoint: toCheckpoint(state as GraphConfig, threadId) };
}

function withoutInternals(config: unknown): unknown {
  if (!isRecord(config) || !isRecord(config.configurable)) return undefined;
  const shown = Object.entries(config.configurable).filter(([name]) => !name.startsWith("__"));
  const { callbacks: _callbacks, ...rest } = config;
  return { ...rest, configurable: Object.fromEntries(shown) };
}
