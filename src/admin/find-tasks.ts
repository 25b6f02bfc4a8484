/** Pages of tasks, from scans of the store. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type TaskId, taskNotFound, timeKey } from "../model/index.ts";
import {
  matchesOwner,
  type OwnedTask,
  type Store,
  type TaskOverview,
  type TaskScan,
} from "../ports/index.ts";
import type { AdminCaller } from "./access.ts";
import type { TaskFilter } from "./parameters.ts";
import { containsText } from "./task-row.ts";

export interface FoundPage {
  readonly tasks: readonly OwnedTask[];
  /** undefined: at the end. */
  readonly next: TaskId | undefined;
}

/** Scans of one request, each with a bounded number of rows, and other work in between. */
const SCANS_MAX = 10;
/** Tasks that one request reads to look into them. */
const READS_MAX = 1_000;
const READS_AT_ONCE = 100;

/** Those of the tasks that are on the page, in their order; the store has already applied what it can. */
export type PickTasks = (tasks: readonly OwnedTask[]) => readonly OwnedTask[] | Promise<readonly OwnedTask[]>;

export async function findTasks(
  overview: TaskOverview,
  scan: Omit<TaskScan, "max" | "after">,
  page: { readonly size: number; readonly after: TaskId | undefined },
  pick: PickTasks | undefined,
): Promise<FoundPage> {
  const tasks: OwnedTask[] = [];
  let after = page.after;
  let reads = 0;
  for (let scans = 0; scans < SCANS_MAX; scans++) {
    if (scans > 0) await nextTurn();
    const max = pick ? READS_AT_ONCE : page.size - tasks.length;
    const found = await overview.scan({ ...scan, max, ...(after !== undefined && { after }) });
    for (let ids = found.tasks.map(one => one.taskId); ids.length > 0; ) {
      const read = await overview.read(ids);
      reads += read.used;
      for (const one of pick ? await pick(read.tasks) : read.tasks) {
        tasks.push(one);
        if (tasks.length === page.size) return { tasks, next: one.task.id };
      }
      after = ids[read.used - 1];
      ids = ids.slice(read.used);
      // The bytes of a page are used up, or so many tasks were read.
      if (ids.length > 0 && (!pick || reads >= READS_MAX)) return { tasks, next: after };
    }
    after = found.next;
    if (after === undefined || tasks.length === page.size || reads >= READS_MAX) break;
  }
  return { tasks, next: after };
}

export const toScan = (filter: TaskFilter): Omit<TaskScan, "max" | "after"> => ({
  owners: filter.owners,
  withHidden: filter.replies,
  order: "newest",
  ...(filter.states && { states: filter.states }),
  ...(filter.contextId !== undefined && { contextId: filter.contextId }),
  ...(filter.from !== undefined && { from: filter.from }),
  ...(filter.to !== undefined && { to: filter.to }),
});

export const toPick = (isWanted: ((one: OwnedTask) => boolean) | undefined): PickTasks | undefined =>
  isWanted && (tasks => tasks.filter(isWanted));

/** The part of a filter for which the task itself must be read; undefined: none. */
export function toTaskTest({ text, crashed }: TaskFilter): ((one: OwnedTask) => boolean) | undefined {
  if (text === undefined && !crashed) return undefined;
  return ({ task }) => (!crashed || isCrashed(task)) && (text === undefined || containsText(task, text));
}

/** Every turn has one run unless a run was interrupted. */
const isCrashed = ({ attempt, turn, crashes }: OwnedTask["task"]): boolean => crashes > 0 || attempt > turn;

/** A task of another caller and a task that does not exist look the same. */
export async function findTask(store: Store, taskId: TaskId, { owners }: AdminCaller): Promise<OwnedTask> {
  const [owned] = timeKey(taskId) === null ? [] : (await store.overview.read([taskId])).tasks;
  if (!owned || !matchesOwner(owners, owned.scope, owned.task.agent)) throw taskNotFound(taskId);
  return owned;
}
