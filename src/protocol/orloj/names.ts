import type { TaskState } from "../../model/index.ts";
import type { DataRule } from "../shared/v01-decode.ts";

/** The document has seven states and none for missing credentials. */
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

/** Data is any JSON value. */
export const allowsData: DataRule = () => true;
