import { type TaskEvent, textAppendTarget } from "../../model/index.ts";
import type { AppendCondition, Run } from "../../ports/index.ts";
import type { AppendRequest } from "./write-set.ts";

/** Appends in one batch. */
const BATCH_MAX = 1_000;

interface WaitingText {
  readonly added: TaskEvent[];
  readonly promise: Promise<void>;
}

/** Events that are not refused one without the other: they need no promise each. */
const isText = (events: readonly TaskEvent[]): boolean =>
  events.every(event => textAppendTarget(event) !== null);

/** The context of a task that this append creates: its tasks are recorded in order. */
const contextOfNewTask = ({ events: [first] }: AppendRequest): string | undefined =>
  first?.type === "created" ? first.contextId : undefined;

/**
 * Appends that wait to be written. Several batches may be taken before the first one is written: no two of them have appends
 * to the same task, or new tasks of the same context, so that the order of these stays.
 */
export class AppendQueue {
  #waiting: AppendRequest[] = [];
  /** The newest append of each run, if it waits and has only text. */
  readonly #texts = new Map<Run, WaitingText | undefined>();
  /** Tasks, and contexts of new tasks, in batches that were taken and not released. */
  readonly #taken = new Set<string>();

  get size(): number {
    return this.#waiting.length;
  }

  /** Text after text of a run that waits to be written: a stream of it is one append, and one promise. */
  joinText(events: readonly TaskEvent[], condition: AppendCondition): Promise<void> | undefined {
    const last = "run" in condition ? this.#texts.get(condition.run) : undefined;
    if (!last || !isText(events)) return undefined;
    last.added.push(...events);
    return last.promise;
  }

  /** `added`: the events of the request, to which text may be joined. */
  push(request: AppendRequest, added: TaskEvent[], promise: Promise<void>): void {
    const { condition } = request;
    this.#waiting.push(request);
    if ("run" in condition) this.#texts.set(condition.run, isText(added) ? { added, promise } : undefined);
  }

  /** Puts appends of a taken batch before all that wait. */
  putBack(requests: readonly AppendRequest[]): void {
    this.#waiting = [...requests, ...this.#waiting];
  }

  /** The next batch; an empty one if fewer than `min` appends can be written now. */
  take(min: number): readonly AppendRequest[] {
    if (this.#waiting.length < min) return [];
    const [batch, rest] = this.#taken.size === 0 ? this.#splitAll() : this.#splitFree();
    if (batch.length < min) return [];
    this.#waiting = rest;
    for (const request of batch) {
      this.#taken.add(request.taskId);
      const context = contextOfNewTask(request);
      if (context !== undefined) this.#taken.add(context);
      if ("run" in request.condition) this.#texts.delete(request.condition.run);
    }
    return batch;
  }

  /** The batch has been written, or refused. */
  release(batch: readonly AppendRequest[]): void {
    for (const request of batch) {
      this.#taken.delete(request.taskId);
      const context = contextOfNewTask(request);
      if (context !== undefined) this.#taken.delete(context);
    }
  }

  #splitAll(): [AppendRequest[], AppendRequest[]] {
    return [this.#waiting.slice(0, BATCH_MAX), this.#waiting.slice(BATCH_MAX)];
  }

  /** The appends that can be written before those of the other batches. */
  #splitFree(): [AppendRequest[], AppendRequest[]] {
    const [batch, rest]: [AppendRequest[], AppendRequest[]] = [[], []];
    /** Tasks whose earlier appends stay in the queue. */
    const waiting = new Set<string>();
    for (const request of this.#waiting) {
      const { taskId } = request;
      const context = contextOfNewTask(request);
      const isFree =
        batch.length < BATCH_MAX &&
        !this.#taken.has(taskId) &&
        !waiting.has(taskId) &&
        (context === undefined || !this.#taken.has(context));
      if (isFree) batch.push(request);
      else {
        rest.push(request);
        waiting.add(taskId);
      }
    }
    return [batch, rest];
  }
}
