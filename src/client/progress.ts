import type { ReceivedResponse, RemoteState } from "./types.ts";

/** The position in a stream: enough to resume it after a lost connection, and to report the final state. */
export interface Progress {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state?: RemoteState;
  readonly eventId?: string;
  /** The agent responded with a message instead of a task. */
  readonly replied?: true;
}

export function updateProgress(progress: Progress, { item, eventId }: ReceivedResponse): Progress {
  const next = eventId === undefined ? progress : { ...progress, eventId };
  switch (item.kind) {
    case "task":
      return { ...next, taskId: item.task.id, contextId: item.task.contextId, state: item.task.state };
    case "status":
      return { ...next, taskId: item.taskId, contextId: item.contextId, state: item.state };
    case "artifact":
      return { ...next, taskId: item.taskId, contextId: item.contextId };
    case "message": {
      const { contextId } = item.message;
      return { ...next, replied: true, ...(contextId !== undefined && { contextId }) };
    }
  }
}
