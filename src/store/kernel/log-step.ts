import {
  applyAll,
  type RecordedEvent,
  type Seq,
  type Step,
  type Task,
  type TaskEvent,
} from "../../model/index.ts";

/**
 * A step in the hot end of a log. Its task is folded when somebody asks for it, from the nearest step before it whose
 * task is known; the store folds the last step of every commit, so that nobody has far to go.
 */
export class HotStep implements Step, RecordedEvent {
  readonly seq: Seq;
  readonly at: number;
  readonly taskId: Step["taskId"];
  readonly contextId: Step["contextId"];
  readonly event: TaskEvent;
  memo: unknown = undefined;
  words: string | null | undefined = undefined;
  json: string | null = null;
  #task: Task | null;
  #before: HotStep | Task | null;

  /** `before`: what came before it, as a step or folded; `task`: the task after it, if it is known already. */
  constructor(seq: Seq, at: number, event: TaskEvent, before: HotStep | Task | null, task: Task | null) {
    this.seq = seq;
    this.at = at;
    const whose =
      event.type === "created" ? { taskId: event.id, contextId: event.contextId } : whoseOf(before);
    this.taskId = whose.taskId;
    this.contextId = whose.contextId;
    this.event = event;
    this.#before = task ? null : before;
    this.#task = task;
  }

  get task(): Task {
    return this.#task ?? this.#fold();
  }

  #fold(): Task {
    const events: HotStep[] = [this];
    let before = this.#before;
    while (before instanceof HotStep && !before.#task) {
      events.push(before);
      before = before.#before;
    }
    const base = before instanceof HotStep ? before.#task : before;
    this.#task = applyAll(base, events.reverse()) as Task;
    this.#before = null;
    return this.#task;
  }
}

function whoseOf(before: HotStep | Task | null): Pick<Step, "taskId" | "contextId"> {
  if (before instanceof HotStep) return before;
  const task = before as Task;
  return { taskId: task.id, contextId: task.contextId };
}
