import type { Json } from "../lib/json.ts";
import type { AgentName, Scope } from "../model/index.ts";

/** What is put away beside the log, by caller, agent and shelf. What lies on the shelf of a context goes with its last task. */
export interface AgentStorage {
  get(place: StorageArea, key: string): Promise<Json | undefined>;
  /** In the order of the keys. */
  list(place: StorageArea, range: StorageRange): Promise<readonly StoredItem[]>;
  /** All changes or none; resolves when they are committed. */
  put(place: StorageArea, changes: readonly StorageChange[]): Promise<void>;
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
/** `value` undefined: it is taken away. */
export interface StorageChange {
  readonly key: string;
  readonly value: Json | undefined;
}
export interface StorageRange {
  /** Keys that begin so. */
  readonly prefix: string;
  /** Keys beyond this one, in the direction of the list. */
  readonly beyond?: string;
  readonly backwards?: boolean;
  readonly max: number;
}
/** A shelf whose place is settled. */
export interface ContextStorage {
  get(key: string): Promise<Json | undefined>;
  list(range: StorageRange): Promise<readonly StoredItem[]>;
  put(changes: readonly StorageChange[]): Promise<void>;
}
