import type { Received, RemoteState } from "./types.ts";

/** How far a reader has come: what is needed to go on after a lost connection, and to say how it ended. */
export interface Progress {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state?: RemoteState;
  readonly eventId?: string;
  /** The agent answered with a bare message: there is no task. */
  readonly replied?: true;
}

export function advance(progress: Progress, { item, eventId }: Received): Progress {
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
