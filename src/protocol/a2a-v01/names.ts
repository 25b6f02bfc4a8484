import type { TaskState } from "../../model/index.ts";
import type { DataRule } from "../shared/v01-decode.ts";

/** v0.1 has no state for missing credentials and none for rejected tasks. */
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
export const allowsData: DataRule = data => typeof data === "object" && data !== null;
