import type { Wakeable } from "../lib/latch.ts";
import type { TaskId } from "../model/index.ts";

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
