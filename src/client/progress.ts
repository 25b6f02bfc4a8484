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
  const next = { ...progress, ...(eventId !== undefined && { eventId }) };
  if (item.kind === "message") {
    const { contextId } = item.message;
    return { ...next, replied: true, ...(contextId !== undefined && { contextId }) };
  }
  if (item.kind === "task") {
    const { id: taskId, contextId, state } = item.task;
    return { ...next, taskId, contextId, state };
  }
  const { taskId, contextId } = item;
  return { ...next, taskId, contextId, ...(item.kind === "status" && { state: item.state }) };
}
