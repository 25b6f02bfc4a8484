import type { AgentName, Scope, Seq, Step, Task, TaskId } from "../../model/index.ts";
import type { ListFilter, Name, Named } from "../../ports.ts";

/** Where committed events are kept. Synchronous: a commit happens in one go or not at all. */
export interface Journal {
  /** The newest revision and the newest time in the journal. */
  readonly lastRev: number;
  readonly lastAt: number;
  load(taskId: TaskId): Loaded | null;
  /** Steps after a place; `base` is the task as it stood there, if the caller still has it. */
  read(taskId: TaskId, after: Seq, max: number, base: Task | null): readonly Step[];
  /** Writes all changes or throws and writes none. */
  commit(changes: readonly Change[]): void;
  /** The task to which a caller gave this name. */
  named(scope: Scope, agent: AgentName, name: Name): Named | null;
  list(scope: Scope, agent: AgentName, filter: ListFilter, cursor: Cursor): Listing;
  /** Tasks that are neither settled nor forgotten, oldest first. */
  unfinished(): readonly Unfinished[];
  close(): void;
}

export interface Loaded {
  readonly scope: Scope;
  readonly task: Task;
  readonly seq: Seq;
  readonly snapshotSeq: number;
  readonly bytes: number;
}

export interface Unfinished {
  readonly taskId: TaskId;
  readonly scope: Scope;
  readonly agent: AgentName;
  /** Tasks of one line run one after another: see `lineOf`. */
  readonly line: string;
}

export type NewName = Name & Omit<Named, "taskId">;

/** What one commit adds to one task. */
export interface Change {
  readonly scope: Scope;
  readonly task: Task;
  readonly steps: readonly Step[];
  readonly isNew: boolean;
  /** Store-wide, ascending: set when the status moved in this change, so that lists have one order. */
  readonly rev: number | null;
  /** Names that callers gave in it; the writer has seen that they are free. */
  readonly names: readonly NewName[];
  /** Whether to keep the folded task beside the events. */
  readonly snapshot: boolean;
  /** Set by the journal: how much it wrote, so that the hot end can be bounded. */
  bytes: number;
}

/** A list is read in order of revision, as it was when its first page was made. */
export interface Cursor {
  /** The newest revision when the first page was made. */
  readonly bound: number;
  /** The revision of the last task on the page before. */
  readonly below: number;
}

export interface Listing {
  /** One more than asked for, if there is one. */
  readonly places: readonly { readonly taskId: TaskId; readonly rev: number }[];
  readonly total: number;
}
