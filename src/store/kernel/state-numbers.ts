import type { TaskState } from "../../model/index.ts";

/** The number of a state on disk is its index here; unfinished states come first. Add at the end only. */
export const STATES: readonly TaskState[] = [
  "submitted",
  "working",
  "input-required",
  "auth-required",
  "completed",
  "failed",
  "canceled",
  "rejected",
];

export const FIRST_SETTLED = 2;
export const FIRST_TERMINAL = 4;
