import type { PushConfig, Scope, Seq, TaskId } from "../model/index.ts";

/** Where updates of tasks are to be delivered to. What is secret in a config is sealed before it comes here. */
export interface PushConfigs {
  /**
   * Under an id that is taken, it takes the place of the one before: with the same URL it goes on where that one is, with
   * another it begins anew. A Fault if the task is not there for this scope, or has too many.
   */
  set(scope: Scope, taskId: TaskId, push: NewPushSubscription): Promise<void>;
  /** In the order in which they were set. */
  list(scope: Scope, taskId: TaskId): Promise<readonly PushConfig[]>;
  /** Also if there is none with this id. */
  remove(scope: Scope, taskId: TaskId, id: string): Promise<void>;
}

export interface NewPushSubscription {
  readonly config: PushConfig;
  /** Like no other: the ids of all that is delivered begin with it. */
  readonly key: string;
  /** What is delivered first: the task as it stands, or what happens to it from now on. */
  readonly opening: "task" | "events";
}

/** What is committed with events: a config, before it can miss one. */
export interface AppendExtras {
  readonly push: NewPushSubscription;
}

/** A config, and how far its delivery has come. */
export interface PushSubscription extends NewPushSubscription, PushProgress {
  readonly scope: Scope;
  readonly taskId: TaskId;
  readonly setAt: number;
  /** The place at which it began. */
  readonly start: Seq;
  /** The newest ones, oldest first. */
  readonly attempts: readonly PushAttempt[];
}

export interface PushProgress {
  /** What happened up to here is delivered, or need not be. */
  readonly cursor: Seq;
  /** What is delivered next ends here, at every attempt. */
  readonly until?: Seq;
  /** "done": the task has ended, and all is delivered. "dead": it was given up. */
  readonly state: "live" | "done" | "dead";
  /** How many attempts at what is next have failed, and when the first one was. */
  readonly failed?: { readonly count: number; readonly since: number };
  /** When it is tried again, in wall time; undefined: when there is something to deliver. */
  readonly nextAt?: number;
}

export interface PushAttempt {
  /** In wall time, as `nextAt` is. */
  readonly at: number;
  /** The newest event in it. */
  readonly seq: Seq;
  /** What came back; undefined: nothing did. */
  readonly status?: number;
  /** How long it took. */
  readonly ms: number;
  /** Why it failed. */
  readonly error?: string;
  readonly nextAt?: number;
}

/** The work of delivering, for all callers: done by the server itself, and seen by those who run it. */
export interface PushQueue {
  /** Takes what is due and held by nobody: one for each host at most, in turn, and none for these hosts. */
  claim(busy: ReadonlySet<string>, max: number): Promise<readonly PushSubscription[]>;
  /** How far it has come; resolves when that is committed. null: it is no longer there, or has begun anew. */
  record(
    held: PushSubscription,
    progress: PushProgress,
    attempt: PushAttempt | undefined,
  ): Promise<PushSubscription | null>;
  /** The webhook wants no more. */
  remove(held: PushSubscription): Promise<void>;
  /**
   * Holds it no longer. Up to this place there is nothing to deliver; it is due again at its time, or when something
   * happens, or at once if there is `more`.
   */
  release(held: PushSubscription, place: Seq, more: boolean): Promise<void>;
  /** How long until something is due, if nothing happens before; undefined: nothing is. */
  nextInMs(): Promise<number | undefined>;
  /** All configs of a task. */
  look(taskId: TaskId): Promise<readonly PushSubscription[]>;
  /** Makes them due at once, also those that were given up. How many there are. */
  redeliver(taskId: TaskId, id: string | undefined, from: "place" | "start"): Promise<number>;
}
