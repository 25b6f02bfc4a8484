/** Whether what is kept of a task is what its log says. */
import { isDeepStrictEqual } from "node:util";
import { accepts, apply, isHidden, nameOf, type RecordedEvent, type Task } from "../../model/index.ts";
import { namesIn } from "../single-node/names.ts";
import { KINDS } from "./name-kinds.ts";
import { STATES } from "./state-numbers.ts";
import { unpack } from "./unpack.ts";

export interface ExaminedTask {
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
export interface ExaminedSegment {
  readonly last: number | null;
  readonly events: string;
}
export interface ExaminedName {
  readonly owner: number;
  readonly kind: number;
  readonly name: string;
  readonly seq: number;
  readonly digest: string | null;
}

export type Find = (finding: string) => void;

/** Looks at the log from the first event on, and at all that was derived from it. How many events it has. */
export function examineTask(
  row: ExaminedTask,
  segments: readonly ExaminedSegment[],
  names: readonly ExaminedName[],
  find: Find,
): number {
  const tell: Find = finding => find(`task ${row.id}: ${finding}`);
  try {
    const log = readLog(row, segments, tell);
    checkRow(row, log.task, tell);
    checkNames(row, names, log.events, tell);
    return log.events.length;
  } catch (error) {
    tell(`it cannot be read (${(error as Error).message})`);
    return 0;
  }
}

interface ReadLog {
  /** All that are kept. */
  readonly events: readonly RecordedEvent[];
  readonly task: Task | null;
}

function readLog(row: ExaminedTask, rows: readonly ExaminedSegment[], tell: Find): ReadLog {
  const events = rows.flatMap(one => unpack(one.events, one.last));
  const isCompacted = row.since > 0;
  checkSequence(events, isCompacted ? row.since : 0, tell);
  const snapshot = row.snapshot === null ? null : (JSON.parse(row.snapshot) as Task);
  if (isCompacted) {
    if (!snapshot) tell("its events are gone, and there is no snapshot");
    return {
      events,
      task: fold(
        snapshot,
        events.filter(one => one.seq > row.snapshot_seq),
        tell,
      ),
    };
  }
  const before = fold(
    null,
    events.filter(one => one.seq <= row.snapshot_seq),
    tell,
  );
  if (snapshot && !isDeepStrictEqual(toPlain(before), snapshot))
    tell(`its snapshot at event ${row.snapshot_seq} is not what its events say`);
  return {
    events,
    task: fold(
      before,
      events.filter(one => one.seq > row.snapshot_seq),
      tell,
    ),
  };
}

/** As it would be read back. */
const toPlain = (task: Task | null): unknown => JSON.parse(JSON.stringify(task));

function checkSequence(events: readonly RecordedEvent[], after: number, tell: Find): void {
  let last = after;
  for (const { seq } of events) {
    if (seq !== last + 1) tell(`event ${seq} follows event ${last}`);
    last = seq;
  }
}

function fold(base: Task | null, events: readonly RecordedEvent[], tell: Find): Task | null {
  let task = base;
  for (const recorded of events) {
    if (!accepts(task, recorded.event))
      tell(`event ${recorded.seq} (${nameOf(recorded.event)}) cannot follow: the task is ${stateOf(task)}`);
    task = apply(task, recorded);
  }
  return task;
}

const stateOf = (task: Task | null): string => task?.status.state ?? "not there";

/** What lists and starts look at must be what the log says. */
function checkRow(row: ExaminedTask, task: Task | null, tell: Find): void {
  if (!task) return tell("it has no events");
  const said = [task.id, task.agent, task.contextId, task.status.state, task.status.at, isHidden(task)];
  const kept = [row.id, row.agent, row.context_id, STATES[row.state], row.status_at, row.hidden];
  FACTS.forEach((fact, i) => {
    if (said[i] !== kept[i]) tell(`${fact} is ${kept[i]}, but its events say ${said[i]}`);
  });
}

const FACTS = [
  "its id",
  "its agent",
  "its context",
  "its state",
  "the time of its status",
  "hidden",
] as const;

/** Names and the events that brought them, both ways; events that are gone tell nothing. */
function checkNames(
  row: ExaminedTask,
  kept: readonly ExaminedName[],
  events: readonly RecordedEvent[],
  tell: Find,
): void {
  const said = new Map(
    events
      .flatMap(({ seq, event }) => namesIn([event], seq))
      .map(one => [textOf(KINDS[one.kind], one.name, one.seq, one.digest ?? null), one]),
  );
  for (const { owner, kind, name, seq, digest } of kept) {
    const isSaid = said.delete(textOf(kind, name, seq, digest));
    if (!isSaid && seq > row.since) tell(`the name ${JSON.stringify(name)} is not in event ${seq}`);
    if (owner !== row.owner) tell(`the name ${JSON.stringify(name)} belongs to somebody else`);
  }
  for (const { name, seq } of said.values())
    tell(`the name ${JSON.stringify(name)} of event ${seq} is not kept`);
}

const textOf = (
  ...facts: readonly [kind: number, name: string, seq: number, digest: string | null]
): string => JSON.stringify(facts);
