import { ChurnMap } from "../../lib/churn-map.ts";
import type { TaskId } from "../../model/index.ts";
import type { Run } from "../../ports/index.ts";

interface Lease {
  readonly worker: string;
  readonly attempt: number;
  /** In ticks. */
  until: number;
  /** An append of this run was refused: so are all later ones. */
  fenced: boolean;
}

/** Who runs what, and until when without a renewal. The attempt number is the fence: it is in the log as well. */
export interface Leases {
  /** `at`: now, in ticks. */
  grant(taskId: TaskId, worker: string, attempt: number, at: number): void;
  drop(taskId: TaskId): void;
  holder(taskId: TaskId): string | undefined;
  holds(taskId: TaskId, run: Run): boolean;
  /** An append of this run was refused. */
  fence(run: Run): void;
  /** Whether it holds its lease, and none of its appends was refused. */
  mayWrite(taskId: TaskId, run: Run): boolean;
  renew(run: Run): boolean;
  expired(at: number): readonly TaskId[];
}

export function createLeases(parts: { ticks: () => number; leaseMs: number }): Leases {
  const leases = new ChurnMap<TaskId, Lease>();
  /** No lease ends before this. */
  let earliest = Number.POSITIVE_INFINITY;

  const find = (taskId: TaskId, run: Run): Lease | undefined => {
    const lease = leases.get(taskId);
    return lease?.attempt === run.attempt && lease.worker === run.worker ? lease : undefined;
  };

  return {
    holds: (taskId, run) => find(taskId, run) !== undefined,
    mayWrite: (taskId, run) => find(taskId, run)?.fenced === false,
    fence(run) {
      const lease = find(run.task.id, run);
      if (lease) lease.fenced = true;
    },
    grant(taskId, worker, attempt, at) {
      const until = at + parts.leaseMs;
      leases.set(taskId, { worker, attempt, until, fenced: false });
      if (until < earliest) earliest = until;
    },
    drop(taskId) {
      leases.delete(taskId);
    },
    holder: taskId => leases.get(taskId)?.worker,
    renew(run) {
      const lease = find(run.task.id, run);
      if (!lease) return false;
      lease.until = parts.ticks() + parts.leaseMs;
      return true;
    },
    expired(at) {
      if (at < earliest) return [];
      const over: TaskId[] = [];
      earliest = Number.POSITIVE_INFINITY;
      for (const [taskId, lease] of leases) {
        if (lease.until <= at) over.push(taskId);
        else if (lease.until < earliest) earliest = lease.until;
      }
      return over;
    },
  };
}
