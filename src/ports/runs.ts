import type { AgentName, Scope, Task } from "../model/index.ts";

/** The queue of due tasks, and the leases on them. */
export interface RunQueue {
  /** Claims due tasks that no worker holds, round-robin over tenants and agents; records that their runs have begun. */
  claim(
    worker: string,
    agents: ReadonlySet<AgentName>,
    max: number,
    /** The scopes of the runs in this process; called only where the store does not know them. */
    running?: () => readonly Scope[],
  ): Promise<readonly Run[]>;
  /**
   * Names the process part that runs tasks. A store that several nodes share begins the run of a new task in the commit
   * that records it, where that is safe, and gives it to the starter; other tasks wait to be claimed. Where the queue is in
   * memory, a claim does the same.
   */
  setStarter(starter: RunStarter): void;
  /** false: the lease is lost, and the run must stop. */
  renew(run: Run): Promise<boolean>;
  /** Releases an unfinished run, so that it is due again at once. */
  release(run: Run): Promise<void>;
  /** The number of tasks that wait for a run. */
  waiting(): number;
  /**
   * For how long no run could begin for this caller, because its limit of concurrent runs is reached; 0: a run can begin.
   * `fullMs`: for how long this process has been at its own limit.
   */
  blockedMs(scope: Scope, fullMs: number): number;
  /** A due task waits for the limit of its caller or tenant: claim again when a run ends. */
  hasBlocked(): boolean;
  /** Unfinished tasks by agent, for the log at startup. */
  unfinished(): Promise<ReadonlyMap<AgentName, number>>;
}
/** Starts runs whose tasks are not committed yet. */
export interface RunStarter {
  readonly worker: string;
  /** Whether a run of this agent may begin here now: there is room, and no due task has to wait for it. */
  accepts(agent: AgentName): boolean;
  /** The scopes of the runs in this process. */
  running(): readonly Scope[];
  /** `recorded` resolves when the task and its start are committed. If it rejects, the run is lost: nothing of it counts. */
  start(run: Run, recorded: Promise<void>): void;
}
export interface Run {
  readonly scope: Scope;
  readonly worker: string;
  readonly attempt: number;
  /** The run before it was interrupted. */
  readonly afterCrash: boolean;
  /** When its task became due, in milliseconds; after a crash: the time of its last event or renewal. */
  readonly dueAt: number;
  /** The task when the run begins. */
  readonly task: Task;
}
