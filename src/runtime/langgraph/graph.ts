/** The types of LangGraph that are used here. LangGraph is not imported, so that the graph's own copy is the only one. */
import { definitionError } from "../../agent/definition.ts";
import { isRecord } from "../shared/options.ts";

/** A compiled graph, as its author has it. */
export interface CompiledGraph {
  stream(input: never, options?: never): unknown;
}
/**
 * A compiled graph, an agent of `createAgent`, a graph that is not compiled yet, or a function that returns one of them
 * for a run.
 */
export type GraphSource =
  | CompiledGraph
  | { readonly graph: CompiledGraph }
  | { compile(): unknown }
  | ((config: never) => unknown);

export interface Graph {
  /** false: the graph has no checkpoints. */
  readonly checkpointer?: Checkpointer | boolean | undefined;
  /** The store that the graph was compiled with. */
  readonly store?: unknown;
  readonly outputChannels?: string | readonly string[];
  readonly interruptBefore?: "*" | readonly string[];
  readonly interruptAfter?: "*" | readonly string[];
  readonly builder?: unknown;
  /** Of a graph without a builder in this process. */
  readonly facts?: GraphFacts;
  stream(input: unknown, config: GraphConfig): Promise<AsyncIterable<StreamChunk>>;
  getState(config: GraphConfig): Promise<Snapshot>;
  /** LangChain's events; those of the graph itself contain the chunks of `stream`. */
  streamEvents?(input: unknown, config: GraphConfig): AsyncIterable<unknown>;
}
export interface LibraryEvent {
  readonly event: string;
  readonly run_id?: string;
  readonly tags?: readonly string[];
  readonly data?: { readonly chunk?: unknown };
}

export interface GraphFacts {
  /** The members of its input; null: not known. */
  readonly inputKeys?: readonly string[] | null;
  /** The members of its context; null: not known. */
  readonly contextKeys?: readonly string[] | null;
}

/** Namespace, stream mode, payload. */
export type StreamChunk = readonly [readonly string[], string, unknown];

export interface GraphConfig {
  readonly configurable?: Readonly<Record<string, unknown>> & Partial<CheckpointKey>;
  readonly [option: string]: unknown;
}
export interface CheckpointKey {
  readonly thread_id: string;
  readonly checkpoint_ns: string;
  readonly checkpoint_id: string;
}

export interface Snapshot {
  readonly values: unknown;
  /** The next nodes; empty: the graph has ended. */
  readonly next: readonly string[];
  readonly config: GraphConfig;
  readonly tasks: readonly { readonly id: string; readonly interrupts?: readonly GraphInterrupt[] }[];
}
export interface GraphInterrupt {
  readonly id?: string;
  readonly value?: unknown;
  readonly response_schema?: unknown;
}

/** Channel and value. */
export type ChannelWrite = readonly [string, unknown];
export interface Checkpoint {
  v: number;
  id: string;
  channel_values: Record<string, unknown>;
  channel_versions: Record<string, number | string>;
  versions_seen: Record<string, Record<string, number | string>>;
}
export interface CheckpointTuple {
  readonly config: GraphConfig;
  readonly checkpoint: Checkpoint;
  readonly metadata?: unknown;
  readonly parentConfig?: GraphConfig;
  /** Task, channel, value. */
  readonly pendingWrites?: readonly (readonly [string, string, unknown])[];
}
export interface CheckpointListOptions {
  readonly limit?: number;
  readonly before?: GraphConfig;
  readonly filter?: Readonly<Record<string, unknown>>;
}
/** LangGraph's interface of a checkpointer. */
export interface Checkpointer {
  getTuple(config: GraphConfig): Promise<CheckpointTuple | undefined>;
  list(config: GraphConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple>;
  put(
    config: GraphConfig,
    checkpoint: Checkpoint,
    metadata: unknown,
    newVersions: unknown,
  ): Promise<GraphConfig>;
  putWrites(
    config: GraphConfig,
    writes: readonly ChannelWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void>;
  deleteThread(threadId: string): Promise<void>;
}

/** Channels that tasks write before they are completed: interrupts, answers, errors. */
const INCOMPLETE: ReadonlySet<string> = new Set([
  "__interrupt__",
  "__resume__",
  "__error__",
  "__error_source_node__",
  "__scheduled__",
]);
/** Whether a task that has written to this channel is completed. */
export const isCompletedBy = (channel: string): boolean => !INCOMPLETE.has(channel);

/** The task ids in a namespace: `["sub:ID", "inner:ID"]`. */
export const taskIdsIn = (ns: readonly string[]): readonly string[] =>
  ns.flatMap(part => part.split(":")[1] ?? []);

export function toGraph(value: unknown): Graph {
  const candidates = [value, inner(value), compiled(value)];
  const graph = candidates.find(isGraph);
  if (graph) return graph;
  throw definitionError(
    "langgraph() takes a compiled graph (new StateGraph(…)….compile()), an agent of createAgent, or a function that returns one",
  );
}

const isGraph = (value: unknown): value is Graph =>
  isRecord(value) && value.lg_is_pregel === true && typeof value.getState === "function";
/** Whether the server has to provide a checkpointer. */
export const needsCheckpointer = ({ checkpointer }: Graph): boolean =>
  checkpointer !== false && typeof checkpointer !== "object";
const inner = (value: unknown): unknown => (isRecord(value) ? value.graph : undefined);
const compiled = (value: unknown): unknown =>
  isRecord(value) && typeof value.compile === "function" && !isGraph(value) ? value.compile() : undefined;

/** The members of its input; undefined: not known. */
export function inputKeysOf({ builder, facts }: Graph): readonly string[] | undefined {
  if (facts) return facts.inputKeys ?? undefined;
  if (!isRecord(builder) || !(builder._schemaDefinitions instanceof Map)) return undefined;
  const schema: unknown = builder._schemaDefinitions.get(builder._inputDefinition);
  return isRecord(schema) ? Object.keys(schema) : undefined;
}

/** The members of its context; undefined: not known. */
export function contextKeysOf({ builder, facts }: Graph): readonly string[] | undefined {
  if (facts) return facts.contextKeys ?? undefined;
  const schema = isRecord(builder) ? builder._configRuntimeSchema : undefined;
  const shape = isRecord(schema) ? schema.shape : undefined;
  return isRecord(shape) ? Object.keys(shape) : undefined;
}
