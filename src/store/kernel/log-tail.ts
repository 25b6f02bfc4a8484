/** Appending to the tail of a log: the same rules in every store. */
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
import { LogStep } from "./log-step.ts";

/** The newest events of a log in memory, and the task after them. */
export interface LogTail {
  readonly taskId: TaskId;
  /** The task after the newest event, except for artifacts, which are applied later; null: the log is empty. */
  task: Task | null;
  /** The newest step; null: it is not in memory, and `task` is complete. */
  last: LogStep | null;
  /** The sequence number of the newest event, committed or not. */
  seq: number;
  /** The newest events without gaps, up to `seq`. Uncommitted events are always among them. */
  steps: Step[];
  /** Upper bound of the JSON characters that are not committed yet. */
  unwrittenChars: number;
}

/** Steps that are returned at once have about this many bytes at most, unless a single step has more. */
const READ_BYTES = 512 * 1024;

/** `max`, or fewer if `length` steps of together `bytes` bytes are too large to be returned at once. */
export function limitByBytes(max: number, bytes: number, length: number): number {
  return bytes <= READ_BYTES ? max : Math.min(max, Math.max(1, Math.floor((READ_BYTES * length) / bytes)));
}

/** Events that a full log rejects. Final states, cancellation and starts are always accepted. */
const isRejectedWhenFull = (event: TaskEvent): boolean =>
  event.type === "artifact" ||
  event.type === "usage" ||
  event.type === "noted" ||
  event.type === "chunk" ||
  event.type === "incoming" ||
  (event.type === "status" && event.state === "working");

export function checkEventLimit(seq: number, events: readonly TaskEvent[]): void {
  if (seq + events.length > LIMITS.eventsMax && events.some(isRejectedWhenFull))
    throw new Fault("too-large", `A task has at most ${LIMITS.eventsMax} events`);
}

/** Whether a new turn begins, which goes to the end of its queue. A run that a worker gave back keeps its place. */
export const isNewTurn = (before: Task | null, task: Task | null): boolean =>
  before?.turn !== task?.turn || (task?.status.state === "submitted" && before?.status.state !== "working");

/** Appends all events, or none if the lifecycle rejects one or if one cannot be encoded as JSON. */
export function appendToTail(tail: LogTail, events: readonly TaskEvent[], at: number): void {
  const { task, last, seq, unwrittenChars } = tail;
  try {
    for (const event of events) {
      if (!accepts(tail.task, event)) {
        const state = tail.task?.status.state ?? "not created";
        throw new Fault("conflict", `A task that is ${state} does not accept the event "${event.type}"`, {
          taskId: tail.taskId,
        });
      }
      appendEvent(tail, event, at);
    }
  } catch (error) {
    tail.steps.length -= tail.seq - seq;
    Object.assign(tail, { task, last, seq, unwrittenChars });
    throw error;
  }
}

function appendEvent(tail: LogTail, event: TaskEvent, at: number): void {
  const seq = (tail.seq + 1) as Seq;
  // No precondition of an append depends on artifacts: they are applied on the first read, or at the commit.
  const lazy = event.type === "artifact";
  if (!lazy) tail.task = apply(tail.last?.task ?? tail.task, { seq, at, event });
  const step = new LogStep(seq, at, event, tail.last ?? tail.task, lazy ? null : tail.task);
  tail.unwrittenChars += encodeStep(step);
  if (tail.unwrittenChars > LIMITS.rowCharsMax)
    throw new Fault("too-large", "Too much data is appended to this task at once", { taskId: tail.taskId });
  tail.last = step;
  tail.steps.push(step);
  tail.seq = seq;
}

/**
 * Encodes the event now, so that an event without JSON fails alone and not with the commit of many tasks. Plain text always
 * has JSON: the commit encodes it, which is cheaper. Returns the maximum length of the JSON.
 */
function encodeStep(step: LogStep): number {
  const { event, taskId } = step;
  const plain = plainTextChars(event);
  if (plain !== undefined) return plain;
  try {
    step.json = JSON.stringify(event);
  } catch (cause) {
    throw new Fault("internal", "The event cannot be encoded as JSON", { taskId }, cause);
  }
  return step.json.length + FRAME_CHARS;
}

/** A character of a text has at most six characters in JSON, as in \u0000. */
const ESCAPED_CHARS = 6;
/** Member names, brackets, numbers and constants in the JSON of an event or a part, and the time of the event. */
const FRAME_CHARS = 160;
/** The ids in an event: each has at most `idCharsMax` characters. */
const IDS_CHARS = 4 * ESCAPED_CHARS * LIMITS.idCharsMax;

/** The maximum JSON length of an event of ids and plain text, which most events are; undefined: the event has other members. */
function plainTextChars(event: TaskEvent): number | undefined {
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
      return metadata || extensions || referenceTaskIds ? undefined : partsChars(parts, IDS_CHARS);
    }
    case "artifact": {
      const { artifactId, name, description, metadata, extensions, parts } = event.artifact;
      if (event.metadata || name || description || metadata || extensions) return undefined;
      return partsChars(parts, ESCAPED_CHARS * artifactId.length);
    }
    default:
      return undefined;
  }
}

/** `others`: the characters of the members beside the parts. */
function partsChars(parts: readonly Part[], others: number): number | undefined {
  let chars = FRAME_CHARS + others;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as Part;
    if (part.kind !== "text" || part.metadata || part.filename || part.mediaType) return undefined;
    chars += FRAME_CHARS + ESCAPED_CHARS * part.text.length;
  }
  return chars;
}

/** Applying this many events takes about as long as reading the task from a snapshot. */
const LONG_LOG_EVENTS = 1_000;

/**
 * A long log gets a snapshot at its end and whenever it has doubled, so that all snapshots together cost no more than the
 * log. For a short log, applying the events costs less than writing the task a second time.
 */
export function needsSnapshot(seq: number, snapshotSeq: number, task: Task): boolean {
  const min = isTerminal(task.status.state) ? LONG_LOG_EVENTS : Math.max(LONG_LOG_EVENTS, snapshotSeq);
  return seq - snapshotSeq >= min;
}

/** null: the task has no JSON, for example because it is longer than the longest string. Its events are stored anyway. */
export function encodeSnapshot(task: Task): string | null {
  try {
    return JSON.stringify(task);
  } catch {
    return null;
  }
}
