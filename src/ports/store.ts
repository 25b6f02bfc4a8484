/** The event log of every task, and its indexes. */
import type {
  AgentName,
  ContextId,
  Scope,
  Seq,
  Step,
  Task,
  TaskEvent,
  TaskId,
  TaskState,
  View,
} from "../model/index.ts";
import type { ItemStore } from "./items.ts";
import type { Maintenance } from "./maintenance.ts";
import type { TaskOverview } from "./overview.ts";
import type { AppendExtras, PushConfigs, PushQueue } from "./push.ts";
import type { Resources } from "./resources.ts";
import type { Run, RunQueue } from "./runs.ts";
import type { ScheduleStore } from "./schedules.ts";
import type { AgentStorage } from "./storage.ts";
import type { UsageStore } from "./usage.ts";

export interface Store {
  readonly log: EventLog;
  readonly tasks: TaskIndex;
  readonly overview: TaskOverview;
  readonly runs: RunQueue;
  readonly maintenance: Maintenance;
  readonly storage: AgentStorage;
  readonly resources: Resources;
  readonly items: ItemStore;
  readonly schedules: ScheduleStore;
  readonly pushes: PushConfigs;
  readonly deliveries: PushQueue;
  readonly usage: UsageStore;
  /** The number of servers on this store, including this one, as far as is known. */
  nodes(): number;
  /** The time of the newest event: a clock that was set back continues from there. */
  readonly lastAt: number;
  close(): Promise<void>;
}
export interface EventLog {
  /**
   * Resolves when the events are committed. Fault("conflict") if the condition does not hold, thrown when the conflicting
   * events can be read; Fault("task-not-found") if the task is not found for this scope.
   */
  append(
    scope: Scope,
    taskId: TaskId,
    events: readonly TaskEvent[],
    condition: AppendCondition,
    extras?: AppendExtras,
  ): Promise<void>;
  /**
   * Committed steps after this event, oldest first: at most `max`, and at least one if there is any. A Fault if the task is
   * not found for this scope. Where events were compacted, the only step is a snapshot of the ended task.
   */
  read(scope: Scope, taskId: TaskId, after: Seq, max: number): Promise<readonly Step[]>;
}
/**
 * Must hold when an append is committed: the log ends at this event, the task is in this state, or the writer still holds
 * the run. `free`: no other task of the context is due or running, else Fault("busy"). `opensContext`: the id of the context
 * was generated for this task, so that no other call can name it yet. After one refused append of a run
 * all its later ones are refused, so that no log has a gap; `afterRefusal`: the exception, for the event that ends the task
 * as failed or canceled.
 */
export type AppendCondition =
  | { readonly after: Seq; readonly free?: boolean; readonly opensContext?: boolean }
  | { readonly state: TaskState }
  | { readonly run: Run; readonly afterRefusal?: true };
export interface TaskIndex {
  findByName(scope: Scope, agent: AgentName, name: CallerName): Promise<NamedTask | null>;
  get(scope: Scope, taskId: TaskId): Promise<FoundTask | null>;
  /** A page ends early before it exceeds `LIMITS.pageBytesMax`. `view`: the part of each task that counts; without it, all. */
  list(scope: Scope, agent: AgentName, filter: ListFilter, view?: View): Promise<Page>;
  /** The ids of the newest tasks, in the order of `list`; the tasks themselves are neither read nor counted. */
  newest(scope: Scope, agent: AgentName, filter: NewestFilter): Promise<readonly TaskId[]>;
  /** The number of tasks of this caller, and of all callers of its tenant. */
  count(scope: Scope): Promise<{ readonly caller: number; readonly tenant: number }>;
}
export interface FoundTask {
  readonly task: Task;
  /** The newest event. */
  readonly seq: Seq;
  /** Events up to this one were compacted; 0: none. */
  readonly since: Seq;
}
/** A name chosen by a caller: of a task ("alias"), of a call ("key": its Idempotency-Key) or of a message. */
export interface CallerName {
  readonly kind: "alias" | "key" | "message";
  readonly name: string;
}
export interface NamedTask {
  readonly taskId: TaskId;
  /** The event that has the name. */
  readonly seq: Seq;
  /** The digest of the call, if it is the name of a call or of a message. */
  readonly digest?: string;
}
export interface ListFilter {
  readonly contextId?: ContextId;
  readonly state?: TaskState;
  /** Inclusive, in milliseconds. */
  readonly statusSince?: number;
  readonly pageSize: number;
  readonly pageToken?: string;
}
export interface NewestFilter {
  readonly contextId?: ContextId;
  /** undefined: any. */
  readonly states?: readonly TaskState[];
  readonly max: number;
}
export interface Page {
  readonly tasks: readonly Task[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}
