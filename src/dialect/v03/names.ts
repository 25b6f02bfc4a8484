import { TASK_STATES } from "../../model/index.ts";

/** v0.3 §6.3: its names of states are the ones that we use inside. */
export const STATES = TASK_STATES;
