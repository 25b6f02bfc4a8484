/** The part of LangGraph that is used here. Nothing of it is imported, so that there is one copy of it: the one of the graph. */
import { isRecord, wrong } from "../shared/options.ts";

/** A compiled graph, as its author has it in hand. */
export interface CompiledGraph {
  stream(input: never, options?: never): unknown;
}
/**
 * What an agent can be made of: a compiled graph, an agent of `createAgent`, a graph that is still to be compiled, or a
 * function that gives one of them for a run.
 */
export type GraphSource =
  | CompiledGraph
  | { readonly graph: CompiledGraph }
  | { compile(): unknown }
  | ((config: never) => unknown);

export interface Graph {
  /** false: it wants none. */
  readonly checkpointer?: Saver | boolean | undefined;
  readonly outputChannels?: string | readonly string[];
  readonly interruptBefore?: "*" | readonly string[];
  readonly interruptAfter?: "*" | readonly string[];
  readonly builder?: unknown;
  stream(input: unknown, config: GraphConfig): Promise<AsyncIterable<Chunk>>;
  getState(config: GraphConfig): Promise<Snapshot>;
}

/** Namespace, mode, and what is told. */
export type Chunk = readonly [readonly string[], string, unknown];

export interface GraphConfig {
  readonly configurable?: Readonly<Record<string, unknown>> & Partial<CheckpointPlace>;
  readonly [option: string]: unknown;
}
export interface CheckpointPlace {
  readonly thread_id: string;
  readonly checkpoint_ns: string;
  readonly checkpoint_id: string;
}

export interface Snapshot {
  readonly values: unknown;
  /** The nodes that come next; none: the graph has come to its end. */
  readonly next: readonly string[];
  readonly config: GraphConfig;
  readonly tasks: readonly { readonly id: string; readonly interrupts?: readonly Interrupt[] }[];
}
export interface Interrupt {
  readonly id?: string;
  readonly value?: unknown;
  readonly response_schema?: unknown;
}

/** Channel and value. */
export type Write = readonly [string, unknown];
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
export interface ListWish {
  readonly limit?: number;
  readonly before?: GraphConfig;
  readonly filter?: Readonly<Record<string, unknown>>;
}
/** LangGraph's checkpointer. */
export interface Saver {
  getTuple(config: GraphConfig): Promise<CheckpointTuple | undefined>;
  list(config: GraphConfig, wish?: ListWish): AsyncGenerator<CheckpointTuple>;
  put(
    config: GraphConfig,
    checkpoint: Checkpoint,
    metadata: unknown,
    newVersions: unknown,
  ): Promise<GraphConfig>;
  putWrites(config: GraphConfig, writes: readonly Write[], taskId: string, taskPath?: string): Promise<void>;
  deleteThread(threadId: string): Promise<void>;
}

/** Written by a task that is not done: that it waits, that it failed, what it was answered. */
const UNDONE: ReadonlySet<string> = new Set([
  "__interrupt__",
  "__resume__",
  "__error__",
  "__error_source_node__",
  "__scheduled__",
]);
/** Whether a task that wrote to this channel is done. */
export const isDoneBy = (channel: string): boolean => !UNDONE.has(channel);

/** The tasks that a namespace is in: `["sub:ID", "inner:ID"]`. */
export const taskIdsIn = (ns: readonly string[]): readonly string[] =>
  ns.flatMap(part => part.split(":")[1] ?? []);

/** A graph that can be run, if this is one. */
export function toGraph(value: unknown): Graph {
  const candidates = [value, inner(value), compiled(value)];
  const graph = candidates.find(isGraph);
  if (graph) return graph;
  throw wrong(
    "langgraph() takes a compiled graph (new StateGraph(…)….compile()), an agent of createAgent, or a function that gives one",
  );
}

const isGraph = (value: unknown): value is Graph =>
  isRecord(value) && value.lg_is_pregel === true && typeof value.getState === "function";
/** Whether it has neither a checkpointer nor the wish to have none. */
export const needsSaver = ({ checkpointer }: Graph): boolean =>
  checkpointer !== false && typeof checkpointer !== "object";
const inner = (value: unknown): unknown => (isRecord(value) ? value.graph : undefined);
const compiled = (value: unknown): unknown =>
  isRecord(value) && typeof value.compile === "function" && !isGraph(value) ? value.compile() : undefined;

/** The members of its input; undefined: it does not tell. */
export function inputKeysOf({ builder }: Graph): readonly string[] | undefined {
  if (!isRecord(builder) || !(builder._schemaDefinitions instanceof Map)) return undefined;
  const schema: unknown = builder._schemaDefinitions.get(builder._inputDefinition);
  return isRecord(schema) ? Object.keys(schema) : undefined;
}

/** The members of its context, if its schema tells them. */
export function contextKeysOf({ builder }: Graph): readonly string[] | undefined {
  const schema = isRecord(builder) ? builder._configRuntimeSchema : undefined;
  const shape = isRecord(schema) ? schema.shape : undefined;
  return isRecord(shape) ? Object.keys(shape) : undefined;
}
