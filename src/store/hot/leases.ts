import { Roll, type TaskId } from "../../model/index.ts";
import type { Run } from "../../ports.ts";

interface Lease {
  readonly worker: string;
  readonly attempt: number;
  /** In ticks. */
  until: number;
}

/** Who runs what, and until when without a renewal. The attempt number is the fence: it is in the log as well. */
export interface Leases {
  grant(taskId: TaskId, worker: string, attempt: number): void;
  drop(taskId: TaskId): void;
  holder(taskId: TaskId): string | undefined;
  holds(taskId: TaskId, run: Run): boolean;
  renew(run: Run): boolean;
  expired(): readonly TaskId[];
}

export function createLeases(parts: { ticks: () => number; leaseMs: number }): Leases {
  const leases = new Roll<TaskId, Lease>();
  /** No lease ends before this. */
  let earliest = Number.POSITIVE_INFINITY;

  const holds = (taskId: TaskId, run: Run): boolean => {
    const lease = leases.get(taskId);
    return lease !== undefined && lease.attempt === run.attempt && lease.worker === run.worker;
  };

  return {
    holds,
    grant(taskId, worker, attempt) {
      const until = parts.ticks() + parts.leaseMs;
      leases.set(taskId, { worker, attempt, until });
      if (until < earliest) earliest = until;
    },
    drop(taskId) {
      leases.delete(taskId);
    },
    holder: taskId => leases.get(taskId)?.worker,
    renew(run) {
      if (!holds(run.task.id, run)) return false;
      (leases.get(run.task.id) as Lease).until = parts.ticks() + parts.leaseMs;
      return true;
    },
    expired() {
      const now = parts.ticks();
      if (now < earliest) return [];
      const over: TaskId[] = [];
      earliest = Number.POSITIVE_INFINITY;
      for (const [taskId, lease] of leases) {
        if (lease.until <= now) over.push(taskId);
        else if (lease.until < earliest) earliest = lease.until;
      }
      return over;
    },
  };
}
