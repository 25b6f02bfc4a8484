import type { Json } from "../lib/json.ts";
import type { AgentName, Scope } from "../model/index.ts";

/** What is put away beside the log, by caller, agent and shelf. What lies on the shelf of a context goes with its last task. */
export interface Shelf {
  get(place: ShelfPlace, key: string): Promise<Json | undefined>;
  /** In the order of the keys. */
  list(place: ShelfPlace, range: ShelfRange): Promise<readonly Shelved[]>;
  /** All changes or none; resolves when they are committed. */
  put(place: ShelfPlace, changes: readonly ShelfChange[]): Promise<void>;
}
export interface ShelfPlace {
  readonly scope: Scope;
  readonly agent: AgentName;
  /** The id of a context, or a name that cannot be one: "@credentials". */
  readonly shelf: string;
}
export interface Shelved {
  readonly key: string;
  readonly value: Json;
}
/** `value` undefined: it is taken away. */
export interface ShelfChange {
  readonly key: string;
  readonly value: Json | undefined;
}
export interface ShelfRange {
  /** Keys that begin so. */
  readonly prefix: string;
  /** Keys beyond this one, in the direction of the list. */
  readonly beyond?: string;
  readonly backwards?: boolean;
  readonly max: number;
}
/** A shelf whose place is settled. */
export interface OwnShelf {
  get(key: string): Promise<Json | undefined>;
  list(range: ShelfRange): Promise<readonly Shelved[]>;
  put(changes: readonly ShelfChange[]): Promise<void>;
}
