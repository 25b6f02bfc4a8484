import type { Scope, Seq, Step, Task, TaskId } from "../../model/index.ts";
import type { HotStep } from "../kernel/log-step.ts";
import type { NewName, Unfinished } from "./backend.ts";

/** One task in memory: how it stands, and the hot end of its log. */
export interface Entry {
  readonly taskId: TaskId;
  readonly scope: Scope;
  /** After the newest event, committed or not, but for artifacts that are not yet folded in; null: nothing is recorded. */
  task: Task | null;
  /** The newest step; null: it is not in memory, and `task` is whole. */
  last: HotStep | null;
  /** The newest event. */
  seq: number;
  /** The newest event that is committed: nothing later is shown to anyone. */
  committed: number;
  /** How far it was when it was last looked at whether it has fallen silent, and how often it was so since then. */
  heard: number;
  looks: number;
  /** The task after that event: how callers see it. */
  visible: Task | null;
  /** The newest events, without gaps, up to `seq`; all that are not committed are among them. */
  steps: Step[];
  /** Its place in the queue, made once. */
  item: Unfinished | null;
  /** How far the journal's snapshot reaches. */
  snapshotSeq: number;
  /** Events up to this one are no longer kept. */
  since: number;
  /** The revision of its latest change of status, if that is not committed yet. */
  rev: number | null;
  /** The revision at which its latest turn arrived, if that is not committed yet. */
  arrived: number | null;
  /** Names that callers gave, not committed yet. */
  names: readonly NewName[];
  /** Whether the entry is part of the batch under way. */
  dirty: boolean;
  /** Nothing more is going on with it for now. */
  rests: boolean;
  /** Somebody asked for it beside those who read along: he may ask again. */
  wanted: boolean;
  /** At most so many characters wait for their commit, as JSON. */
  unwrittenChars: number;
  /** Roughly what the hot end weighs. */
  bytes: number;
}

export const NO_NAMES: readonly NewName[] = Object.freeze([]);

export function createEntry(taskId: TaskId, scope: Scope): Entry {
  return {
    taskId,
    scope,
    task: null,
    last: null,
    seq: 0,
    committed: 0,
    heard: 0,
    looks: 0,
    visible: null,
    steps: [],
    item: null,
    snapshotSeq: 0,
    since: 0,
    rev: null,
    arrived: null,
    names: NO_NAMES,
    dirty: false,
    rests: false,
    wanted: false,
    bytes: 0,
    unwrittenChars: 0,
  };
}

/** The seq before the first step in memory. */
export const hotStart = (entry: Entry): number => entry.seq - entry.steps.length;

/** Committed steps after a place, or null if the hot end begins later than that. */
export function readHot(entry: Entry, after: Seq, max: number): readonly Step[] | null {
  if (after >= entry.committed) return [];
  const from = after - hotStart(entry);
  if (from < 0) return null;
  const to = Math.min(entry.committed - hotStart(entry), from + fewer(max, entry.bytes, entry.steps.length));
  return entry.steps.slice(from, to);
}

/** Steps that are handed on at once weigh no more than this, roughly, unless one alone does. */
const HAND_BYTES = 512 * 1024;

/** At most so many of `length` steps that weigh `bytes`. */
export function fewer(max: number, bytes: number, length: number): number {
  return bytes <= HAND_BYTES ? max : Math.min(max, Math.max(1, Math.floor((HAND_BYTES * length) / bytes)));
}

/** Lets go of the older half of a hot end that is long or heavy; slower readers go to the journal. */
export function trim(entry: Entry, eventsMax: number, bytesMax: number): boolean {
  const { length } = entry.steps;
  if (length <= eventsMax && (entry.bytes <= bytesMax || length <= 1)) return false;
  entry.steps = entry.steps.slice(-Math.max(length >> 1, 1));
  return true;
}

export const belongsTo = (entry: { readonly scope: Scope }, scope: Scope): boolean =>
  entry.scope === scope || (entry.scope.tenant === scope.tenant && entry.scope.principal === scope.principal);
