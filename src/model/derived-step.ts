import type { Step, TaskEvent } from "./event.ts";

/**
 * A step at the place of another one, with another event. Its task is that of the other one, and is folded only if it is read.
 * A class, because V8 makes a hidden class for each object literal that has a getter, and keeps it outside of the young
 * generation until the next full collection, with the getter and all that the getter refers to: here, the whole task.
 */
export class DerivedStep implements Step {
  readonly seq: Step["seq"];
  readonly at: number;
  readonly taskId: Step["taskId"];
  readonly contextId: Step["contextId"];
  readonly event: TaskEvent;
  /** Whether the task was read. */
  taskWasRead = false;
  readonly #original: Step;

  constructor(original: Step, event: TaskEvent) {
    this.seq = original.seq;
    this.at = original.at;
    this.taskId = original.taskId;
    this.contextId = original.contextId;
    this.event = event;
    this.#original = original;
  }

  get task(): Step["task"] {
    this.taskWasRead = true;
    return this.#original.task;
  }
}
