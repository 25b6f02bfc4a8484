import type { Seq, TaskEvent } from "../../model/index.ts";
import type { CallerName, NamedTask } from "../../ports/index.ts";

/** The number of each kind of name on disk. An alias names a task, not a call, and is a column of the task's row. */
export const NAME_KINDS: Readonly<Record<CallerName["kind"], number>> = { alias: 0, key: 1, message: 2 };

/** A name that a caller gave, with the event that has it. */
export type NewName = CallerName & Omit<NamedTask, "taskId">;

export const NO_NAMES: readonly NewName[] = Object.freeze([]);

/** The names in these events; `first` is the sequence number of the first event. */
export function findNames(events: readonly TaskEvent[], first: number): readonly NewName[] {
  let names: NewName[] | undefined;
  for (let i = 0; i < events.length; i++) {
    const event = events[i] as TaskEvent;
    const seq = (first + i) as Seq;
    switch (event.type) {
      case "created":
        if (event.alias !== undefined) (names ??= []).push({ kind: "alias", name: event.alias, seq });
        break;
      case "message":
      case "answered":
      case "incoming":
        if (event.key) (names ??= []).push({ kind: "key", ...event.key, seq });
        if (event.once !== undefined)
          (names ??= []).push({ kind: "message", name: event.message.messageId, digest: event.once, seq });
    }
  }
  return names ?? NO_NAMES;
}
