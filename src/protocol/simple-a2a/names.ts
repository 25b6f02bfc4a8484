import type { TaskState } from "../../model/index.ts";

/** States are spelled with underscores. */
export const STATES: Readonly<Record<TaskState, string>> = {
  submitted: "submitted",
  working: "working",
  "input-required": "input_required",
  "auth-required": "auth_required",
  completed: "completed",
  failed: "failed",
  canceled: "canceled",
  rejected: "rejected",
};
