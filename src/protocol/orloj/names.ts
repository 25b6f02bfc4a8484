import type { TaskState } from "../../model/index.ts";
import type { Carries } from "../shared/type-read.ts";

/** The document has seven states; credentials are one more thing that a task can ask for. */
export const STATES: Readonly<Record<TaskState, string>> = {
  submitted: "submitted",
  working: "working",
  "input-required": "input-required",
  "auth-required": "input-required",
  completed: "completed",
  failed: "failed",
  canceled: "canceled",
  rejected: "rejected",
};

/** Data is any JSON. */
export const carries: Carries = () => true;
