/** The events that end a turn where the agent itself did not. */
import { CRASH_OPTIONS, type Message, type Part, type TaskEvent } from "../model/index.ts";
import type { Run } from "../ports/index.ts";

type StatusEvent = TaskEvent & { readonly type: "status" };

export const toFailed = (run: Run, messageId: string, text: string): StatusEvent => ({
  type: "status",
  state: "failed",
  message: toMessage(run, messageId, [{ kind: "text", text }]),
  broken: true,
});

/** `shown`: the exception, for callers in development. */
export function describeFailure(isMismatch: boolean, ref: string, shown: string | undefined): string {
  if (shown !== undefined) return `The agent failed: ${shown}`;
  const problem = isMismatch
    ? "The run was interrupted and cannot be resumed: the agent no longer does what it did before."
    : "The agent failed.";
  return `${problem} Its operator finds the reason in the log under ${ref}.`;
}

/** By the agent's policy for interrupted runs that are not simply repeated. */
export function toInterrupted(run: Run, messageId: string, onCrash: "fail" | "ask"): StatusEvent {
  if (onCrash === "fail")
    return toFailed(run, messageId, "The run was interrupted, and this agent does not repeat runs");
  const text = "The run was interrupted, and its work may already be done. Run it again?";
  const message = toMessage(run, messageId, [
    { kind: "text", text },
    { kind: "data", data: { options: CRASH_OPTIONS } },
  ]);
  return { type: "status", state: "input-required", message, again: true };
}

function toMessage({ task }: Run, messageId: string, parts: readonly Part[]): Message {
  return { messageId, role: "agent", parts, taskId: task.id, contextId: task.contextId };
}
