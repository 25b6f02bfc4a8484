/** The event log of every task, and what is indexed from it. */
import type {
  AgentName,
  CallerName,
  ListFilter,
  NamedTask,
  Page,
  Scope,
  Seq,
  Step,
  Task,
  TaskEvent,
  TaskId,
  TaskState,
  View,
} from "../model/index.ts";
import type { Maintenance } from "./maintenance.ts";
import type { AppendExtras, PushConfigs, PushQueue } from "./push.ts";
import type { Run, RunQueue } from "./runs.ts";
import type { AgentStorage } from "./storage.ts";
import type { UsageStore } from "./usage.ts";

export interface Store {
  readonly log: EventLog;
  readonly tasks: TaskIndex;
  readonly runs: RunQueue;
  readonly maintenance: Maintenance;
  readonly storage: AgentStorage;
  readonly pushes: PushConfigs;
  readonly deliveries: PushQueue;
  readonly usage: UsageStore;
  /** How many servers work on it, this one among them, as far as is known. */
  nodes(): number;
  /** The time of the newest event, so that a clock that was set back goes on from there. */
  readonly lastAt: number;
  close(): Promise<void>;
}
export interface EventLog {
  /**
   * Records events and resolves when they are committed. Fault("conflict") if what is expected no longer holds, told
   * when what came first can be read; Fault("task-not-found") if the task is not there for this scope.
   */
  append(
    scope: Scope,
    taskId: TaskId,
    events: readonly TaskEvent[],
    expected: Expected,
    beside?: AppendExtras,
  ): Promise<void>;
  /**
   * Committed steps after a place, oldest first: at most `max`, and at least one if there is any; a task that is not there for this scope is a Fault. Where events were
   * compacted, the task as it ended is the one step.
   */
  read(scope: Scope, taskId: TaskId, after: Seq, max: number): Promise<readonly Step[]>;
}
/**
 * What must still be true when an append is recorded: the log ends where the writer saw it, the task is in the state
 * in which the writer saw it, or the writer still holds the run. `free`: no other task of its context wants a run, or
 * else it is a Fault("busy"). After one refused append of a run all its later ones are refused, so that no log has a gap;
 * `afterRefusal`: the run knows that, and ends its task as failed or canceled.
 */
export type Expected =
  | { readonly after: Seq; readonly free?: boolean }
  | { readonly state: TaskState }
  | { readonly run: Run; readonly afterRefusal?: true };
export interface TaskIndex {
  /** The task to which a caller gave this name. */
  findByName(scope: Scope, agent: AgentName, name: CallerName): Promise<NamedTask | null>;
  get(scope: Scope, taskId: TaskId): Promise<FoundTask | null>;
  /**
   * A page has as many tasks as were asked for, or fewer: it ends before it has more than `LIMITS.pageBytesMax`. `view`: what
   * of each task will be shown; without it, all.
   */
  list(scope: Scope, agent: AgentName, filter: ListFilter, view?: View): Promise<Page>;
  /** The ids of the tasks that such a list would begin with; the tasks themselves are not read. */
  newest(scope: Scope, agent: AgentName, max: number): Promise<readonly TaskId[]>;
  /** How many tasks are kept for this caller, and for all callers of its tenant. */
  count(scope: Scope): Promise<{ readonly caller: number; readonly tenant: number }>;
}
export interface FoundTask {
  readonly task: Task;
  /** The newest event. */
  readonly seq: Seq;
  /** Events up to this one are no longer kept; 0: all are. */
  readonly since: Seq;
}
