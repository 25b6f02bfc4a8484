import type { JsonObject } from "../lib/json.ts";
import type { Scope } from "../model/index.ts";

export type { Embed } from "../model/index.ts";

/** The values of a caller that belong to no context and no agent: a long-term memory, in namespaces. */
export interface ItemStore {
  get(scope: Scope, id: ItemId): Promise<Item | undefined>;
  /** All changes or none; resolves when they are committed. */
  put(scope: Scope, changes: readonly ItemChange[]): Promise<void>;
  /** The item that was changed last comes first. */
  list(scope: Scope, range: ItemRange): Promise<readonly Item[]>;
  /** In their order; each once. */
  listNamespaces(scope: Scope, range: NamespaceRange): Promise<readonly Namespace[]>;
  /** Items with a time to live begin it anew. */
  refresh(scope: Scope, ids: readonly ItemId[]): Promise<void>;
  /** Deletes items whose time to live is over, of all callers; they are invisible already. Returns how many. */
  sweep(max: number): Promise<number>;
}

/** Labels from the outside in; none is empty or contains a period. */
export type Namespace = readonly string[];
export interface ItemId {
  readonly namespace: Namespace;
  readonly key: string;
}
export interface Item extends ItemId {
  readonly value: JsonObject;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** undefined: the item does not expire. */
  readonly expiresAt: number | undefined;
  /** What a search by meaning compares; empty: the item is not indexed, or vectors were not asked for. */
  readonly vectors: readonly Float32Array[];
}
/** `value` undefined: the item is deleted. */
export interface ItemChange extends ItemId {
  readonly value: JsonObject | undefined;
  readonly ttlMs?: number | undefined;
  readonly vectors?: readonly Float32Array[] | undefined;
}
export interface ItemRange {
  /** Items in this namespace and below it. */
  readonly prefix: Namespace;
  /** The last item of the previous page. */
  readonly after?: Pick<Item, "namespace" | "key" | "updatedAt"> | undefined;
  readonly max: number;
  readonly withVectors: boolean;
}
export interface NamespaceRange {
  readonly prefix: Namespace;
  /** Namespaces after this one. */
  readonly after?: Namespace | undefined;
  readonly max: number;
}

/** The items of one caller, with time to live and search as the server is configured. */
export interface CallerItems {
  get(namespace: Namespace, key: string, options?: ItemReadOptions): Promise<FoundItem | undefined>;
  put(namespace: Namespace, key: string, value: JsonObject, options?: ItemPutOptions): Promise<void>;
  delete(namespace: Namespace, key: string): Promise<void>;
  /** Items in a namespace and below it: with `query` by meaning, else the one that was changed last first. */
  search(prefix: Namespace, options?: ItemSearch): Promise<readonly FoundItem[]>;
  listNamespaces(options?: NamespaceSearch): Promise<readonly Namespace[]>;
}
export interface FoundItem extends ItemId {
  readonly value: JsonObject;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The similarity to the query; undefined: there was none, or the item is not indexed. */
  readonly score?: number | undefined;
}
export interface ItemReadOptions {
  /** Whether the time to live begins anew; default: the option of the server. */
  readonly refresh?: boolean | undefined;
}
export interface ItemPutOptions {
  /** null: no time to live; default: the option of the server. */
  readonly ttlMs?: number | null | undefined;
  /** The members that a search by meaning compares (`"title"`, `"chapters[*].text"`, `"$"`: the whole value); false: none. */
  readonly index?: readonly string[] | false | undefined;
}
export interface ItemSearch extends ItemReadOptions {
  /** Members of the value: a value that they equal, or `{ $gt: 5 }` and the like. */
  readonly filter?: JsonObject | undefined;
  readonly query?: string | undefined;
  /** Default: 10. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}
export interface NamespaceSearch {
  /** `*` stands for any label. */
  readonly prefix?: Namespace | undefined;
  readonly suffix?: Namespace | undefined;
  /** Longer namespaces are cut to this number of labels. */
  readonly maxDepth?: number | undefined;
  /** Default: 100. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}
/** Opens the items of a caller. */
export type OpenItems = (scope: Scope) => CallerItems;
