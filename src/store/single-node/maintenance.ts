import { Fault, LIMITS, type Retention, type TaskId } from "../../model/index.ts";
import type { Maintenance } from "../../ports/index.ts";
import type { Bounds, Journal, Outdated, Place } from "./backend.ts";

export interface UpkeepParts {
  readonly journal: Journal;
  readonly wallTime: () => number;
  readonly isClosed: () => boolean;
  /** Whether nobody is writing or running the task. */
  readonly isIdle: (taskId: TaskId) => boolean;
  /** The task has changed below what is in memory, or is gone. */
  readonly forget: (taskId: TaskId) => void;
}

/** Takes away what is no longer kept, in commits so small that nobody notices. */
export function createUpkeep(parts: UpkeepParts): Maintenance {
  const { journal } = parts;

  function prune({ tasks, logs }: Outdated): number {
    const isIdle = ({ taskId }: Place): boolean => parts.isIdle(taskId);
    const touched = journal.prune({ tasks: tasks.filter(isIdle), logs: logs.filter(isIdle) });
    for (const taskId of touched) parts.forget(taskId);
    return touched.length;
  }

  return {
    async sweep(agent, retention) {
      const found = await journal.outdated(agent, boundsOf(retention, parts.wallTime()));
      let count = 0;
      for (const bite of bitesOf(found)) {
        if (parts.isClosed()) break;
        count += prune(bite);
        await pause(LIMITS.sweepPauseMs);
      }
      return count;
    },
    async check() {
      if (parts.isClosed()) throw new Fault("unavailable", "The store is closed");
      try {
        journal.check();
      } catch (cause) {
        throw new Fault("unavailable", "The store cannot write now", {}, cause);
      }
    },
    async bytes() {
      return parts.isClosed() ? 0 : journal.bytes();
    },
  };
}

const ago = (now: number, ms: number | undefined): number | undefined => (ms === undefined ? ms : now - ms);

/** What a retention means now. */
export const boundsOf = ({ ageMs, count, eventsAgeMs }: Retention, now: number): Bounds => ({
  settledBy: ago(now, ageMs),
  newest: count,
  eventsBy: ago(now, eventsAgeMs),
  namedBy: now - LIMITS.keyMs,
  max: LIMITS.sweepTasksMax,
});

/** In pieces for one commit each. */
export function* bitesOf({ tasks, logs }: Outdated): Generator<Outdated> {
  const size = LIMITS.sweepBiteTasksMax;
  for (let i = 0; i < tasks.length; i += size) yield { tasks: tasks.slice(i, i + size), logs: [] };
  for (let i = 0; i < logs.length; i += size) yield { tasks: [], logs: logs.slice(i, i + size) };
}

const pause = (ms: number): Promise<void> => new Promise(resolve => void setTimeout(resolve, ms));
