import type { Json, JsonObject } from "../../model/index.ts";
import type { Draft, Item, ListWish, RemoteTask } from "./view.ts";

/** One version of the protocol as this client speaks it over JSON-RPC: names and shapes, as a value. */
export interface ClientDialect {
  /** What the `A2A-Version` header says. */
  readonly version: string;
  readonly methods: {
    readonly send: string;
    readonly stream: string;
    readonly get: string;
    readonly cancel: string;
    readonly subscribe: string;
  };
  /** null: this version cannot list tasks. */
  readonly list: { readonly method: string; write(wish: ListWish): JsonObject } | null;
  writeSend(draft: Draft): JsonObject;
  readItem(result: Json): Item;
  readTask(result: Json): RemoteTask;
}
