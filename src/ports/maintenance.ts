import type { AgentName, Retention, Scope, TaskId } from "../model/index.ts";

export interface Maintenance {
  /**
   * Deletes tasks beyond an agent's retention, the oldest first, in small commits: whole tasks with their events and names,
   * and the events of ended tasks. Returns the number of tasks touched; 0: nothing is left to do.
   */
  sweep(agent: AgentName, retention: Retention): Promise<number>;
  /**
   * Deletes a settled task with its events and names; false: it is not there, or not settled. `storage`: of its context, if
   * this was the last task there.
   */
  remove(scope: Scope, taskId: TaskId, storage: "delete" | "keep"): Promise<boolean>;
  /** Writes without changing anything; a Fault("unavailable") if the store cannot write now. */
  check(): Promise<void>;
  /** Bytes on disk, roughly; 0: in memory. */
  bytes(): Promise<number>;
}
