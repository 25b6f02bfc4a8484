import {
  type AgentName,
  LIMITS,
  type Scope,
  type Seq,
  type Step,
  type Task,
  type TaskId,
  type TaskState,
  type Usage,
} from "../../model/index.ts";
import type {
  AgentStorage,
  CallerName,
  ContextEnds,
  ContextOwner,
  ListFilter,
  NamedTask,
  NewestFilter,
  OwnerFilter,
  PushAttempt,
  PushScan,
  PushScanPage,
  PushSubscription,
  ResourceKind,
  ResourceRange,
  StorageArea,
  StoredItem,
  TaskCount,
  TaskScan,
  TaskScanPage,
  UsageQuery,
  UsageRow,
  WaitingScan,
  WaitingScanPage,
} from "../../ports/index.ts";
import type { NewName } from "../kernel/caller-names.ts";
import type { ItemRow, ItemWrite } from "../kernel/item-row.ts";
import type { ListCursor } from "../kernel/page-token.ts";
import type { ResourceRow } from "../kernel/resource-row.ts";
import type { RetentionBounds } from "../kernel/retention.ts";
import type { ScheduleRow } from "../kernel/schedule-row.ts";

/** Stores committed data. Synchronous: a commit happens completely or not at all. */
export interface Backend {
  /** The newest revision and the newest time in the store. */
  readonly lastRev: number;
  readonly lastAt: number;
  load(taskId: TaskId): LoadedTask | null;
  /** The number of bytes that `load` would read, found without reading them; 0: `load` reads nothing. */
  loadBytes(taskId: TaskId): number;
  /** See `ReadSteps`. */
  read(taskId: TaskId, after: Seq, max: number, base: Task | null): readonly Step[];
  /** Writes all changes, or throws and writes none. */
  commit(
    changes: readonly TaskChange[],
    storageWrites: readonly StorageWrite[],
    pushChanges: readonly PushChange[],
    others: readonly CommitPart[],
  ): void;
  findByName(scope: Scope, agent: AgentName, name: CallerName): NamedTask | null;
  list(scope: Scope, agent: AgentName, filter: ListFilter, cursor: ListCursor): Listing;
  newest(scope: Scope, agent: AgentName, filter: NewestFilter): readonly TaskId[];
  /** The keys of the contexts with a task that waits for its caller; see `contextKey`. */
  waitingContexts(): Iterable<number>;
  count(scope: Scope): { readonly caller: number; readonly tenant: number };
  spent(scope: Scope, day: number): { readonly caller: Usage; readonly tenant: Usage };
  reportUsage(query: UsageQuery): readonly UsageRow[];
  listStorage(area: StorageArea, range: Parameters<AgentStorage["list"]>[1]): readonly StoredItem[];
  readonly pushes: PushBackend;
  readonly overview: OverviewBackend;
  readonly resources: ResourceBackend;
  readonly items: ItemBackend;
  readonly schedules: ScheduleBackend;
  /** Tasks that are neither settled nor removed, in the order in which their turns arrived. */
  unfinished(): readonly QueueItem[];
  /** Data beyond these bounds, the oldest first. Asynchronous, because the search may take long. */
  findExpired(agent: AgentName, bounds: RetentionBounds): Promise<ExpiredData>;
  /** The newest revision of a task; null: it is not there. */
  revOf(taskId: TaskId): number | null;
  /** Removes it in one commit, a long log in several. Tasks that changed since the search stay. Returns the changed tasks. */
  prune(expired: ExpiredData): readonly TaskId[];
  /** Writes like a commit, without changing data; throws if the store cannot write. */
  check(): void;
  /** Approximate size on disk. */
  bytes(): number;
  close(): void;
}

/** See `TaskOverview`. */
export interface OverviewBackend {
  scan(query: TaskScan): TaskScanPage;
  scanWaiting(query: WaitingScan): WaitingScanPage;
  contextEnds(context: ContextOwner): ContextEnds | undefined;
  count(owners: OwnerFilter): readonly TaskCount[];
  countWaiting(owners: OwnerFilter): readonly TaskCount[];
}

/** A write to agent storage: values are already JSON; undefined deletes the key. */
export interface StorageWrite {
  readonly area: StorageArea;
  readonly changes: readonly { readonly key: string; readonly text: string | undefined }[];
}

/** Tenant, principal, kind, id. */
export type ResourceKey = readonly [string, string, ResourceKind, string];

/** Committed records of callers. */
export interface ResourceBackend {
  find(scope: Scope, kind: ResourceKind, id: string): ResourceRow | null;
  list(scope: Scope, kind: ResourceKind, range: ResourceRange): readonly ResourceRow[];
  expired(kind: ResourceKind, at: number, max: number): readonly ResourceRow[];
  /** Only as a part of a commit; null deletes the record. */
  write(key: ResourceKey, row: ResourceRow | null): void;
}

/** A write of another table, called inside the transaction of a commit. */
export type CommitPart = () => void;

/** Items of callers; those that expired by `now` are invisible. Methods that write are called inside a commit only. */
export interface ItemBackend {
  get(scope: Scope, namespace: string, key: string, now: number): ItemRow | undefined;
  list(scope: Scope, range: ItemRowRange, now: number): readonly ItemRow[];
  /** Keys of namespaces from `from` on, below `to`. */
  listNamespaces(scope: Scope, from: string, to: string, max: number, now: number): readonly string[];
  write(scope: Scope, change: ItemWrite, now: number): void;
  refresh(scope: Scope, namespace: string, key: string, now: number): void;
  /** Deletes expired items and returns their number. */
  sweep(max: number, now: number): number;
}
export interface ItemRowRange {
  /** Keys of namespaces from this one on, below `to`. */
  readonly from: string;
  readonly to: string;
  readonly after: Pick<ItemRow, "namespace" | "key" | "updated_at"> | undefined;
  readonly max: number;
  readonly withVectors: boolean;
}

/** Methods that write are called inside a commit only. */
export interface ScheduleBackend {
  get(scope: Scope, id: string): ScheduleRow | undefined;
  /** The newest first. */
  list(scope: Scope, max: number): readonly ScheduleRow[];
  write(scope: Scope, row: ScheduleRow): void;
  delete(scope: Scope, id: string): void;
  /** Those whose time has come by `now`, the earliest first. */
  due(now: number, max: number): readonly (ScheduleRow & { readonly scope: Scope })[];
  /** The earliest time; undefined: nothing is scheduled. */
  earliest(): number | undefined;
}

/** A write of a push config; null deletes it. Configs of tasks that do not exist are ignored. */
export interface PushChange {
  readonly taskId: TaskId;
  readonly id: string;
  readonly subscription: PushSubscription | null;
}

/** Committed push configs. */
export interface PushBackend {
  /** In the order in which they were set. */
  of(taskId: TaskId): readonly PushSubscription[];
  /** Configs without a scheduled retry; `behind`: the task may have newer events than were delivered. */
  idle(): readonly (PushCursor & { readonly behind: boolean })[];
  /** The first configs with a scheduled retry, the soonest first. */
  waiting(max: number): readonly WaitingPush[];
  /** See `TaskOverview`. */
  scan(query: PushScan): PushScanPage;
}

/** A push config and how far its delivery is. */
export interface PushCursor {
  readonly taskId: TaskId;
  readonly id: string;
  readonly host: string;
  readonly cursor: number;
}

export interface WaitingPush extends PushCursor {
  readonly nextAt: number;
  readonly retryDelayMs: number;
}

/** The delay that was planned when the attempt failed. It bounds the wait if the clock is set back. */
export function retryDelayMs(attempt: Pick<PushAttempt, "at" | "nextAt"> | undefined): number {
  if (attempt?.nextAt === undefined) return LIMITS.pushRetryMaxMs;
  return Math.max(0, attempt.nextAt - attempt.at);
}

export interface LoadedTask {
  readonly scope: Scope;
  readonly task: Task;
  readonly seq: Seq;
  readonly snapshotSeq: number;
  /** Events up to this one were removed. */
  readonly since: Seq;
}

export interface QueueItem {
  readonly taskId: TaskId;
  readonly scope: Scope;
  readonly agent: AgentName;
  /** Tasks with the same key run one after another: see `toSerialKey`. */
  readonly serialKey: string;
}

/** The changes of one commit to one task. */
export interface TaskChange {
  readonly scope: Scope;
  readonly task: Task;
  readonly steps: readonly Step[];
  /** The events of the steps, packed. */
  readonly events: string;
  readonly isNew: boolean;
  /** The state in which lists showed the task before this change; undefined: they did not show it. */
  readonly listedBefore: TaskState | undefined;
  /** Ascending in the whole store; set if the status changed, so that lists have one order. */
  readonly rev: number | null;
  /** The revision at which a turn arrived, if one arrived in this change. */
  readonly arrived: number | null;
  /** The day (UTC) of the commit, to which usage is counted. */
  readonly day: number;
  /** New names from callers; the writer has checked that they are free. */
  readonly names: readonly NewName[];
  /** The JSON of the task, to be stored beside the events; null: no snapshot. */
  readonly snapshot: string | null;
}

/** A task at a revision. */
export interface TaskRevision {
  readonly taskId: TaskId;
  readonly rev: number;
}

export interface Listing {
  /** One row more than requested, if there is one. */
  readonly rows: readonly TaskRevision[];
  readonly total: number;
}

/** The storage of a context is removed with its last task, unless it is to be kept. */
export interface ExpiredTask extends TaskRevision {
  readonly keepsStorage?: boolean;
}

export interface ExpiredData {
  /** Tasks to be removed. */
  readonly tasks: readonly ExpiredTask[];
  /** Tasks whose events are to be removed. */
  readonly logs: readonly TaskRevision[];
}
