import type { Role, TaskState } from "../../model/index.ts";

/** In the order of their numbers in the definition, from 1. */
export const STATES: Readonly<Record<TaskState, string>> = {
  submitted: "TASK_STATE_SUBMITTED",
  working: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  canceled: "TASK_STATE_CANCELED",
  "input-required": "TASK_STATE_INPUT_REQUIRED",
  rejected: "TASK_STATE_REJECTED",
  "auth-required": "TASK_STATE_AUTH_REQUIRED",
};

export const ROLES: Readonly<Record<Role, string>> = { user: "ROLE_USER", agent: "ROLE_AGENT" };
