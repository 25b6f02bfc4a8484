import type { TaskId } from "../model/index.ts";
import type { TaskChanges } from "../ports/index.ts";

export interface TaskChangeHub extends TaskChanges {
  notify(taskId: TaskId | undefined): void;
}

/** Without listeners, a notification costs one comparison: there is one for each task of a commit. */
export function createTaskChanges(): TaskChangeHub {
  const listeners = new Set<(taskId: TaskId | undefined) => void>();
  return {
    notify(taskId) {
      if (listeners.size > 0) for (const listener of listeners) listener(taskId);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
