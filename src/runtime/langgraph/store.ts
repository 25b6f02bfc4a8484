/** LangGraph's interface of a store, over the long-term memory of the caller: `config.store`, `runtime.store`. */
import type { JsonObject } from "../../lib/json.ts";
import type { CallerItems, FoundItem, Namespace } from "../../ports/index.ts";

interface GraphItem {
  readonly namespace: Namespace;
  readonly key: string;
  readonly value: JsonObject;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly score?: number | undefined;
}
interface SearchOptions {
  readonly filter?: JsonObject | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly query?: string | undefined;
}
interface ListOptions {
  readonly prefix?: Namespace | undefined;
  readonly suffix?: Namespace | undefined;
  readonly maxDepth?: number | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}
type Index = readonly string[] | false | undefined;

/** An operation of `batch`: its members tell which one it is. */
type GraphStoreOperation =
  | { readonly namespace: Namespace; readonly key: string }
  | {
      readonly namespace: Namespace;
      readonly key: string;
      readonly value: JsonObject | null;
      readonly index?: Index;
      /** Only Python has it. */
      readonly ttlMs?: number;
    }
  | ({ readonly namespacePrefix: Namespace } & SearchOptions)
  | ({ readonly matchConditions?: readonly MatchCondition[] } & Omit<ListOptions, "prefix" | "suffix">);
interface MatchCondition {
  readonly matchType: "prefix" | "suffix";
  readonly path: Namespace;
}

export interface GraphStore {
  get(namespace: Namespace, key: string): Promise<GraphItem | null>;
  put(namespace: Namespace, key: string, value: JsonObject, index?: Index): Promise<void>;
  delete(namespace: Namespace, key: string): Promise<void>;
  search(prefix: Namespace, options?: SearchOptions): Promise<readonly GraphItem[]>;
  listNamespaces(options?: ListOptions): Promise<readonly Namespace[]>;
  batch(operations: readonly GraphStoreOperation[]): Promise<readonly unknown[]>;
  start(): void;
  stop(): void;
}

export function createGraphStore(items: CallerItems): GraphStore {
  const store: GraphStore = {
    async get(namespace, key) {
      const found = await items.get(namespace, key);
      return found ? toGraphItem(found) : null;
    },
    put: (namespace, key, value, index) => items.put(namespace, key, toPlainValue(value), { index }),
    delete: (namespace, key) => items.delete(namespace, key),
    search: async (prefix, options) => (await items.search(prefix, options)).map(toGraphItem),
    listNamespaces: options => items.listNamespaces(options),
    /** In order: a get after a put in the same batch reads what was put. */
    async batch(operations) {
      const results: unknown[] = [];
      for (const operation of operations) results.push((await execute(operation)) ?? null);
      return results;
    },
    start() {},
    stop() {},
  };

  function execute(operation: GraphStoreOperation): Promise<unknown> {
    if ("namespacePrefix" in operation) return store.search(operation.namespacePrefix, operation);
    if ("value" in operation) {
      const { namespace, key, value, index, ttlMs } = operation;
      if (value === null) return store.delete(namespace, key);
      return items.put(namespace, key, toPlainValue(value), { index, ttlMs });
    }
    if ("key" in operation) return store.get(operation.namespace, operation.key);
    const { matchConditions = [], maxDepth, limit, offset } = operation;
    const pathOf = (type: string) => matchConditions.find(({ matchType }) => matchType === type)?.path;
    return store.listNamespaces({
      prefix: pathOf("prefix"),
      suffix: pathOf("suffix"),
      maxDepth,
      limit,
      offset,
    });
  }

  return store;
}

const toGraphItem = ({ createdAt, updatedAt, ...item }: FoundItem): GraphItem => ({
  ...item,
  createdAt: new Date(createdAt),
  updatedAt: new Date(updatedAt),
});

/** As JSON: what is read later is what was put now, whatever the node does with its object. */
const toPlainValue = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;
