import type { PushConfig, Scope, Seq, TaskId } from "../model/index.ts";

/** Push notification configs of tasks. Secrets in a config are encrypted before it is stored. */
export interface PushConfigs {
  /**
   * Replaces the config with the same id: with the same URL it continues at the old cursor, with another one it starts over.
   * A Fault if the task is not found for this scope, or has too many configs.
   */
  set(scope: Scope, taskId: TaskId, push: NewPushSubscription): Promise<void>;
  /** In the order in which they were set. */
  list(scope: Scope, taskId: TaskId): Promise<readonly PushConfig[]>;
  /** No error if the id is not found. */
  remove(scope: Scope, taskId: TaskId, id: string): Promise<void>;
}

export interface NewPushSubscription {
  readonly config: PushConfig;
  /** Unique: the prefix of the ids of all its deliveries. */
  readonly key: string;
  /** What is delivered first: the task as it stands, or the events from now on. */
  readonly opening: "task" | "events";
}

/** Written in the same commit as the events, so that the config misses none. */
export interface AppendExtras {
  readonly push: NewPushSubscription;
}

/** A config and the progress of its delivery. */
export interface PushSubscription extends NewPushSubscription, PushProgress {
  readonly scope: Scope;
  readonly taskId: TaskId;
  readonly setAt: number;
  /** The cursor at which it began. */
  readonly start: Seq;
  /** The newest ones, oldest first. */
  readonly attempts: readonly PushAttempt[];
}

export interface PushProgress {
  /** Events up to this one are delivered or skipped. */
  readonly cursor: Seq;
  /** The last event of the next payload: the same at every attempt. */
  readonly until?: Seq;
  /** "done": the task has ended and everything is delivered. "dead": given up. */
  readonly state: "live" | "done" | "dead";
  /** The failed attempts at the next payload, and the time of the first one. */
  readonly failed?: { readonly count: number; readonly since: number };
  /** The time of the next attempt, in wall time; undefined: when there is something to deliver. */
  readonly nextAt?: number;
}

export interface PushAttempt {
  /** In wall time, as `nextAt` is. */
  readonly at: number;
  /** The newest event in the payload. */
  readonly seq: Seq;
  /** The HTTP status; undefined: no response. */
  readonly status?: number;
  /** The duration. */
  readonly ms: number;
  readonly error?: string;
  readonly nextAt?: number;
}

/** Deliveries of all callers, for the push worker and for operators. */
export interface PushQueue {
  /** Claims due subscriptions that are not claimed: at most one per host, round-robin, and none for the busy hosts. */
  claim(busy: ReadonlySet<string>, max: number): Promise<readonly PushSubscription[]>;
  /** Resolves when the progress is committed. null: the subscription was deleted or has started over. */
  record(
    claimed: PushSubscription,
    progress: PushProgress,
    attempt: PushAttempt | undefined,
  ): Promise<PushSubscription | null>;
  /** The receiver answered 410 Gone. */
  remove(claimed: PushSubscription): Promise<void>;
  /**
   * Releases the claim and moves the cursor. It is due again at its `nextAt`, at the next event, or at once if there is
   * `more` to deliver.
   */
  release(claimed: PushSubscription, cursor: Seq, more: boolean): Promise<void>;
  /** How long until a subscription is due, unless an event comes first; undefined: none is. */
  nextInMs(): Promise<number | undefined>;
  /** All subscriptions of a task. */
  list(taskId: TaskId): Promise<readonly PushSubscription[]>;
  /** Makes subscriptions due at once, also dead ones. Returns their number. */
  redeliver(taskId: TaskId, id: string | undefined, from: "place" | "start"): Promise<number>;
  /** Ends a live subscription as if its retries were over. false: it is not found, or not live. */
  giveUp(taskId: TaskId, id: string): Promise<boolean>;
}
