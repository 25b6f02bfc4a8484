import type { Seq, TaskId } from "./ids.ts";

/** A name that a caller gave: to a task (its own id of it), to a call or to its message (so that a repeated one is known). */
export interface CallerName {
  readonly kind: "alias" | "key" | "message";
  readonly name: string;
}
export interface NamedTask {
  readonly taskId: TaskId;
  /** The place of the event that has the name. */
  readonly seq: Seq;
  /** What the call said, if it is the name of a call or of a message. */
  readonly digest?: string;
}
