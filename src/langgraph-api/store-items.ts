/** The routes of the store: the long-term memory of the caller, in namespaces. */
import type { Json, JsonObject } from "../lib/json.ts";
import type { CallerItems, FoundItem, ItemPutOptions, Namespace, OpenItems } from "../ports/index.ts";
import { invalidField, readInteger, readObject, readString, requireId } from "../protocol/shared/fields.ts";
import type { ResourceAction, ResourceFilter } from "./authorize.ts";
import { matchesFilter } from "./authorize.ts";
import { readPage, toIso } from "./fields.ts";
import { type ApiCall, type ApiReply, type ApiRoute, readBody } from "./route.ts";

export interface StoreRouteParts {
  readonly items: OpenItems;
}

type StoreAction = (ResourceAction & { readonly resource: "store" })["action"];
const MINUTE_MS = 60_000;
const DEPTH_MAX = 100;

export function createStoreRoutes({ items }: StoreRouteParts): readonly ApiRoute[] {
  /** A handler may move the namespace: what is done happens there. */
  const authorize = async (call: ApiCall, action: StoreAction, value: Record<string, Json>) => {
    const { value: allowed, filter } = await call.authorize({ resource: "store", action }, value);
    return { value: allowed as JsonObject, filter, store: items(call.scope) };
  };

  async function put(call: ApiCall): Promise<ApiReply> {
    const body = readBody(call);
    const { value, store } = await authorize(call, "put", { ...readId(body), ...body });
    const { namespace, key } = readId(value);
    const item = readObject(value, "value", "");
    if (!item) throw invalidField("value", "is required");
    await store.put(namespace, key, item, { ttlMs: readTtlMs(value), index: readIndex(value) });
    return { status: 204 };
  }

  async function get(call: ApiCall): Promise<ApiReply> {
    const { query } = call;
    const namespace = (query.get("namespace") ?? "").split(".").filter(label => label !== "");
    const key = query.get("key");
    if (key === null || key === "") throw invalidField("key", "is required");
    const { value, filter, store } = await authorize(call, "get", { namespace, key });
    const id = readId(value);
    const refresh = readRefresh(query.get("refresh_ttl"));
    const found = await store.get(id.namespace, id.key, { refresh });
    return { json: found && isAllowed(found, filter) ? toItem(found) : null };
  }

  async function remove(call: ApiCall): Promise<ApiReply> {
    const { value, filter, store } = await authorize(call, "delete", readId(readBody(call)));
    const { namespace, key } = readId(value);
    const found = filter && (await store.get(namespace, key, { refresh: false }));
    if (!found || isAllowed(found, filter)) await store.delete(namespace, key);
    return { status: 204 };
  }

  async function search(call: ApiCall): Promise<ApiReply> {
    const body = readBody(call);
    const given = { ...body, namespace: readLabels(body, "namespace_prefix") ?? [] };
    const { value, filter, store } = await authorize(call, "search", given);
    const prefix = readLabels(value, "namespace") ?? [];
    const { limit, offset } = readPage(value);
    const found = await store.search(prefix, {
      ...{ limit, offset },
      filter: readObject(value, "filter", ""),
      query: readString(value, "query", ""),
      refresh: typeof value.refresh_ttl === "boolean" ? value.refresh_ttl : undefined,
    });
    return { json: { items: found.filter(item => isAllowed(item, filter)).map(toItem) } };
  }

  async function namespaces(call: ApiCall): Promise<ApiReply> {
    const body = readBody(call);
    const given = { ...body, namespace: readLabels(body, "prefix") ?? [] };
    const { value, store } = await authorize(call, "list_namespaces", given);
    const found = await listNamespaces(store, value);
    return { json: { namespaces: found } };
  }

  return [
    { verb: "PUT", path: "/store/items", access: "write", serve: put },
    { verb: "GET", path: "/store/items", access: "read", serve: get },
    { verb: "DELETE", path: "/store/items", access: "write", serve: remove },
    { verb: "POST", path: "/store/items/search", access: "read", serve: search },
    { verb: "POST", path: "/store/namespaces", access: "read", serve: namespaces },
  ];
}

function listNamespaces(store: CallerItems, value: JsonObject): Promise<readonly Namespace[]> {
  const { limit, offset } = readPage(value, 100);
  return store.listNamespaces({
    prefix: readLabels(value, "namespace"),
    suffix: readLabels(value, "suffix"),
    maxDepth: readInteger(value, "max_depth", "", { min: 1, max: DEPTH_MAX }),
    limit,
    offset,
  });
}

const toItem = ({ namespace, key, value, createdAt, updatedAt, score }: FoundItem): object => ({
  namespace,
  key,
  value,
  created_at: toIso(createdAt),
  updated_at: toIso(updatedAt),
  ...(score !== undefined && { score }),
});

/** Items have no metadata: a filter of a handler is tried against their value. */
const isAllowed = ({ value }: FoundItem, filter: ResourceFilter | undefined): boolean =>
  matchesFilter(value, filter);

function readId(from: JsonObject): { readonly namespace: string[]; readonly key: string } {
  const namespace = readLabels(from, "namespace");
  if (!namespace) throw invalidField("namespace", "is required");
  return { namespace: [...namespace], key: requireId(from, "key", "") };
}

function readLabels(from: JsonObject, name: string): string[] | undefined {
  const labels = from[name];
  if (labels === undefined || labels === null) return undefined;
  if (Array.isArray(labels) && labels.every(label => typeof label === "string")) return [...labels];
  throw invalidField(name, "must be a list of labels");
}

/** In minutes; null: the item does not expire. */
function readTtlMs({ ttl }: JsonObject): number | null | undefined {
  if (ttl === undefined || ttl === null) return ttl;
  if (typeof ttl !== "number" || !(ttl > 0) || ttl > 1e9)
    throw invalidField("ttl", "must be a number of minutes");
  return Math.max(1, Math.round(ttl * MINUTE_MS));
}

function readIndex({ index }: JsonObject): ItemPutOptions["index"] {
  if (index === undefined || index === null) return undefined;
  if (index === false) return false;
  if (Array.isArray(index) && index.every(path => typeof path === "string"))
    return index as readonly string[];
  throw invalidField("index", "must be false or a list of paths");
}

function readRefresh(text: string | null): boolean | undefined {
  if (text === null) return undefined;
  return text === "true" || text === "1";
}
