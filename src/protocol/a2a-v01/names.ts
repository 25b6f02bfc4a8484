import type { TaskState } from "../../model/index.ts";
import type { Carries } from "../shared/type-read.ts";

/** v0.1 has no words for credentials and for work that is declined. */
export const STATES: Readonly<Record<TaskState, string>> = {
  submitted: "submitted",
  working: "working",
  "input-required": "input-required",
  "auth-required": "input-required",
  completed: "completed",
  failed: "failed",
  canceled: "canceled",
  rejected: "failed",
};

/** v0.1 §6.5: data is an object or an array. */
export const carries: Carries = data => typeof data === "object" && data !== null;
