import type { TaskState } from "../../model/index.ts";

/** A state's number on disk is its place here; numbers below 2 are unfinished. Add at the end only. */
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
