import type { AgentName, RecordedEvent, Retention, Scope, Task, TaskId } from "../model/index.ts";
import type { TokenStore } from "./auth-method.ts";
import type { Encryption } from "./keys.ts";
import type { PushSubscription } from "./push.ts";
import type { UsageQuery, UsageRow } from "./usage.ts";

/**
 * Administration of a store without a server of its own: each call opens the store and closes it again. A StartupError says
 * what to use instead if the store does not support an operation.
 */
export interface StoreAdmin {
  /** For messages: the folder, or the URL of the database without its password. */
  readonly location: string;
  /** By the task's id, or by the id that its caller chose; null: not found. Servers may be running. */
  readHistory(task: string): Promise<TaskHistory | null>;
  /** Servers may be running. */
  readUsage(query: UsageQuery): Promise<readonly UsageRow[]>;
  /** A running server notices changes at once. */
  openTokens(): Promise<TokenStore>;
  /** Checks everything without changing it; servers may be running. */
  check(onProgress: OnProgress): Promise<StoreReport>;
  /** Copies everything that is committed into one file, also while a server is writing. */
  backup(target: string, observer: JobObserver): Promise<StoreBackup>;
  /** Removes expired tasks from the store of a stopped server. */
  purge(request: PurgeRequest): Promise<PurgeResult>;
  /** The number of secrets by key id; undefined: this store cannot count them. */
  countEncrypted(): Promise<ReadonlyMap<string, number> | undefined>;
  /** Why missing keys must not be replaced by new ones; undefined: they can be. */
  findKeyUse(): Promise<string | undefined>;
  /** Decrypts every secret of a stopped server and encrypts it with the newest key: all of them or none. */
  reEncrypt(encryption: Encryption): Promise<ReEncryptResult>;
}

export type OnProgress = (done: number, total: number) => void;

/** Watches a long operation, and stops it. */
export interface JobObserver {
  readonly onProgress: OnProgress;
  readonly signal: AbortSignal;
}

/** Everything that is stored about one task. */
export interface TaskHistory {
  readonly taskId: TaskId;
  readonly scope: Scope;
  /** Only if the events were compacted: the task at that time. */
  readonly snapshot: Task | undefined;
  readonly events: readonly RecordedEvent[];
  readonly pushes: readonly PushSubscription[];
}

/** The content of a store and its damage. */
export interface StoreReport {
  /** The file, or the URL of the database without its password. */
  readonly file: string;
  readonly bytes: number;
  readonly schema: number;
  readonly tasks: number;
  readonly events: number;
  readonly names: number;
  /** Unfinished tasks by agent. */
  readonly unfinished: Readonly<Record<string, number>>;
  /** The first problems. */
  readonly findings: readonly string[];
  readonly findingsCount: number;
}

export interface StoreBackup {
  readonly tasks: number;
  readonly bytes: number;
  /** Encrypted texts in the copy, which does not contain their keys. */
  readonly secrets: number;
  /** A part of the store could not be read and is not in the copy. */
  readonly damage: string | undefined;
}

export interface PurgeRequest {
  /** undefined: the tasks of all agents. */
  readonly agent: AgentName | undefined;
  readonly retention: Pick<Retention, "ageMs" | "count">;
  /** Only counts. */
  readonly dryRun: boolean;
  readonly onProgress: OnProgress;
}

export interface PurgeResult {
  readonly tasks: number;
  /** Expired tasks that stay because their calls may still be repeated. */
  readonly keyed: number;
}

export interface ReEncryptResult {
  readonly reEncrypted: number;
  /** Encrypted with a key that is missing. */
  readonly unreadable: number;
}
