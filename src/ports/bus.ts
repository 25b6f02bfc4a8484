import type { Wakeable } from "../lib/latch.ts";
import type { TaskId } from "../model/index.ts";
import type { Log } from "./log.ts";

/**
 * Wakes listeners of a topic; a notification carries no data. A bus that can lose notifications also wakes all listeners
 * periodically: a lost notification costs time, never an event.
 */
export interface Bus {
  notify(topic: string): void;
  /** Wakes the listener at every notification until it unsubscribes. */
  subscribe(topic: string, listener: Wakeable): void;
  unsubscribe(topic: string, listener: Wakeable): void;
}
/** A bus between nodes: subscribers of this node are woken at once, those of other nodes a moment later. */
export interface RemoteBus extends Bus {
  close(): Promise<void>;
}
export interface RemoteBusParts {
  /** The unique id of this node. */
  readonly node: string;
  /** Called before subscribers are woken: another node has notified this topic; undefined: possibly any topic. */
  readonly onRemote: (topic: string | undefined) => void;
  /** How long notifications are collected after a batch was sent. */
  readonly batchMs: number;
  /** How often all subscribers are woken, in case a notification was lost. */
  readonly pollMs: number;
  readonly log: Log;
}
/** Tells which tasks changed, on this node and on others. */
export interface TaskChanges {
  /** undefined: any of them may have. Returns how to unsubscribe. */
  subscribe(listener: (taskId: TaskId | undefined) => void): () => void;
}
/** Readers of a task listen on its id; its run listens on this topic, for a cancel and for messages. */
export const runTopic = (taskId: TaskId): string => `run/${taskId}`;
/** Notified when a task has become due. */
export const RUN_DUE = "due";
/** Notified when there is something to deliver to a webhook. */
export const PUSH_DUE = "push-due";
/** Notified when a schedule was created or changed. */
export const SCHEDULE_DUE = "schedule-due";
