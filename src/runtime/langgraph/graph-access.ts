/** Schemas, drawing, state and history of a graph, for clients of LangGraph. */
import type { JsonObject } from "../../lib/json.ts";
import { Fault } from "../../model/index.ts";
import type {
  CheckpointRef,
  GraphAccess,
  GraphContext,
  HistoryRange,
  StateSchemas,
  StateUpdate,
} from "../../ports/index.ts";
import type { CreateCheckpointer, StorageCheckpointer } from "./checkpointer.ts";
import { toCommand } from "./command.ts";
import { CHECKPOINTER, threadOf } from "./config.ts";
import { type Checkpointer, type Graph, type GraphConfig, type GraphSource, toGraph } from "./graph.ts";
import { KEEP_KEY } from "./run.ts";
import { schemasOf } from "./schemas.ts";
import { type StateSnapshot, toCheckpoint, toGraphState } from "./snapshot.ts";
import { type ReadableGraph, type ReadParts, SnapshotReader } from "./snapshot-reader.ts";
import { toWire } from "./wire.ts";

export interface GraphAccessParts {
  readonly source: GraphSource;
  /** undefined: `source` creates one. */
  readonly graph: Graph | undefined;
  readonly loadCheckpointer: () => Promise<CreateCheckpointer>;
}

/** The methods of a compiled graph that only this file uses. */
interface StatefulGraph extends ReadableGraph {
  bulkUpdateState(config: GraphConfig, steps: readonly object[]): Promise<GraphConfig>;
  getGraphAsync(config: object): Promise<{ toJSON(): unknown }>;
  /** Of a graph in another process. */
  schemas?(): Promise<NamedSchemas>;
  subgraphSchemas?(options: object): Promise<Readonly<Record<string, NamedSchemas>>>;
  getSubgraphsAsync(namespace?: string, recurse?: boolean): AsyncIterable<readonly [string, Graph]>;
}

/** As the Agent Server names them; null: not known. */
type NamedSchemas = Readonly<Record<`${keyof StateSchemas}_schema`, JsonObject | null>>;

const fromNamed = (named: NamedSchemas): StateSchemas => ({
  ...(named.input_schema && { input: named.input_schema }),
  ...(named.output_schema && { output: named.output_schema }),
  ...(named.state_schema && { state: named.state_schema }),
  ...(named.config_schema && { config: named.config_schema }),
  ...(named.context_schema && { context: named.context_schema }),
});

interface OpenedGraph {
  readonly graph: StatefulGraph;
  readonly checkpointer: Checkpointer;
  /** undefined: the graph has a checkpointer of its own. */
  readonly stored: StorageCheckpointer | undefined;
  /** undefined: its states may depend on more than its checkpoints. */
  readonly readable: ReadParts | undefined;
  toConfig(at: CheckpointRef | undefined): GraphConfig;
}

export function createGraphAccess({ source, graph: made, loadCheckpointer }: GraphAccessParts): GraphAccess {
  const reader = new SnapshotReader();
  const openGraph = async (): Promise<StatefulGraph> => {
    const create = source as (config: object) => unknown;
    return (made ?? toGraph(await create({ configurable: {}, context: {}, metadata: {} }))) as StatefulGraph;
  };

  async function open(context: GraphContext): Promise<OpenedGraph> {
    const graph = await openGraph();
    const own = graph.checkpointer;
    if (own === false)
      throw new Fault("unsupported-operation", "The graph keeps no state (checkpointer: false)");
    const { contextId, caller, storage } = context;
    const stored = typeof own === "object" ? undefined : (await loadCheckpointer())(storage, contextId);
    const thread = stored ? contextId : threadOf({ contextId }, { caller });
    const checkpointer = stored ?? (own as Checkpointer);
    return {
      graph,
      checkpointer,
      stored,
      // A graph in another process, or one that is created for each call, may be another one the next time.
      readable: made && !made.facts && stored ? { context, graph, checkpointer: stored } : undefined,
      toConfig: at => ({
        configurable: { checkpoint_ns: "", ...at, thread_id: thread, [CHECKPOINTER]: checkpointer },
      }),
    };
  }

  return {
    async schemas() {
      const graph = await openGraph();
      return graph.schemas ? fromNamed(await graph.schemas()) : schemasOf(graph);
    },
    async drawing(xray) {
      const graph = await openGraph();
      return toWire((await graph.getGraphAsync({ xray })).toJSON()) as JsonObject;
    },
    async subgraphs(namespace, recurse) {
      const graph = await openGraph();
      const found: Record<string, StateSchemas> = {};
      if (graph.subgraphSchemas) {
        const named = await graph.subgraphSchemas({ ...(namespace !== undefined && { namespace }), recurse });
        return Object.fromEntries(Object.entries(named).map(([ns, schemas]) => [ns, fromNamed(schemas)]));
      }
      for await (const [ns, subgraph] of graph.getSubgraphsAsync(namespace, recurse))
        found[ns] = schemasOf(subgraph);
      return found;
    },
    async readState(context, at, subgraphs) {
      const { graph, checkpointer, readable, toConfig } = await open(context);
      const config = toConfig(at);
      const known = readable && !subgraphs ? await reader.readState(readable, config) : undefined;
      if (known) return known;
      if (at?.checkpoint_id !== undefined && !(await checkpointer.getTuple(config)))
        throw new Fault("task-not-found", "Checkpoint not found");
      const snapshot = (await graph.getState(config, { subgraphs })) as unknown as StateSnapshot;
      return toGraphState(snapshot, context.contextId);
    },
    async readHistory(context, range) {
      const { graph, readable, toConfig } = await open(context);
      const { limit, before, at, metadata = {} } = range as HistoryRange;
      const options = {
        limit,
        ...(before && { before: toConfig(before) }),
        ...(Object.keys(metadata).length > 0 && { filter: metadata }),
      };
      if (readable) return reader.readHistory(readable, toConfig(at), options);
      const states = [];
      for await (const snapshot of graph.getStateHistory(toConfig(at), options))
        states.push(toGraphState(snapshot, context.contextId));
      return states;
    },
    async updateState(context, at, steps) {
      const { graph, toConfig } = await open(context);
      await context.storage.put([{ key: KEEP_KEY, value: true }]);
      const updates = steps.map(step => ({ updates: step.map(toUpdate) }));
      return toCheckpoint(await graph.bulkUpdateState(toConfig(at), updates), context.contextId);
    },
    async deleteRun(context, runId) {
      const { stored } = await open(context);
      await stored?.deleteRun(runId);
    },
    async keepLatest(context) {
      const { stored } = await open(context);
      await stored?.prune();
    },
  };
}

const toUpdate = ({ values, command, as_node: asNode }: StateUpdate): object => ({
  values: command ? toCommand(command) : (values ?? null),
  ...(asNode !== undefined && { asNode }),
});
