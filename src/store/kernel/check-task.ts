/** Checks that the row, the snapshot and the names of a task match its log. */
import { isDeepStrictEqual } from "node:util";
import { accepts, apply, eventName, isHidden, type RecordedEvent, type Task } from "../../model/index.ts";
import { findNames, NAME_KINDS } from "./caller-names.ts";
import { unpackEvents } from "./packed-events.ts";
import { STATES } from "./state-numbers.ts";

export interface CheckedTask {
  readonly id: string;
  readonly owner: number;
  readonly agent: string | null;
  readonly context_id: string;
  readonly state: number;
  readonly status_at: number;
  readonly hidden: boolean;
  readonly snapshot_seq: number;
  readonly snapshot: string | null;
  readonly since: number;
}
export interface CheckedSegment {
  readonly last: number | null;
  readonly events: string;
}
export interface CheckedName {
  readonly owner: number;
  readonly kind: number;
  readonly name: string;
  readonly seq: number;
  readonly digest: string | null;
}

export type ReportFinding = (finding: string) => void;

/** Replays the log from its first event and compares everything derived from it. Returns the number of events. */
export function checkTask(
  row: CheckedTask,
  segments: readonly CheckedSegment[],
  names: readonly CheckedName[],
  report: ReportFinding,
): number {
  const reportTask: ReportFinding = finding => report(`task ${row.id}: ${finding}`);
  try {
    const events = segments.flatMap(one => unpackEvents(one.events, one.last));
    checkSequence(events, row.since, reportTask);
    checkRow(row, replay(row, events, reportTask), reportTask);
    checkNames(row, names, events, reportTask);
    return events.length;
  } catch (error) {
    reportTask(`it cannot be read (${(error as Error).message})`);
    return 0;
  }
}

/** The task after its last event. Of a compacted log, the snapshot is the start; otherwise it must match the events. */
function replay(row: CheckedTask, events: readonly RecordedEvent[], report: ReportFinding): Task | null {
  const snapshot = row.snapshot === null ? null : (JSON.parse(row.snapshot) as Task);
  const rest = events.filter(one => one.seq > row.snapshot_seq);
  if (row.since > 0) {
    if (!snapshot) report("its events are gone, and there is no snapshot");
    return applyChecked(snapshot, rest, report);
  }
  const before = applyChecked(
    null,
    events.filter(one => one.seq <= row.snapshot_seq),
    report,
  );
  if (snapshot && !isSameTask(before, snapshot))
    report(`its snapshot at event ${row.snapshot_seq} does not match its events`);
  return applyChecked(before, rest, report);
}

/** Compared as it would be read back: JSON has no undefined members. A snapshot of an older version has no generation. */
function isSameTask(task: Task | null, snapshot: Task): boolean {
  const generation = snapshot.generation === undefined ? undefined : task?.generation;
  return isDeepStrictEqual(JSON.parse(JSON.stringify({ ...task, generation })), snapshot);
}

function checkSequence(events: readonly RecordedEvent[], after: number, report: ReportFinding): void {
  let last = Math.max(after, 0);
  for (const { seq } of events) {
    if (seq !== last + 1) report(`event ${seq} follows event ${last}`);
    last = seq;
  }
}

function applyChecked(
  base: Task | null,
  events: readonly RecordedEvent[],
  report: ReportFinding,
): Task | null {
  let task = base;
  for (const recorded of events) {
    if (!accepts(task, recorded.event)) {
      const state = task?.status.state ?? "not created";
      report(`event ${recorded.seq} (${eventName(recorded.event)}) cannot follow: the task is ${state}`);
    }
    task = apply(task, recorded);
  }
  return task;
}

const COLUMNS = [
  "its id",
  "its agent",
  "its context",
  "its state",
  "the time of its status",
  "hidden",
] as const;

/** The columns that lists and starts read must match the log. */
function checkRow(row: CheckedTask, task: Task | null, report: ReportFinding): void {
  if (!task) return report("it has no events");
  const expected = [task.id, task.agent, task.contextId, task.status.state, task.status.at, isHidden(task)];
  const stored = [row.id, row.agent, row.context_id, STATES[row.state], row.status_at, row.hidden];
  COLUMNS.forEach((column, i) => {
    if (expected[i] !== stored[i])
      report(`${column} is ${stored[i]}, but its events result in ${expected[i]}`);
  });
}

/** Every name must be in its event and every event's name in the table. Removed events cannot be checked. */
function checkNames(
  row: CheckedTask,
  stored: readonly CheckedName[],
  events: readonly RecordedEvent[],
  report: ReportFinding,
): void {
  const expected = new Map(
    events
      .flatMap(({ seq, event }) => findNames([event], seq))
      .map(one => [JSON.stringify([NAME_KINDS[one.kind], one.name, one.seq, one.digest ?? null]), one]),
  );
  for (const { owner, kind, name, seq, digest } of stored) {
    const isExpected = expected.delete(JSON.stringify([kind, name, seq, digest]));
    if (!isExpected && seq > row.since) report(`the name ${JSON.stringify(name)} is not in event ${seq}`);
    if (owner !== row.owner) report(`the name ${JSON.stringify(name)} belongs to another owner`);
  }
  for (const { name, seq } of expected.values())
    report(`the name ${JSON.stringify(name)} of event ${seq} is missing`);
}
