import {
  Fault,
  isHidden,
  isSettled,
  type Scope,
  type Step,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import type { Expected, NewPushSubscription, Run } from "../../ports/index.ts";
import {
  checkRoom,
  extend,
  hasArrived,
  type LogEnd,
  snapshotText,
  wantsSnapshot,
} from "../kernel/log-end.ts";
import type { HotStep } from "../kernel/log-step.ts";
import { pack } from "../kernel/pack.ts";
import type { NewName } from "../single-node/backend.ts";
import { namesIn } from "../single-node/names.ts";
import type { Known } from "./task-cache.ts";

/** An append that waits to be written. */
export interface Request {
  readonly scope: Scope;
  readonly taskId: TaskId;
  readonly events: readonly TaskEvent[];
  readonly expected: Expected;
  readonly push: NewPushSubscription | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** How often others were quicker. */
  tries: number;
}

/** It must find its context free. */
export const isWary = ({ expected }: Request): boolean => "free" in expected && expected.free === true;

/** What one commit adds to one task. */
export interface Draft {
  readonly scope: Scope;
  readonly taskId: TaskId;
  /** null: it is new. */
  readonly known: Known | null;
  readonly end: LogEnd;
  readonly requests: Request[];
  readonly names: NewName[];
  /** Configs that come with it, and where the log ended before the events that they came with. */
  readonly pushes: { readonly push: NewPushSubscription; readonly after: number }[];
  /** The status moved in it. */
  moved: boolean;
  /** A turn arrived in it. */
  arrived: boolean;
}

/** The task as it will stand. */
export const taskOf = (draft: Draft): Task => (draft.end.last?.task ?? draft.end.task) as Task;

/** Why an append cannot be made, as far as is known. */
export interface Refused {
  readonly request: Request;
  readonly fault: unknown;
}

/**
 * Puts what is asked for behind what is known; what does not fit there is refused, and the rest goes on without it, but for
 * what the same run said later. `fenced`: runs of which an append was refused before.
 */
export function toDraft(
  requests: readonly Request[],
  known: Known | null,
  at: number,
  fenced: WeakSet<Run>,
): { readonly draft: Draft; readonly refused: readonly Refused[] } {
  const { scope, taskId } = requests[0] as Request;
  const end: LogEnd = {
    taskId,
    task: known?.task ?? null,
    last: known?.steps.at(-1) ?? null,
    seq: known?.seq ?? 0,
    steps: [],
    unwrittenChars: 0,
  };
  const draft: Draft = {
    scope,
    taskId,
    known,
    end,
    requests: [],
    names: [],
    pushes: [],
    moved: false,
    arrived: false,
  };
  const refused: Refused[] = [];
  for (const request of requests) {
    try {
      if (isFenced(request.expected, fenced, refused)) throw movedOn(taskId);
      add(draft, request, at);
    } catch (fault) {
      refused.push({ request, fault });
    }
  }
  return { draft, refused };
}

function isFenced(expected: Expected, fenced: WeakSet<Run>, refused: readonly Refused[]): boolean {
  if (!("run" in expected) || expected.afterRefusal) return false;
  const { run } = expected;
  return (
    fenced.has(run) ||
    refused.some(({ request }) => "run" in request.expected && request.expected.run === run)
  );
}

function add(draft: Draft, request: Request, at: number): void {
  const { end } = draft;
  const before = end.task;
  check(end, request.expected);
  checkRoom(end.seq, request.events);
  const names = namesIn(request.events, end.seq + 1);
  // Time does not go back within a log, whichever node writes it.
  extend(end, request.events, Math.max(at, lastAt(draft)));
  draft.names.push(...names);
  if (request.push) draft.pushes.push({ push: request.push, after: end.seq - request.events.length });
  draft.requests.push(request);
  if (before?.status !== end.task?.status) {
    draft.moved = true;
    draft.arrived ||= hasArrived(before, end.task);
  }
}

const lastAt = ({ end }: Draft): number => end.last?.at ?? end.task?.status.at ?? 0;

function check(end: LogEnd, expected: Expected): void {
  const holds =
    "run" in expected
      ? end.task?.attempt === expected.run.attempt && end.task.status.state === "working"
      : "after" in expected
        ? expected.after === end.seq
        : expected.state === end.task?.status.state;
  if (!holds) throw movedOn(end.taskId);
}

export const movedOn = (taskId: TaskId): Fault => new Fault("conflict", "The task has moved on", { taskId });

/** A draft as it is written down. */
export interface Sheet {
  readonly draft: Draft;
  readonly owner: number;
  readonly task: Task;
  readonly steps: readonly HotStep[];
  readonly events: string;
  /** Its place in lists changes. */
  readonly moved: boolean;
  readonly snapshot: string | null;
  /** Nobody holds its run any longer: it settled, or was given back. */
  readonly freed: boolean;
}

export function toSheet(draft: Draft, owner: number): Sheet {
  const task = taskOf(draft);
  const { known, end } = draft;
  const steps = end.steps as readonly Step[] as readonly HotStep[];
  // To come into the lists, or to leave them, is a move as well.
  const moved = draft.moved || (known !== null && isHidden(known.task) !== isHidden(task));
  const snapshotSeq = known?.snapshotSeq ?? 0;
  return {
    draft,
    owner,
    task,
    steps,
    events: pack(steps),
    moved,
    snapshot: moved && wantsSnapshot({ seq: end.seq, snapshotSeq }, task) ? snapshotText(task) : null,
    freed: draft.moved && (isSettled(task.status.state) || task.status.state === "submitted"),
  };
}
