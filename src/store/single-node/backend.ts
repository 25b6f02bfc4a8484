import type { AgentName, Scope, Seq, Step, Task, TaskId, Usage } from "../../model/index.ts";
import type {
  AgentStorage,
  CallerName,
  ListFilter,
  NamedTask,
  PushSubscription,
  StorageArea,
  StoredItem,
  UsageQuery,
  UsageRow,
} from "../../ports/index.ts";

/** Where committed events are kept. Synchronous: a commit happens in one go or not at all. */
export interface Journal {
  /** The newest revision and the newest time in the journal. */
  readonly lastRev: number;
  readonly lastAt: number;
  load(taskId: TaskId): Loaded | null;
  /** Bytes that `load` would read, found without reading them; 0: nothing has to be read. */
  loadBytes(taskId: TaskId): number;
  /** See `ReadSteps`. */
  read(taskId: TaskId, after: Seq, max: number, base: Task | null): readonly Step[];
  /** Writes all changes or throws and writes none. */
  commit(changes: readonly Change[], puts: readonly Put[], pushes: readonly PushChange[]): void;
  /** The task to which a caller gave this name. */
  named(scope: Scope, agent: AgentName, name: CallerName): NamedTask | null;
  list(scope: Scope, agent: AgentName, filter: ListFilter, cursor: Cursor): Listing;
  count(scope: Scope): { readonly caller: number; readonly tenant: number };
  spent(scope: Scope, day: number): { readonly caller: Usage; readonly tenant: Usage };
  spentByAll(query: UsageQuery): readonly UsageRow[];
  /** What was put away: as `Shelf`, but at once. */
  shelved(place: StorageArea, range: Parameters<AgentStorage["list"]>[1]): readonly StoredItem[];
  readonly pushes: PushJournal;
  /** Tasks that are neither settled nor forgotten, in order of the arrival of their turns. */
  unfinished(): readonly Unfinished[];
  /** What lies beyond these bounds, the oldest first. To look for it may take long, so it is done aside. */
  outdated(agent: AgentName, bounds: Bounds): Promise<Outdated>;
  /** Takes it away in one commit, a long log in several. What has moved since it was found stays. What was touched. */
  prune(outdated: Outdated): readonly TaskId[];
  /** Writes as a commit would, and changes nothing; throws if that is not possible. */
  check(): void;
  /** On disk, roughly. */
  bytes(): number;
  close(): void;
}

/** What one commit puts on a shelf: values are JSON already; undefined: the key goes. */
export interface Put {
  readonly place: StorageArea;
  readonly changes: readonly { readonly key: string; readonly text: string | undefined }[];
}

/** What one commit makes of a push config; null: it goes. Of a task that is not there, nothing is kept. */
export interface PushChange {
  readonly taskId: TaskId;
  readonly id: string;
  readonly delivery: PushSubscription | null;
}

/** The push configs that are committed. */
export interface PushJournal {
  /** In the order in which they were set. */
  of(taskId: TaskId): readonly PushSubscription[];
  /** Those that wait for something to happen; `behind`: it may have happened already. */
  idle(): readonly (PushPlace & { readonly behind: boolean })[];
  /** The first that wait for their time, the soonest first. */
  waiting(max: number): readonly WaitingPush[];
}
export interface PushPlace {
  readonly taskId: TaskId;
  readonly id: string;
  readonly host: string;
  readonly place: number;
}

export interface WaitingPush extends PushPlace {
  readonly nextAt: number;
  /** See `plannedMs` in planned.ts. */
  readonly plannedMs: number;
}

export interface Loaded {
  readonly scope: Scope;
  readonly task: Task;
  readonly seq: Seq;
  readonly snapshotSeq: number;
  /** Events up to this one are no longer kept. */
  readonly since: Seq;
}

export interface Unfinished {
  readonly taskId: TaskId;
  readonly scope: Scope;
  readonly agent: AgentName;
  /** Tasks of one line run one after another: see `lineOf`. */
  readonly line: string;
}

export type NewName = CallerName & Omit<NamedTask, "taskId">;

/** What one commit adds to one task. */
export interface Change {
  readonly scope: Scope;
  readonly task: Task;
  readonly steps: readonly Step[];
  /** The events of the steps, packed. */
  readonly events: string;
  readonly isNew: boolean;
  /** Store-wide, ascending: set when the status moved in this change, so that lists have one order. */
  readonly rev: number | null;
  /** The revision at which a turn arrived, if one did in this change. */
  readonly arrived: number | null;
  /** The day (UTC) on which it is committed: what is spent counts on it. */
  readonly day: number;
  /** Names that callers gave in it; the writer has seen that they are free. */
  readonly names: readonly NewName[];
  /** The folded task, to be kept beside the events; null: it is not kept. */
  readonly snapshot: string | null;
}

/** A list is read in order of revision, as it was when its first page was made. */
export interface Cursor {
  /** The newest revision when the first page was made. */
  readonly bound: number;
  /** The revision of the last task on the page before. */
  readonly below: number;
}

/** A task as it stood when it was last looked at. */
export interface Place {
  readonly taskId: TaskId;
  readonly rev: number;
}

export interface Listing {
  /** One more than asked for, if there is one. */
  readonly places: readonly Place[];
  readonly total: number;
}

/** A retention at a moment; undefined: there is no such bound. */
export interface Bounds {
  /** Tasks that settled at this time or before. */
  readonly settledBy: number | undefined;
  /** Ended tasks but for the newest so many of each caller. */
  readonly newest: number | undefined;
  /** Events of tasks that ended at this time or before. */
  readonly eventsBy: number | undefined;
  /** Tasks whose calls have names stay until they settled at this time or before. */
  readonly namedBy: number;
  /** So many tasks at once. */
  readonly max: number;
}

export interface Outdated {
  /** To be removed whole. */
  readonly tasks: readonly Place[];
  /** To be kept without their events. */
  readonly logs: readonly Place[];
}
