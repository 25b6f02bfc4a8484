import { hostOf, type TaskId } from "../../model/index.ts";
import type { PushSubscription } from "../../ports/index.ts";
import { plannedMs } from "../kernel/planned-delay.ts";
import type { PushChange, PushJournal, PushPlace, WaitingPush } from "../single-node/backend.ts";

/** Push configs in memory. `seqOf`: the newest event of a task; undefined: there is no such task. */
export function createPushTable(seqOf: (taskId: TaskId) => number | undefined) {
  const tasks = new Map<TaskId, Map<string, PushSubscription>>();

  const live = (): readonly PushSubscription[] =>
    [...tasks.values()].flatMap(one => [...one.values()]).filter(one => one.state === "live");

  const journal: PushJournal = {
    of: taskId => [...(tasks.get(taskId)?.values() ?? [])],
    idle: () =>
      live()
        .filter(one => one.nextAt === undefined)
        .map(one => ({ ...toPlace(one), behind: one.cursor < (seqOf(one.taskId) ?? 0) })),
    waiting: max =>
      live()
        .flatMap(one => (one.nextAt === undefined ? [] : toWaiting(one, one.nextAt)))
        .sort((a, b) => a.nextAt - b.nextAt)
        .slice(0, max),
  };

  return {
    journal,
    keep({ taskId, id, delivery }: PushChange): void {
      const others = tasks.get(taskId) ?? new Map<string, PushSubscription>();
      if (!delivery) others.delete(id);
      else if (seqOf(taskId) !== undefined) tasks.set(taskId, others.set(id, delivery));
    },
    clear: (taskId: TaskId): void => void tasks.delete(taskId),
  };
}

const toWaiting = (one: PushSubscription, nextAt: number): WaitingPush => ({
  ...toPlace(one),
  nextAt,
  plannedMs: plannedMs(one.attempts.at(-1)),
});

const toPlace = ({ taskId, config, cursor: place }: PushSubscription): PushPlace => ({
  taskId,
  id: config.id,
  host: hostOf(config),
  place,
});
