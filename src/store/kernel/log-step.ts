import {
  applyAll,
  type RecordedEvent,
  type Seq,
  type Step,
  type Task,
  type TaskEvent,
} from "../../model/index.ts";

/**
 * A step in the tail of a log. Its task is computed on first access, from the nearest earlier step whose task is known.
 * Each commit computes the task of its last step, which bounds that distance.
 */
export class LogStep implements Step, RecordedEvent {
  readonly seq: Seq;
  readonly at: number;
  readonly taskId: Step["taskId"];
  readonly contextId: Step["contextId"];
  readonly event: TaskEvent;
  memo: unknown = undefined;
  textJson: string | null | undefined = undefined;
  json: string | null = null;
  #task: Task | null;
  #before: LogStep | Task | null;

  /** `before`: the previous step, or the task after it; `task`: the task after this step, if it is already known. */
  constructor(seq: Seq, at: number, event: TaskEvent, before: LogStep | Task | null, task: Task | null) {
    this.seq = seq;
    this.at = at;
    if (event.type === "created") {
      this.taskId = event.id;
      this.contextId = event.contextId;
    } else {
      const ids = before as LogStep | Task;
      this.taskId = ids instanceof LogStep ? ids.taskId : ids.id;
      this.contextId = ids.contextId;
    }
    this.event = event;
    this.#before = task ? null : before;
    this.#task = task;
  }

  get task(): Task {
    return this.#task ?? this.#fold();
  }

  #fold(): Task {
    const events: LogStep[] = [this];
    let before = this.#before;
    while (before instanceof LogStep && !before.#task) {
      events.push(before);
      before = before.#before;
    }
    const base = before instanceof LogStep ? before.#task : before;
    this.#task = applyAll(base, events.reverse()) as Task;
    this.#before = null;
    return this.#task;
  }
}
