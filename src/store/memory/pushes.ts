import { type AgentName, hostOf, type TaskId } from "../../model/index.ts";
import { matchesOwner, type PushScan, type PushScanPage, type PushSubscription } from "../../ports/index.ts";
import { type PushBackend, type PushChange, type PushCursor, retryDelayMs } from "../single-node/backend.ts";

/** Push configs in memory. `seqOf`: the newest event of a task; undefined: the task does not exist. */
export function createMemoryPushes(
  seqOf: (taskId: TaskId) => number | undefined,
  agentOf: (taskId: TaskId) => AgentName,
) {
  const byTask = new Map<TaskId, Map<string, PushSubscription>>();
  const all = (): readonly PushSubscription[] => [...byTask.values()].flatMap(one => [...one.values()]);
  const live = (): readonly PushSubscription[] => all().filter(one => one.state === "live");

  function scan({ owners, state, host, after = 0, max }: PushScan): PushScanPage {
    const found = all()
      .map(one => ({ ...one, agent: agentOf(one.taskId) }))
      .filter(one => matchesOwner(owners, one.scope, one.agent))
      .filter(one => host === undefined || hostOf(one.config) === host)
      .filter(
        one =>
          state === undefined || state === one.state || (state === "failing" && one.nextAt !== undefined),
      )
      .reverse();
    const pushes = found.slice(after, after + max);
    const next = after + pushes.length;
    return { pushes, next: next < found.length ? next : undefined };
  }

  const backend: PushBackend = {
    scan,
    of: taskId => [...(byTask.get(taskId)?.values() ?? [])],
    idle: () =>
      live()
        .filter(one => one.nextAt === undefined)
        .map(one => ({ ...toCursor(one), behind: one.cursor < (seqOf(one.taskId) ?? 0) })),
    waiting: max =>
      live()
        .flatMap(one =>
          one.nextAt === undefined
            ? []
            : { ...toCursor(one), nextAt: one.nextAt, retryDelayMs: retryDelayMs(one.attempts.at(-1)) },
        )
        .sort((a, b) => a.nextAt - b.nextAt)
        .slice(0, max),
  };

  return {
    backend,
    write({ taskId, id, subscription }: PushChange): void {
      const others = byTask.get(taskId) ?? new Map<string, PushSubscription>();
      if (!subscription) others.delete(id);
      else if (seqOf(taskId) !== undefined) byTask.set(taskId, others.set(id, subscription));
    },
    clear: (taskId: TaskId): void => void byTask.delete(taskId),
  };
}

const toCursor = ({ taskId, config, cursor }: PushSubscription): PushCursor => ({
  taskId,
  id: config.id,
  host: hostOf(config),
  cursor,
});
