import { toJsonLine } from "../lib/json.ts";
import { type TaskEvent, textAppendTarget, textOfEvent } from "./event.ts";
import type { ContextId, Seq, TaskId } from "./ids.ts";
import type { Task } from "./task.ts";

/** One item of a stream: an event and the task after it; `event` is null in a snapshot. */
export interface Step {
  readonly seq: Seq;
  readonly at: number;
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  readonly event: TaskEvent | null;
  /** May be folded lazily, on the first access: most readers need only the event. */
  readonly task: Task;
  /** Encoded forms: all readers of a log share its steps, so each is encoded once per dialect. */
  memo?: unknown;
  /** See `appendedTextJson`; undefined: not computed yet. */
  textJson?: string | null | undefined;
  /** The JSON of the event, from its append to its commit; null: it is made at the commit (see `prepare` in the store). */
  json?: string | null;
}

/** The JSON line of the text that a step appends to an artifact, if it does nothing else, as most do; computed once. */
export function appendedTextJson(step: Step): string | null {
  if (step.textJson !== undefined) return step.textJson;
  const { event } = step;
  step.textJson = event && textAppendTarget(event) !== null ? toJsonLine(textOfEvent(event)) : null;
  return step.textJson;
}

/** The task as it stands, for a reader that joins in the middle. */
export function snapshotOf(task: Task, seq: Seq, at = task.status.at): Step {
  return { seq, at, taskId: task.id, contextId: task.contextId, event: null, task };
}

/**
 * A step at the position of another one, with another event. Its task is that of the other one, and is folded only when read.
 * A class, because V8 makes a hidden class for each object literal that has a getter, and keeps it outside of the young
 * generation until the next full collection, with the getter and everything the getter refers to: here, the whole task.
 */
export class DerivedStep implements Step {
  readonly seq: Step["seq"];
  readonly at: number;
  readonly taskId: Step["taskId"];
  readonly contextId: Step["contextId"];
  readonly event: TaskEvent;
  taskWasRead = false;
  readonly #original: Step;
  readonly #generation: number | undefined;

  /** `generation`: undefined for that of the other step. */
  constructor(original: Step, event: TaskEvent, generation?: number) {
    this.seq = original.seq;
    this.at = original.at;
    this.taskId = original.taskId;
    this.contextId = original.contextId;
    this.event = event;
    this.#original = original;
    this.#generation = generation;
  }

  get task(): Step["task"] {
    this.taskWasRead = true;
    const { task } = this.#original;
    if (this.#generation === undefined || task.generation === undefined) return task;
    return { ...task, generation: this.#generation };
  }
}
