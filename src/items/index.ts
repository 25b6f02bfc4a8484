/** The items of a caller: checks, time to live, filters and search by meaning over the store. */
import { Fault, LIMITS, type Scope } from "../model/index.ts";
import type {
  CallerItems,
  Embed,
  FoundItem,
  Item,
  ItemId,
  ItemSearch,
  ItemStore,
  Namespace,
  NamespaceSearch,
  OpenItems,
} from "../ports/index.ts";
import { parseFilter } from "./filter.ts";
import { BestMatches, toSimilarity } from "./similarity.ts";
import { textsAt } from "./texts.ts";

export interface ItemsParts {
  readonly store: ItemStore;
  /** undefined: a search has no query. */
  readonly embed: Embed | undefined;
  /** The members of values that a search by meaning compares. */
  readonly fields: readonly string[];
  /** undefined: items do not expire. */
  readonly ttlMs: number | undefined;
  /** Whether reading an item begins its time to live anew. */
  readonly refreshOnRead: boolean;
}

/** Items per read of the store. */
const PAGE_MAX = 100;
const LIMIT_DEFAULT = 10;
const NAMESPACES_DEFAULT = 100;

export const createItems =
  (parts: ItemsParts): OpenItems =>
  scope =>
    openItems(parts, scope);

function openItems(parts: ItemsParts, scope: Scope): CallerItems {
  const { store } = parts;

  async function refresh(ids: readonly ItemId[], wanted = parts.refreshOnRead): Promise<void> {
    if (wanted) await store.refresh(scope, ids);
  }

  /** All items below a prefix, the one that was changed last first. */
  async function* readItems(prefix: Namespace, withVectors: boolean): AsyncGenerator<Item> {
    let after: Item | undefined;
    for (let read = 0; read < LIMITS.itemsSearchedMax; read += PAGE_MAX) {
      const page = await store.list(scope, { prefix, after, max: PAGE_MAX, withVectors });
      yield* page;
      after = page.at(-1);
      if (page.length < PAGE_MAX) return;
      // Some stores read synchronously: other work runs in between.
      await new Promise(resolve => void setImmediate(resolve));
    }
  }

  async function findNewest(prefix: Namespace, options: ItemSearch): Promise<readonly FoundItem[]> {
    const { offset, limit } = toPage(options, LIMIT_DEFAULT);
    const matches = parseFilter(options.filter);
    const found: FoundItem[] = [];
    let skipped = 0;
    for await (const item of readItems(prefix, false)) {
      if (found.length === limit) break;
      if (!matches(item.value)) continue;
      if (skipped < offset) skipped += 1;
      else found.push(toFound(item));
    }
    return found;
  }

  async function findSimilar(
    prefix: Namespace,
    query: string,
    embed: Embed,
    options: ItemSearch,
  ): Promise<readonly FoundItem[]> {
    const { offset, limit } = toPage(options, LIMIT_DEFAULT);
    const matches = parseFilter(options.filter);
    const [vector] = await toVectors(embed, [query]);
    const similarity = toSimilarity(vector as Float32Array);
    const best = new BestMatches<Item>(offset + limit);
    for await (const item of readItems(prefix, true))
      if (matches(item.value)) best.add(item, similarity(item.vectors));
    return best.take(offset, limit).map(({ value, score }) => toFound(value, score));
  }

  return {
    async get(namespace, key, options = {}) {
      checkNamespace(namespace);
      const item = await store.get(scope, { namespace, key });
      if (item) await refresh([item], options.refresh);
      return item && toFound(item);
    },
    async put(namespace, key, value, { ttlMs = parts.ttlMs, index } = {}) {
      checkNamespace(namespace);
      const texts =
        parts.embed && index !== false ? (index ?? parts.fields).flatMap(path => textsAt(value, path)) : [];
      const vectors = parts.embed && texts.length > 0 ? await toVectors(parts.embed, texts) : [];
      await store.put(scope, [{ namespace, key, value, ttlMs: ttlMs ?? undefined, vectors }]);
    },
    async delete(namespace, key) {
      checkNamespace(namespace);
      await store.put(scope, [{ namespace, key, value: undefined }]);
    },
    async search(prefix, options = {}) {
      const { query } = options;
      const found =
        parts.embed && query !== undefined && query !== ""
          ? await findSimilar(prefix, query, parts.embed, options)
          : await findNewest(prefix, options);
      await refresh(found, options.refresh);
      return found;
    },
    listNamespaces: (options = {}) => listNamespaces(store, scope, options),
  };
}

async function listNamespaces(
  store: ItemStore,
  scope: Scope,
  options: NamespaceSearch,
): Promise<readonly Namespace[]> {
  const { offset, limit } = toPage(options, NAMESPACES_DEFAULT);
  const { prefix = [], suffix = [], maxDepth } = options;
  const firstAny = prefix.indexOf("*");
  const fixed = firstAny === -1 ? prefix : prefix.slice(0, firstAny);
  const found = new Map<string, Namespace>();
  let after: Namespace | undefined;
  for (let read = 0; read < LIMITS.itemsSearchedMax && found.size < offset + limit; read += PAGE_MAX) {
    const page = await store.listNamespaces(scope, { prefix: fixed, after, max: PAGE_MAX });
    for (const namespace of page)
      if (hasLabels(namespace, prefix, 0) && hasLabels(namespace, suffix, namespace.length - suffix.length)) {
        const cut = namespace.slice(0, maxDepth);
        found.set(cut.join("."), cut);
      }
    after = page.at(-1);
    if (page.length < PAGE_MAX) break;
  }
  return [...found.values()].slice(offset, offset + limit);
}

/** `*` stands for any label. */
const hasLabels = (namespace: Namespace, labels: Namespace, at: number): boolean =>
  at >= 0 &&
  at + labels.length <= namespace.length &&
  labels.every((label, i) => label === "*" || label === namespace[at + i]);

const toFound = ({ namespace, key, value, createdAt, updatedAt }: Item, score?: number): FoundItem => ({
  namespace,
  key,
  value,
  createdAt,
  updatedAt,
  ...(score !== undefined && { score }),
});

function toPage(
  { limit = 0, offset = 0 }: Pick<ItemSearch, "limit" | "offset">,
  limitDefault: number,
): { readonly limit: number; readonly offset: number } {
  const isCount = (value: number, max: number): boolean =>
    Number.isInteger(value) && value >= 0 && value <= max;
  if (!isCount(limit, LIMITS.itemsFoundMax) || !isCount(offset, LIMITS.itemsSearchedMax))
    throw new Fault(
      "invalid-params",
      `limit is a whole number up to ${LIMITS.itemsFoundMax}, offset up to ${LIMITS.itemsSearchedMax}`,
    );
  return { limit: limit === 0 ? limitDefault : limit, offset };
}

/** The other rules are checked by the store. */
function checkNamespace(namespace: Namespace): void {
  if (namespace.length === 0)
    throw new Fault("invalid-params", "Namespace cannot be empty", { field: "namespace" });
  for (const label of namespace) {
    if (label === "")
      throw new Fault("invalid-params", "Namespace labels cannot be empty", { field: "namespace" });
    if (label.includes("."))
      throw new Fault(
        "invalid-params",
        `Invalid namespace label '${label}'. Namespace labels cannot contain periods ('.').`,
        { field: "namespace" },
      );
  }
}

async function toVectors(embed: Embed, texts: readonly string[]): Promise<readonly Float32Array[]> {
  let vectors: readonly (readonly number[])[];
  try {
    vectors = await embed(texts);
  } catch (error) {
    throw new Fault("unavailable", "The embedding function failed; try again later", {}, error);
  }
  const isValid = Array.isArray(vectors) && vectors.length === texts.length && vectors.every(isVector);
  if (!isValid)
    throw new Error(
      `the embedding function must return one list of numbers for each of ${texts.length} texts`,
    );
  return vectors.map(vector => Float32Array.from(vector));
}

const isVector = (vector: unknown): boolean =>
  (Array.isArray(vector) || vector instanceof Float32Array) && vector.length > 0;
