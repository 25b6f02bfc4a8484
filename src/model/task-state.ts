export type TaskState =
  | "submitted"
  | "working"
  | "input-required"
  | "auth-required"
  | "completed"
  | "failed"
  | "canceled"
  | "rejected";

const PHASES: Record<TaskState, "moving" | "interrupted" | "terminal"> = {
  submitted: "moving",
  working: "moving",
  "input-required": "interrupted",
  "auth-required": "interrupted",
  completed: "terminal",
  failed: "terminal",
  canceled: "terminal",
  rejected: "terminal",
};

export const TASK_STATES = Object.keys(PHASES) as readonly TaskState[];
/** No event can follow. */
export const isTerminal = (state: TaskState): boolean => PHASES[state] === "terminal";
/** No event follows until a caller acts. */
export const isSettled = (state: TaskState): boolean => PHASES[state] !== "moving";

/** Which state ends the reading of a log: v1 §3.1.2, §3.1.6, §3.2.2; D4. */
export type Until = "terminal" | "asked" | "settled";

export function isReached(until: Until, state: TaskState): boolean {
  if (until === "settled") return isSettled(state);
  return isTerminal(state) || (until === "asked" && state === "input-required");
}
