/** What is done at the end of a log, in every store. */
import {
  accepts,
  apply,
  Fault,
  isTerminal,
  LIMITS,
  type Seq,
  type Step,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import { HotStep } from "./step.ts";

/** The end of a log: how the task stands there, and the newest events. */
export interface LogEnd {
  readonly taskId: TaskId;
  /** After the newest event, but for artifacts that are not yet folded in; null: nothing is recorded. */
  task: Task | null;
  /** The newest step; null: it is not in memory, and `task` is whole. */
  last: HotStep | null;
  seq: number;
  readonly steps: Step[];
}

/** What a full log no longer takes; an end, a cancel and a start always have room. */
const isMore = (event: TaskEvent): boolean =>
  event.type === "artifact" ||
  event.type === "usage" ||
  event.type === "noted" ||
  event.type === "incoming" ||
  (event.type === "status" && event.state === "working");

/** A run that was given back keeps its place. */
export const hasArrived = (before: Task | null, task: Task | null): boolean =>
  before?.turn !== task?.turn || (task?.status.state === "submitted" && before?.status.state !== "working");

/** A full log takes no more words; what ends it always has room. */
export function checkRoom(seq: number, events: readonly TaskEvent[]): void {
  if (seq + events.length > LIMITS.eventsMax && events.some(isMore))
    throw new Fault("too-large", `A task has at most ${LIMITS.eventsMax} events`);
}

/** Puts the events at the hot end of a log; if the lifecycle refuses one, none of them. */
export function extend(entry: LogEnd, events: readonly TaskEvent[], at: number): void {
  const { task, last, seq } = entry;
  for (const event of events) {
    if (accepts(entry.task, event)) extendByOne(entry, event, at);
    else {
      const refusal = refused(entry.taskId, entry.task, event);
      entry.steps.length -= entry.seq - seq;
      Object.assign(entry, { task, last, seq });
      throw refusal;
    }
  }
}

function extendByOne(entry: LogEnd, event: TaskEvent, at: number): void {
  const seq = (entry.seq + 1) as Seq;
  // Artifacts move nothing that a writer is checked against: they are folded when somebody looks, or at the commit.
  const lazy = event.type === "artifact";
  if (!lazy) entry.task = apply(entry.last?.task ?? entry.task, { seq, at, event });
  entry.last = new HotStep(seq, at, event, entry.last ?? entry.task, lazy ? null : entry.task);
  entry.steps.push(entry.last);
  entry.seq = seq;
}

/** From here on a log is long: to fold so many events takes about as long as to read the task from a snapshot. */
const LONG = 1_000;

/**
 * At the end, and for long logs when they have doubled, so that all snapshots together cost no more than the log.
 * A short log needs none: to fold a few events costs less than to write the task twice.
 */
export function wantsSnapshot(
  entry: Pick<LogEnd, "seq"> & { readonly snapshotSeq: number },
  task: Task,
): boolean {
  const since = entry.seq - entry.snapshotSeq;
  return since >= (isTerminal(task.status.state) ? LONG : Math.max(LONG, entry.snapshotSeq));
}

function refused(taskId: TaskId, task: Task | null, event: TaskEvent): Fault {
  const state = task?.status.state ?? "not there";
  return new Fault("conflict", `A task that is ${state} takes no ${event.type}`, { taskId });
}
