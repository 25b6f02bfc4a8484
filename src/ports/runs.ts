import type { AgentName, Scope, Task } from "../model/index.ts";

/** Which tasks are due, and who holds them. */
export interface RunQueue {
  /** Takes due tasks that no worker holds, in turn for each tenant and agent; records that their runs have begun. */
  claim(
    worker: string,
    agents: ReadonlySet<AgentName>,
    max: number,
    /** Whose runs this process has; asked only where the store does not know it. */
    running?: () => readonly Scope[],
  ): Promise<readonly Run[]>;
  /** false: the lease is lost, stop. */
  renew(run: Run): Promise<boolean>;
  /** Gives an unfinished run back, so that it is due again at once. */
  release(run: Run): Promise<void>;
  /** How many tasks wait for a run. */
  waiting(): number;
  /**
   * For how long no run could begin for this caller, because as many run as may; 0: one can. `fullMs`: for how long this
   * process has had no room for any.
   */
  heldMs(scope: Scope, fullMs: number): number;
  /** A due task was left because as many of its caller's or tenant's run as may: it is to be looked at when one ends. */
  isHeld(): boolean;
  /** Unfinished tasks by agent: what a start finds. */
  unfinished(): Promise<ReadonlyMap<AgentName, number>>;
}
export interface Run {
  readonly scope: Scope;
  readonly worker: string;
  readonly attempt: number;
  /** The run before it was cut off. */
  readonly afterCrash: boolean;
  /** When its task became due, in milliseconds; after a crash: when it was last heard of. */
  readonly dueAt: number;
  /** The task as the run begins. */
  readonly task: Task;
}
