/** A graph in a Python process, with the methods of a graph of LangGraph.js. */
import type { Json, JsonObject } from "../../../lib/json.ts";
import { isRecord } from "../../shared/options.ts";
import { toPlain } from "../../shared/to-plain.ts";
import type { Checkpointer, Graph, GraphConfig, GraphFacts, Snapshot, StreamChunk } from "../graph.ts";
import type { GraphStore } from "../store.ts";
import { ChunkQueue } from "./chunk-queue.ts";
import type { Worker } from "./worker.ts";
import type { RequestListener } from "./worker-process.ts";

/** What the process knows of its graph; a factory knows nothing before it is called. */
export interface PythonFacts extends GraphFacts {
  readonly outputChannels?: string | readonly string[] | null;
  readonly interruptBefore?: "*" | readonly string[];
  readonly interruptAfter?: "*" | readonly string[];
  readonly hasCheckpoints?: boolean;
  readonly hasOwnCheckpointer?: boolean;
  readonly inputSchema?: JsonObject | null;
}

/** JSON Schemas, as `/assistants/{id}/schemas` shows them; null: not known. */
export interface GraphSchemas {
  readonly input_schema: JsonObject | null;
  readonly output_schema: JsonObject | null;
  readonly state_schema: JsonObject | null;
  readonly config_schema: JsonObject | null;
  readonly context_schema: JsonObject | null;
}

const CHECKPOINTER = "__pregel_checkpointer";
/** LangGraph.js and Python spell options differently. */
const RUN_OPTIONS: Readonly<Record<string, string>> = {
  streamMode: "stream_mode",
  subgraphs: "subgraphs",
  durability: "durability",
  interruptBefore: "interrupt_before",
  interruptAfter: "interrupt_after",
  context: "context",
};
const CONFIG_MEMBERS: Readonly<Record<string, string>> = {
  metadata: "metadata",
  tags: "tags",
  recursionLimit: "recursion_limit",
  runId: "run_id",
  runName: "run_name",
};

export class PythonGraph implements Graph {
  readonly lg_is_pregel = true;
  readonly #worker: Worker;
  readonly #isOutputOnly: boolean;
  readonly facts: PythonFacts;
  readonly checkpointer: false | undefined;
  readonly outputChannels: string | readonly string[];
  readonly interruptBefore: "*" | readonly string[];
  readonly interruptAfter: "*" | readonly string[];

  /** `isOutputOnly`: values in streams have the members of the output schema only. */
  constructor(worker: Worker, facts: PythonFacts, isOutputOnly: boolean) {
    this.#worker = worker;
    this.#isOutputOnly = isOutputOnly;
    this.facts = facts;
    this.checkpointer = facts.hasCheckpoints === false ? false : undefined;
    this.outputChannels = facts.outputChannels ?? "";
    this.interruptBefore = facts.interruptBefore ?? [];
    this.interruptAfter = facts.interruptAfter ?? [];
  }

  async stream(input: unknown, config: GraphConfig = {}): Promise<AsyncIterable<StreamChunk>> {
    return this.#read("stream", this.#toRun(input, config), config, toStreamChunk);
  }

  /** The events of LangChain (`astream_events`, version 2). */
  streamEvents(input: unknown, config: GraphConfig): AsyncIterable<unknown> {
    const convert = (event: Json): unknown => toEvent(event as JsonObject, config.runId);
    return this.#read("events", this.#toRun(input, config), config, convert);
  }

  #toRun(input: unknown, config: GraphConfig): JsonObject {
    return { ...toInput(input), options: pick(config, RUN_OPTIONS), outputOnly: this.#isOutputOnly };
  }

  async getState(config: GraphConfig, options: { readonly subgraphs?: boolean } = {}): Promise<Snapshot> {
    return (await this.#ask(
      "state",
      { subgraphs: options.subgraphs ?? false },
      config,
    )) as unknown as Snapshot;
  }

  /** The newest first. */
  getStateHistory(
    config: GraphConfig,
    options: { readonly limit?: number; readonly before?: GraphConfig; readonly filter?: JsonObject } = {},
  ): AsyncIterable<Snapshot> {
    const { limit, before, filter } = options;
    const given = { limit, before: before && toConfig(before), filter };
    return this.#read("history", { options: toPlain(given) }, config, chunk => chunk as unknown as Snapshot);
  }

  /** Returns the config of the new checkpoint. */
  updateState(config: GraphConfig, values: unknown, asNode?: string): Promise<GraphConfig> {
    return this.bulkUpdateState(config, [{ updates: [{ values, ...(asNode !== undefined && { asNode }) }] }]);
  }

  async bulkUpdateState(
    config: GraphConfig,
    supersteps: readonly {
      readonly updates: readonly { readonly values?: unknown; readonly asNode?: string }[];
    }[],
  ): Promise<GraphConfig> {
    const steps = supersteps.map(({ updates }) => updates.map(one => ({ ...one, ...toUpdate(one.values) })));
    return (await this.#ask("update", { supersteps: toPlain(steps) }, config)) as GraphConfig;
  }

  /** Nodes and edges, as `/assistants/{id}/graph` shows them. */
  async getGraphAsync(config: GraphConfig & { readonly xray?: boolean | number } = {}) {
    const drawn = await this.#ask("graph", { xray: config.xray ?? false }, config);
    return { toJSON: () => drawn as JsonObject };
  }

  async schemas(config: GraphConfig = {}): Promise<GraphSchemas> {
    return (await this.#ask("schemas", {}, config)) as unknown as GraphSchemas;
  }

  /** By namespace. */
  async subgraphSchemas(
    options: { readonly namespace?: string; readonly recurse?: boolean } = {},
  ): Promise<Readonly<Record<string, GraphSchemas>>> {
    const found = await this.#ask("subgraphs", toPlain(options) as JsonObject, {});
    return found as unknown as Record<string, GraphSchemas>;
  }

  #ask(type: string, members: JsonObject, config: GraphConfig): Promise<Json> {
    const listener = toListener(config, () => {});
    return this.#worker.request(type, { ...members, ...toContext(config) }, listener, signalOf(config));
  }

  #read<T>(
    type: string,
    members: JsonObject,
    config: GraphConfig,
    convert: (chunk: Json) => T,
  ): AsyncIterable<T> {
    const queue = new ChunkQueue<T>();
    const listener = toListener(config, chunk => queue.push(convert(chunk)));
    const stop = new AbortController();
    const signal = signalOf(config);
    const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    this.#worker.request(type, { ...members, ...toContext(config) }, listener, either).then(
      () => queue.end(),
      error => queue.end(error),
    );
    // A reader that stops early ends the run.
    return queue.read(() => stop.abort());
  }
}

const signalOf = ({ signal }: GraphConfig): AbortSignal | undefined =>
  signal instanceof AbortSignal ? signal : undefined;

/** The run calls the checkpointer and the store that its config names. */
function toListener(config: GraphConfig, onChunk: (chunk: Json) => void): RequestListener {
  const checkpointer = config.configurable?.[CHECKPOINTER] as Checkpointer | undefined;
  const store = config.store as GraphStore | undefined;
  return {
    onChunk,
    onUsage: usage => {
      const callbacks = Array.isArray(config.callbacks) ? config.callbacks : [];
      const output = { generations: [[{ message: { usage_metadata: usage } }]] };
      for (const callback of callbacks) callback?.handleLLMEnd?.(output);
    },
    onCall: async (method, parameters) => {
      if (method === "storeBatch" && store) return store.batch(parameters[0] as never);
      const call = Object.hasOwn(CALLS, method) ? CALLS[method] : undefined;
      if (!call || !checkpointer) throw new Error(`the method ${method} is not available`);
      return call(checkpointer, parameters as never);
    },
  };
}

type Parameters = [never, never, never, never];

const CALLS: Readonly<Record<string, (checkpointer: Checkpointer, given: Parameters) => Promise<unknown>>> = {
  getTuple: (checkpointer, [config]) => checkpointer.getTuple(config),
  list: (checkpointer, [config, options]) => Array.fromAsync(checkpointer.list(config, options)),
  put: (checkpointer, [config, checkpoint, metadata]) =>
    checkpointer.put(config, checkpoint, metadata, undefined),
  putWrites: (checkpointer, [config, writes, task, path]) =>
    checkpointer.putWrites(config, writes, task, path),
  deleteThread: (checkpointer, [thread]) => checkpointer.deleteThread(thread),
};

const toContext = (config: GraphConfig): JsonObject => ({
  config: toConfig(config),
  hasCheckpointer: config.configurable?.[CHECKPOINTER] !== undefined,
  hasStore: config.store !== undefined,
});

/** Without values that are for this process only. */
function toConfig(config: GraphConfig): JsonObject {
  const configurable = Object.entries(config.configurable ?? {}).filter(([name]) => !name.startsWith("__"));
  return { ...pick(config, CONFIG_MEMBERS), configurable: toPlain(Object.fromEntries(configurable)) };
}

function pick(config: GraphConfig, names: Readonly<Record<string, string>>): JsonObject {
  const members = Object.entries(names).flatMap(([name, spelling]): [string, Json][] =>
    config[name] === undefined ? [] : [[spelling, toPlain(config[name])]],
  );
  return Object.fromEntries(members);
}

const isCommand = (value: unknown): boolean => isRecord(value) && value.lg_name === "Command";

const toInput = (input: unknown): JsonObject =>
  isCommand(input) ? { command: toPlain(input) } : { input: toPlain(input) };
const toUpdate = (values: unknown): JsonObject =>
  isCommand(values) ? { values: null, command: toPlain(values) } : { values: toPlain(values) };

/** In Python the namespace of a message is that of its graph; the metadata has the one of its node, as in LangGraph.js. */
function toStreamChunk(chunk: Json): StreamChunk {
  const [ns, mode, payload] = chunk as unknown as [readonly string[], string, unknown];
  if (mode !== "messages" || !Array.isArray(payload)) return [ns, mode, payload];
  const place = isRecord(payload[1]) ? payload[1].langgraph_checkpoint_ns : undefined;
  return [typeof place === "string" ? place.split("|") : ns, mode, payload];
}

/** The chunks of the run itself are among its events. */
function toEvent(event: JsonObject, runId: unknown): unknown {
  const { data } = event;
  if (event.event !== "on_chain_stream" || event.run_id !== runId || !isRecord(data)) return event;
  return { ...event, data: { ...data, chunk: toStreamChunk(data.chunk as Json) } };
}
