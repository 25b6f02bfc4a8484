/** The events that end a turn where the agent itself did not. */
import type { Message, TaskEvent } from "../model/index.ts";
import type { Run } from "../ports/index.ts";

export interface Endings {
  /** The task fails with these words. */
  failed(text: string): TaskEvent;
  /** By the agent's policy for work that was interrupted and is not simply begun again. */
  interrupted(onCrash: "fail" | "ask"): TaskEvent;
}

export function createEndings({ task }: Run, newId: () => string): Endings {
  const toMessage = (text: string): Message => ({
    messageId: newId(),
    role: "agent",
    parts: [{ kind: "text", text }],
    taskId: task.id,
    contextId: task.contextId,
  });
  const failed = (text: string): TaskEvent => ({
    type: "status",
    state: "failed",
    message: toMessage(text),
    broken: true,
  });
  return {
    failed,
    interrupted(onCrash) {
      if (onCrash === "fail") return failed("The work was cut off, and this agent does not begin it again");
      const message = toMessage("The work may already have happened; run it again?");
      return { type: "status", state: "input-required", message, again: true };
    },
  };
}
