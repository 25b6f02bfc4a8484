import { LIMITS, type Seq, type TaskId } from "../../model/index.ts";
import type { OwnedTask, TaskOverview } from "../../ports/index.ts";
import type { Backend } from "./backend.ts";
import type { TailCache } from "./tail-cache.ts";

export interface SingleNodeOverviewParts {
  readonly backend: Backend;
  readonly cache: TailCache;
  readonly onDamaged: (taskId: TaskId, error: unknown) => void;
}

export function createSingleNodeOverview(parts: SingleNodeOverviewParts): TaskOverview {
  const { backend, cache } = parts;

  /** A list must not evict the tasks that are in use: what is not in memory is read past the cache. */
  function read(taskId: TaskId): OwnedTask | null {
    const entry = cache.peek(taskId);
    if (entry) {
      const { task, seq, since } = entry.commit;
      return task && { scope: entry.scope, task, seq: seq as Seq, since: since as Seq };
    }
    try {
      return backend.load(taskId);
    } catch (error) {
      parts.onDamaged(taskId, error);
      return null;
    }
  }

  return {
    scan: async query => backend.overview.scan(query),
    scanWaiting: async query => backend.overview.scanWaiting(query),
    async read(taskIds) {
      const tasks: OwnedTask[] = [];
      let [bytes, used] = [0, 0];
      for (const taskId of taskIds) {
        if (!cache.peek(taskId)) bytes += backend.loadBytes(taskId);
        if (used > 0 && bytes > LIMITS.pageBytesMax) break;
        const found = read(taskId);
        if (found) tasks.push({ scope: found.scope, task: found.task, seq: found.seq, since: found.since });
        used += 1;
      }
      return { tasks, used };
    },
    contextEnds: async contexts => contexts.map(backend.overview.contextEnds),
    count: async owners => backend.overview.count(owners),
    countWaiting: async owners => backend.overview.countWaiting(owners),
    scanPushes: async query => backend.pushes.scan(query),
    nodes: async () => [],
  };
}
