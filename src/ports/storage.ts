import type { Json } from "../lib/json.ts";
import type { AgentName, Scope } from "../model/index.ts";

/** Key-value storage by caller, agent and area. The area of a context is deleted with its last task. */
export interface AgentStorage {
  get(area: StorageArea, key: string): Promise<Json | undefined>;
  /** In the order of the keys. */
  list(area: StorageArea, range: StorageRange): Promise<readonly StoredItem[]>;
  /** All changes or none; resolves when they are committed. */
  put(area: StorageArea, changes: readonly StorageChange[]): Promise<void>;
}
export interface StorageArea {
  readonly scope: Scope;
  readonly agent: AgentName;
  /** The id of a context, or a name that cannot be one: "@credentials". */
  readonly area: string;
}
export interface StoredItem {
  readonly key: string;
  readonly value: Json;
}
/** `value` undefined: the key is deleted. */
export interface StorageChange {
  readonly key: string;
  readonly value: Json | undefined;
}
export interface StorageRange {
  /** Keys with this prefix. */
  readonly prefix: string;
  /** Keys beyond this one, in the direction of the list. */
  readonly beyond?: string;
  readonly backwards?: boolean;
  readonly max: number;
}
/** The storage of one context. */
export interface ContextStorage {
  get(key: string): Promise<Json | undefined>;
  list(range: StorageRange): Promise<readonly StoredItem[]>;
  put(changes: readonly StorageChange[]): Promise<void>;
}
