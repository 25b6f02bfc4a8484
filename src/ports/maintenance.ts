import type { AgentName, Retention } from "../model/index.ts";

/** What a store is asked by whoever keeps it in order. */
export interface Maintenance {
  /**
   * Takes away what an agent's retention no longer keeps, the oldest first, a little at a time: whole tasks with their
   * events and names, and the events of tasks that ended. How many tasks it touched; 0: nothing is left to do.
   */
  sweep(agent: AgentName, retention: Retention): Promise<number>;
  /** Writes, and changes nothing; a Fault("unavailable") if the store cannot write now. */
  check(): Promise<void>;
  /** Bytes on disk, roughly; 0: it is in memory. */
  bytes(): Promise<number>;
}
