import type { Message, RemoteState, RemoteTask } from "../client/index.ts";
import type { Unsent } from "./memory.ts";

/** What was said in a task: the questions that were answered, the artifacts, and the last message. */
export function toMessages({ id, state, history, artifacts, message }: RemoteTask): readonly Message[] {
  // Other messages of the agent are progress.
  const said = history.filter(({ role }, at) => role === "user" || history[at + 1]?.role === "user");
  const made = artifacts.map(
    ({ artifactId, parts }): Message => ({ messageId: `${id} ${artifactId}`, role: "agent", parts }),
  );
  return [...said, ...made, ...(message && !isMoving(state) ? [message] : [])];
}

export const isMoving = (state: RemoteState): boolean => /^(submitted|working|unknown)$/.test(state);

/** The task until the server has answered to a message. `task`: the one that the message continues. */
export function toWaiting(
  task: RemoteTask | undefined,
  { messageId, parts, contextId = "" }: Unsent,
): RemoteTask {
  const sent: Message = { messageId, role: "user", parts };
  if (!task) return { id: "", contextId, state: "submitted", artifacts: [], history: [sent] };
  const { message, ...rest } = task;
  return { ...rest, state: "submitted", history: [...task.history, ...(message ? [message] : []), sent] };
}
