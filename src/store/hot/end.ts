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
  textIn,
  wordsOf,
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
  /** At most so many characters wait for their commit, as JSON. */
  unwrittenChars: number;
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

/** Puts the events at the hot end of a log; if the lifecycle refuses one, or one has no JSON, none of them. */
export function extend(entry: LogEnd, events: readonly TaskEvent[], at: number): void {
  const { task, last, seq, unwrittenChars } = entry;
  try {
    for (const event of events) {
      if (!accepts(entry.task, event)) throw refused(entry.taskId, entry.task, event);
      extendByOne(entry, event, at);
    }
  } catch (error) {
    entry.steps.length -= entry.seq - seq;
    Object.assign(entry, { task, last, seq, unwrittenChars });
    throw error;
  }
}

function extendByOne(entry: LogEnd, event: TaskEvent, at: number): void {
  const seq = (entry.seq + 1) as Seq;
  // Artifacts move nothing that a writer is checked against: they are folded when somebody looks, or at the commit.
  const lazy = event.type === "artifact";
  if (!lazy) entry.task = apply(entry.last?.task ?? entry.task, { seq, at, event });
  const step = new HotStep(seq, at, event, entry.last ?? entry.task, lazy ? null : entry.task);
  entry.unwrittenChars += prepare(step);
  if (entry.unwrittenChars > LIMITS.rowCharsMax)
    throw new Fault("too-large", "Too much is said to this task at once", { taskId: entry.taskId });
  entry.last = step;
  entry.steps.push(step);
  entry.seq = seq;
}

/** Its time, brackets and commas. */
const FRAME_CHARS = 32;

/** A character of a text becomes six in JSON at most, as in \u0000. */
const ESCAPED_CHARS = 6;

/** The longest JSON of an event without anything that callers or agents said, but for the ids of a new task. */
const SHORT_CHARS = 128;
const CREATED_CHARS = SHORT_CHARS + 4 * ESCAPED_CHARS * LIMITS.idCharsMax;

/** At most how long the JSON of a short event is; undefined: it is no short event. */
function shortChars(event: TaskEvent): number | undefined {
  switch (event.type) {
    case "started":
    case "released":
    case "shown":
      return SHORT_CHARS;
    case "created":
      return event.metadata ? undefined : CREATED_CHARS;
    case "status":
      return event.message || event.metadata || event.auth || event.error || event.asks
        ? undefined
        : SHORT_CHARS;
    default:
      return undefined;
  }
}

/**
 * Makes the JSON of an event, so that one that has none fails alone and not the commit of many tasks. Text always has JSON:
 * that of short events and of streamed text is made at the commit, which is cheaper. Returns how long it is at most.
 */
function prepare(step: HotStep): number {
  const { event, taskId } = step;
  const short = shortChars(event);
  if (short !== undefined) return short;
  const artifactId = wordsOf(event);
  if (artifactId !== null) return ESCAPED_CHARS * (textIn(event).length + artifactId.length) + FRAME_CHARS;
  try {
    step.json = JSON.stringify(event);
  } catch (cause) {
    throw new Fault("internal", "This event cannot be recorded", { taskId }, cause);
  }
  return step.json.length + FRAME_CHARS;
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

/**
 * The folded task as text. Its events are recorded anyway: where the text cannot be made, for example because it would be
 * longer than any string, the commit goes on without it.
 */
export function snapshotText(task: Task): string | null {
  try {
    return JSON.stringify(task);
  } catch {
    return null;
  }
}

function refused(taskId: TaskId, task: Task | null, event: TaskEvent): Fault {
  const state = task?.status.state ?? "not there";
  return new Fault("conflict", `A task that is ${state} takes no ${event.type}`, { taskId });
}
