import type { Json, JsonObject } from "../lib/json.ts";
import type { RefusalKind } from "./errors.ts";
import { kindOfNumber } from "./faults.ts";
import type { Draft, Item, ListWish, RemoteTask, TaskRef } from "./types.ts";

/** One vocabulary of the protocol as this client speaks it: names and shapes, as a value. */
export interface ClientDialect {
  /** What the `A2A-Version` header says; undefined: there is none. */
  readonly version: string | undefined;
  /** For those who read about it. */
  readonly title: string;
  readonly methods: {
    readonly send: string;
    readonly stream: string;
    readonly get: string;
    readonly cancel: string;
    readonly subscribe: string;
  };
  /**
   * How a stream without event ids is taken up again. "snapshot": a subscription begins with the task as it stands.
   * "replay": it tells everything again. "look": it would leave a gap, so the task is looked at now and then.
   */
  readonly rejoins: "snapshot" | "replay" | "look";
  /** null: this dialect cannot list tasks. */
  readonly list: { readonly method: string; write(wish: ListWish): JsonObject } | null;
  writeSend(draft: Draft): JsonObject;
  writeTask(task: TaskRef): JsonObject;
  readItem(result: Json): Item;
  readTask(result: Json): RemoteTask;
  /** The thread stands beside the parameters as well: servers of LangGraph look for it there, and others do not mind. */
  readonly threadBeside?: true;
  /** Pieces of a stream come without an envelope. */
  readonly bareFrames?: true;
  /** Where an agent says nothing at the end, the words of its artifacts are told once more. */
  readonly repeatsWords?: true;
  kindOfNumber(code: number): RefusalKind;
}

/** What most dialects have in common. */
export const USUAL = {
  list: null,
  rejoins: "look" as const,
  kindOfNumber,
  writeTask: ({ taskId }: TaskRef): JsonObject => ({ id: taskId }),
};
