import { type FaultCode, type FaultDetails, isTerminal, type TaskState } from "../../model/index.ts";

/** What is said of a task that takes no message, where callers choose the ids of their tasks themselves. */
export function wordsFor(fault: { code: FaultCode; message: string; details: FaultDetails }): string {
  const { code, message, details } = fault;
  const state = details.facts?.state as TaskState | undefined;
  if (code !== "unsupported-operation" || state === undefined) return message;
  return isTerminal(state)
    ? `The task has ended (${state}) and takes no message; choose another id`
    : "The task is still being worked on and takes no message; wait until it asks, or choose another id";
}
