import { ChurnMap } from "../../lib/churn-map.ts";
import type { TaskId } from "../../model/index.ts";
import type { Run } from "../../ports/index.ts";

interface Lease {
  readonly worker: string;
  readonly attempt: number;
  /** In ticks. */
  until: number;
  /** An append of this run was rejected: all later ones are rejected too. */
  fenced: boolean;
}

/** Which worker runs which task, and until when without a renewal. The attempt number, also in the log, is the fencing token. */
export class Leases {
  readonly #ticks: () => number;
  readonly #leaseMs: number;
  readonly #leases = new ChurnMap<TaskId, Lease>();
  /** No lease expires before this time. */
  #earliest = Number.POSITIVE_INFINITY;

  constructor(parts: { readonly ticks: () => number; readonly leaseMs: number }) {
    this.#ticks = parts.ticks;
    this.#leaseMs = parts.leaseMs;
  }

  #find(taskId: TaskId, run: Run): Lease | undefined {
    const lease = this.#leases.get(taskId);
    return lease?.attempt === run.attempt && lease.worker === run.worker ? lease : undefined;
  }

  /** `at`: now, in ticks. */
  grant(taskId: TaskId, worker: string, attempt: number, at: number): void {
    const until = at + this.#leaseMs;
    this.#leases.set(taskId, { worker, attempt, until, fenced: false });
    if (until < this.#earliest) this.#earliest = until;
  }

  renew(run: Run): boolean {
    const lease = this.#find(run.task.id, run);
    if (!lease) return false;
    lease.until = this.#ticks() + this.#leaseMs;
    return true;
  }

  drop(taskId: TaskId): void {
    this.#leases.delete(taskId);
  }

  isLeased(taskId: TaskId): boolean {
    return this.#leases.has(taskId);
  }

  holds(taskId: TaskId, run: Run): boolean {
    return this.#find(taskId, run) !== undefined;
  }

  /** Whether the run holds its lease and none of its appends was rejected. */
  canWrite(taskId: TaskId, run: Run): boolean {
    return this.#find(taskId, run)?.fenced === false;
  }

  /** To be called after an append of the run was rejected. */
  fence(run: Run): void {
    const lease = this.#find(run.task.id, run);
    if (lease) lease.fenced = true;
  }

  findExpired(at: number): readonly TaskId[] {
    if (at < this.#earliest) return [];
    const expired: TaskId[] = [];
    this.#earliest = Number.POSITIVE_INFINITY;
    for (const [taskId, lease] of this.#leases) {
      if (lease.until <= at) expired.push(taskId);
      else if (lease.until < this.#earliest) this.#earliest = lease.until;
    }
    return expired;
  }
}
