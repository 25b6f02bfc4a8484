/** What is done at the end of a log, in every store. */
import {
  accepts,
  apply,
  Fault,
  isTerminal,
  LIMITS,
  type Part,
  type Seq,
  type Step,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import { HotStep } from "./log-step.ts";

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

/** A character of a text becomes six in JSON at most, as in \u0000. */
const ESCAPED_CHARS = 6;
/** Names, brackets, numbers and words of our own in the JSON of an event or a part, and the time of the event. */
const FRAME_CHARS = 160;
/** The ids in an event: each has at most `idCharsMax` characters. */
const IDS_CHARS = 4 * ESCAPED_CHARS * LIMITS.idCharsMax;

/**
 * At most how long the JSON of an event is that consists of ids and plain text, as most do: it has JSON in any case.
 * undefined: there is more in it.
 */
function plainChars(event: TaskEvent): number | undefined {
  switch (event.type) {
    case "started":
    case "released":
    case "shown":
      return FRAME_CHARS;
    case "created":
      return event.metadata ? undefined : FRAME_CHARS + IDS_CHARS;
    case "status":
      return event.message || event.metadata || event.auth || event.error || event.asks
        ? undefined
        : FRAME_CHARS;
    case "message": {
      const { metadata, extensions, referenceTaskIds, parts } = event.message;
      if (event.answers || event.key || event.trace || event.accepts || event.thread) return undefined;
      return metadata || extensions || referenceTaskIds ? undefined : textChars(parts, IDS_CHARS);
    }
    case "artifact": {
      const { artifactId, name, description, metadata, extensions, parts } = event.artifact;
      if (event.metadata || name || description || metadata || extensions) return undefined;
      return textChars(parts, ESCAPED_CHARS * artifactId.length);
    }
    default:
      return undefined;
  }
}

/** `more`: what comes to the parts. */
function textChars(parts: readonly Part[], more: number): number | undefined {
  let chars = FRAME_CHARS + more;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as Part;
    if (part.kind !== "text" || part.metadata || part.filename || part.mediaType) return undefined;
    chars += FRAME_CHARS + ESCAPED_CHARS * part.text.length;
  }
  return chars;
}

/**
 * Makes the JSON of an event, so that one that has none fails alone and not the commit of many tasks. Plain text always has
 * JSON: that is made at the commit, which is cheaper. Returns how long it is at most.
 */
function prepare(step: HotStep): number {
  const { event, taskId } = step;
  const plain = plainChars(event);
  if (plain !== undefined) return plain;
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
