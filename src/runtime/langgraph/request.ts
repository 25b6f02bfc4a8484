/** What a client of the Agent Server API asks of a run beyond a message. */
import type { AgentTask } from "../../agent/context.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { isRecord } from "../shared/options.ts";
import { toCommand } from "./command.ts";
import { isReserved } from "./config.ts";
import type { Graph, GraphConfig } from "./graph.ts";
import { checkData, InputError } from "./input.ts";

/** The mode of clients that need no more of a checkpoint than its id. */
export const CHECKPOINT_IDS = "checkpoint-ids";

export interface GraphRequest {
  readonly runId: string;
  readonly metadata: JsonObject;
  readonly input: Json;
  readonly command: JsonObject | undefined;
  readonly config: JsonObject;
  readonly context: JsonObject | undefined;
  readonly modes: readonly string[];
  readonly subgraphs: boolean;
  readonly interruptBefore: "*" | readonly string[] | undefined;
  readonly interruptAfter: "*" | readonly string[] | undefined;
  readonly checkpoint: JsonObject | undefined;
}

/** undefined: the call came over another protocol. */
export function readRequest({ request }: AgentTask): GraphRequest | undefined {
  if (!request || !isRecord(request.kwargs)) return undefined;
  const kwargs = request.kwargs as JsonObject;
  return {
    runId: String(request.run_id),
    metadata: objectOf(request.metadata) ?? {},
    input: kwargs.input ?? null,
    command: objectOf(kwargs.command),
    config: objectOf(kwargs.config) ?? {},
    context: objectOf(kwargs.context),
    modes: (kwargs.stream_mode ?? []) as readonly string[],
    subgraphs: kwargs.subgraphs === true,
    interruptBefore: kwargs.interrupt_before as GraphRequest["interruptBefore"],
    interruptAfter: kwargs.interrupt_after as GraphRequest["interruptAfter"],
    checkpoint: objectOf(kwargs.checkpoint),
  };
}

const objectOf = (value: Json | undefined): JsonObject | undefined =>
  isRecord(value) ? (value as JsonObject) : undefined;

/** The input of the graph; null: it goes on from its checkpoint. */
export function toRequestInput({ command, input }: GraphRequest): unknown {
  if (command) {
    checkData(command);
    return toCommand(command);
  }
  checkData(input);
  return input;
}

/** LangGraph's names of the modes that the graph must stream. */
export function toLibraryModes(modes: readonly string[], { facts }: Graph): readonly string[] {
  // LangGraph for Python has no mode for tools.
  const isKnown = (mode: string): boolean => mode !== "tools" || facts === undefined;
  const found = new Set(
    modes.filter(
      mode => mode !== "events" && mode !== "messages-tuple" && mode !== CHECKPOINT_IDS && isKnown(mode),
    ),
  );
  if (modes.includes(CHECKPOINT_IDS)) found.add("checkpoints");
  if (modes.includes("messages-tuple")) found.add("messages");
  return [...found];
}

/**
 * The config of a run with the members of the request. Names that LangGraph reserves are dropped: they would lead to
 * the thread of another caller.
 */
export function withRequest(config: GraphConfig, request: GraphRequest, isFirst: boolean): GraphConfig {
  const {
    configurable = {},
    tags,
    recursion_limit: limit,
    metadata,
  } = request.config as Record<string, unknown>;
  if (isRecord(configurable)) checkData(configurable as JsonObject);
  if (request.context) checkData(request.context);
  const given = Object.entries(isRecord(configurable) ? configurable : {}).filter(
    ([name]) => !isReserved(name),
  );
  const auth = Object.entries(isRecord(configurable) ? configurable : {}).filter(([name]) => AUTH.test(name));
  if (limit !== undefined && limit !== null && !(Number.isInteger(limit) && (limit as number) > 0))
    throw new InputError("config.recursion_limit must be a positive integer");
  const own = Object.fromEntries([...given, ...auth]);
  const { interruptBefore, interruptAfter } = request;
  return {
    ...config,
    configurable: {
      ...own,
      ...config.configurable,
      ...(isFirst && request.checkpoint),
      run_id: request.runId,
    },
    context: { ...own, ...(isRecord(config.context) && config.context), ...request.context },
    metadata: {
      ...(isRecord(metadata) && metadata),
      ...request.metadata,
      ...(isRecord(config.metadata) && config.metadata),
      run_id: request.runId,
    },
    ...(Array.isArray(tags) && { tags }),
    ...(limit !== undefined && limit !== null && { recursionLimit: limit }),
    ...(interruptBefore !== undefined && { interruptBefore }),
    ...(interruptAfter !== undefined && { interruptAfter }),
  };
}

/** Set by the server itself, after those of the caller. */
const AUTH = /^langgraph_auth_/;
