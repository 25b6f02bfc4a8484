/** Reads states of a graph from its stored checkpoints. What was computed before is not computed again. */
import type { GraphContext, ThreadSnapshot } from "../../ports/index.ts";
import type { StorageCheckpointer, StoredTuple } from "./checkpointer.ts";
import { CHECKPOINTER } from "./config.ts";
import type { Checkpointer, CheckpointListOptions, Graph, GraphConfig, Snapshot } from "./graph.ts";
import { type StateSnapshot, toGraphState } from "./snapshot.ts";
import { isComplete, SnapshotCache } from "./snapshot-cache.ts";

/** The methods of a compiled graph that read its states. */
export interface ReadableGraph extends Graph {
  getState(config: GraphConfig, options?: object): Promise<Snapshot>;
  getStateHistory(config: GraphConfig, options: object): AsyncIterable<StateSnapshot>;
}

export interface ReadParts {
  readonly context: GraphContext;
  readonly graph: ReadableGraph;
  readonly checkpointer: StorageCheckpointer;
}

/** For one graph. */
const CACHE_BYTES_MAX = 16 * 1024 * 1024;

/** For one compiled graph: another graph reads the same checkpoints differently. */
export class SnapshotReader {
  readonly #cache = new SnapshotCache(CACHE_BYTES_MAX);

  /** undefined: there is no such checkpoint. */
  async readState(parts: ReadParts, config: GraphConfig): Promise<ThreadSnapshot | undefined> {
    const { context, graph, checkpointer } = parts;
    const stored = await checkpointer.findStored(config);
    if (!stored) return undefined;
    // LangGraph applies the writes of the newest checkpoint, and those of a named one not.
    const key = toKey(context, config.configurable?.checkpoint_id === undefined ? "newest" : "named", stored);
    const known = this.#cache.find(key, stored);
    if (known) return known;
    const tuple = await stored.toTuple();
    const isKept = isComplete(tuple);
    const snapshot = await graph.getState(withReads(config, checkpointer, { getTuple: async () => tuple }));
    const state = toGraphState(snapshot as unknown as StateSnapshot, context.contextId);
    if (isKept) this.#cache.put(key, stored, state);
    return state;
  }

  async readHistory(
    parts: ReadParts,
    config: GraphConfig,
    options: CheckpointListOptions,
  ): Promise<readonly ThreadSnapshot[]> {
    const { context, checkpointer } = parts;
    const states: (ThreadSnapshot | undefined)[] = [];
    const missing: { readonly at: number; readonly key: string; readonly stored: StoredTuple }[] = [];
    for await (const stored of checkpointer.listStored(config, options)) {
      const key = toKey(context, "history", stored);
      const known = this.#cache.find(key, stored);
      if (!known) missing.push({ at: states.length, key, stored });
      states.push(known);
    }
    const computed = this.#compute(
      parts,
      config,
      missing.map(({ stored }) => stored),
    );
    for (const { at, key, stored } of missing) {
      const { state, isKept } = (await computed.next()).value as ComputedState;
      if (isKept) this.#cache.put(key, stored, state);
      states[at] = state;
    }
    return states as readonly ThreadSnapshot[];
  }

  /** In their order. */
  async *#compute(
    { context, graph, checkpointer }: ReadParts,
    config: GraphConfig,
    stored: readonly StoredTuple[],
  ): AsyncGenerator<ComputedState> {
    let isKept = false;
    const list: Checkpointer["list"] = async function* () {
      for (const one of stored) {
        const tuple = await one.toTuple();
        isKept = isComplete(tuple);
        yield tuple;
      }
    };
    for await (const snapshot of graph.getStateHistory(withReads(config, checkpointer, { list }), {}))
      yield { state: toGraphState(snapshot, context.contextId), isKept };
  }
}

interface ComputedState {
  readonly state: ThreadSnapshot;
  readonly isKept: boolean;
}

/** A checkpointer that reads what was read already: LangGraph would read it again, and it may have changed since. */
function withReads(
  config: GraphConfig,
  checkpointer: Checkpointer,
  reads: Partial<Pick<Checkpointer, "getTuple" | "list">>,
): GraphConfig {
  const reader: Pick<Checkpointer, "getTuple" | "list"> = {
    getTuple: one => checkpointer.getTuple(one),
    list: (one, options) => checkpointer.list(one, options),
    ...reads,
  };
  return { ...config, configurable: { ...config.configurable, [CHECKPOINTER]: reader } };
}

/** Checkpoints are stored for each caller and context. */
const toKey = ({ caller, contextId }: GraphContext, kind: string, { ns, id }: StoredTuple): string =>
  JSON.stringify([kind, caller.tenant, caller.principal, contextId, ns, id]);
