/** Tasks of all agents and callers, for the admin API. */
import type { AgentName, ContextId, Scope, Seq, Task, TaskId, TaskState } from "../model/index.ts";
import type { PushSubscription } from "./push.ts";

export interface TaskOverview {
  /** By creation. A call examines a bounded number of rows: it can find fewer than `max`, or none, and have a `next`. */
  scan(query: TaskScan): Promise<TaskScanPage>;
  /** Tasks that wait for their caller, the longest waiting first; bounded as `scan`. */
  scanWaiting(query: WaitingScan): Promise<WaitingScanPage>;
  /**
   * The tasks in this order: as many as fit `LIMITS.pageBytesMax`, at least one. Tasks that do not exist, or cannot be read,
   * are left out. `used`: how many of the ids were looked up.
   */
  read(taskIds: readonly TaskId[]): Promise<{ readonly tasks: readonly OwnedTask[]; readonly used: number }>;
  /** Of each context, in this order. */
  contextEnds(contexts: readonly ContextOwner[]): Promise<readonly (ContextEnds | undefined)[]>;
  /** The number of tasks by agent and state. Reads an index of all tasks. */
  count(owners: OwnerFilter): Promise<readonly TaskCount[]>;
  /** As `count`, of tasks that wait for their caller: reads these only. */
  countWaiting(owners: OwnerFilter): Promise<readonly TaskCount[]>;
  /** By the time at which the config was first set, the newest first; bounded as `scan`. */
  scanPushes(query: PushScan): Promise<PushScanPage>;
  /** The servers on this store, this one included; empty: the store has a single server. */
  nodes(): Promise<readonly ClusterNode[]>;
}

/** Whose tasks; members that are absent stand for all. A Scope is one. */
export interface OwnerFilter {
  readonly tenant?: string;
  readonly principal?: string;
  readonly agents?: ReadonlySet<AgentName>;
}

export interface TaskScan {
  readonly owners: OwnerFilter;
  readonly states?: ReadonlySet<TaskState>;
  readonly contextId?: ContextId;
  /** Bare replies too. */
  readonly withHidden: boolean;
  /** "oldest": only with a contextId. */
  readonly order: "newest" | "oldest";
  /** Continue after this task, in the order of the scan. */
  readonly after?: TaskId;
  /** Created at this time or later, and before that one, in milliseconds. */
  readonly from?: number;
  readonly to?: number;
  readonly max: number;
}

export interface TaskScanPage {
  readonly tasks: readonly ScannedTask[];
  /** The last task that was examined; undefined: the scan is at its end. */
  readonly next: TaskId | undefined;
}

export interface ContextOwner {
  readonly scope: Scope;
  readonly agent: AgentName;
  readonly contextId: ContextId;
}

/** The first and the last task of a context; undefined: it has no task. */
export interface ContextEnds {
  readonly first: TaskId;
  readonly last: TaskId;
}

export interface ScannedTask extends ContextOwner {
  readonly taskId: TaskId;
}

export interface WaitingScan {
  readonly owners: OwnerFilter;
  readonly states: ReadonlySet<"input-required" | "auth-required">;
  readonly after?: WaitingPosition;
  readonly max: number;
}
export interface WaitingPosition {
  /** When the state was entered. */
  readonly at: number;
  readonly taskId: TaskId;
}
export interface WaitingScanPage {
  readonly taskIds: readonly TaskId[];
  readonly next: WaitingPosition | undefined;
}

export interface OwnedTask {
  readonly scope: Scope;
  readonly task: Task;
  /** The newest event. */
  readonly seq: Seq;
  /** Events up to this one were compacted; 0: none. */
  readonly since: Seq;
}

export interface TaskCount {
  readonly agent: AgentName;
  readonly state: TaskState;
  readonly count: number;
}

export interface PushScan {
  readonly owners: OwnerFilter;
  /** "failing": live, with failed attempts. */
  readonly state?: "live" | "failing" | "done" | "dead";
  readonly host?: string;
  /** The `next` of the page before. */
  readonly after?: number;
  readonly max: number;
}
export interface PushScanPage {
  readonly pushes: readonly (PushSubscription & { readonly agent: AgentName })[];
  readonly next: number | undefined;
}

export interface ClusterNode {
  readonly id: string;
  readonly version: string;
  readonly startedAt: number;
  readonly seenAt: number;
}

export const matchesOwner = (
  { tenant, principal, agents }: OwnerFilter,
  scope: Pick<Scope, "tenant" | "principal">,
  agent: AgentName,
): boolean =>
  (tenant === undefined || tenant === scope.tenant) &&
  (principal === undefined || principal === scope.principal) &&
  (agents === undefined || agents.has(agent));
