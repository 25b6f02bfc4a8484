import { type AgentName, TASK_STATES, type TaskState } from "../model/index.ts";
import type { OwnerFilter, TaskCount, TaskOverview } from "../ports/index.ts";
import type { TaskCounts } from "./api.ts";

export interface TaskCounterParts {
  readonly overview: TaskOverview;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}
/** Counts of one agent, or of all. */
export type CountTasks = (owners: OwnerFilter, agent?: AgentName) => Promise<TaskCounts>;

/** Counting reads an index of all tasks. The result is used for so long, and for so many times as long as it took. */
const SHARED_MS = 2_000;
const SHARED_FACTOR = 50;
const SHARED_MAX = 100;

interface SharedCounts {
  until: number;
  readonly counts: Promise<readonly TaskCount[]>;
}

export function createTaskCounter({ overview, ticks }: TaskCounterParts): CountTasks {
  const cache = new Map<string, SharedCounts>();

  function count(key: string, owners: OwnerFilter): Promise<readonly TaskCount[]> {
    const start = ticks();
    const counts = overview.count(owners);
    const shared: SharedCounts = { until: Number.POSITIVE_INFINITY, counts };
    cache.delete(key);
    cache.set(key, shared);
    counts.then(
      () => (shared.until = ticks() + Math.max(SHARED_MS, SHARED_FACTOR * (ticks() - start))),
      () => cache.delete(key),
    );
    if (cache.size > SHARED_MAX) cache.delete(cache.keys().next().value as string);
    return counts;
  }

  return async (owners, agent) => {
    const { tenant, principal, agents } = owners;
    const key = JSON.stringify([tenant, principal, agents && [...agents].sort()]);
    const shared = cache.get(key);
    const counts = await (shared && ticks() < shared.until ? shared.counts : count(key, owners));
    return toTaskCounts(counts.filter(one => agent === undefined || one.agent === agent));
  };
}

function toTaskCounts(counts: readonly TaskCount[]): TaskCounts {
  const byState = Object.fromEntries(TASK_STATES.map(state => [state, 0])) as Record<TaskState, number>;
  for (const { state, count } of counts) byState[state] += count;
  return { total: counts.reduce((sum, one) => sum + one.count, 0), byState };
}
