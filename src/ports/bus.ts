import type { Wakeable } from "../lib/latch.ts";
import type { TaskId } from "../model/index.ts";

/** Says "look", never what. A bus that can lose a ring rings by itself now and then: a lost one costs time, never an event. */
export interface Bus {
  notify(topic: string): void;
  /** Wakes the sleeper at every ring until it leaves. */
  subscribe(topic: string, sleeper: Wakeable): void;
  unsubscribe(topic: string, sleeper: Wakeable): void;
}
/** Readers of a task listen on its id; its run listens here, for a cancel and for messages. */
export const runTopic = (taskId: TaskId): string => `run/${taskId}`;
/** Rung when a task has become due. */
export const DUE = "due";
/** Rung when there is something to deliver to a webhook. */
export const PUSH_DUE = "push-due";
