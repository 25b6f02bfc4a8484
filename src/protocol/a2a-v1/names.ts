import type { Role, TaskState } from "../../model/index.ts";

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

/** The order of the enum in the protocol's definition, from 1: ProtoJSON takes numbers too. */
export const STATES_BY_NUMBER: readonly TaskState[] = Object.keys(STATES) as TaskState[];

export const ROLES: Readonly<Record<Role, string>> = { user: "ROLE_USER", agent: "ROLE_AGENT" };
