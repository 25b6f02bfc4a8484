import { visible } from "./format.ts";

/** How a state of a task is shown. */
export interface StateLook {
  readonly look: string;
  readonly word: string;
}

const STATES: Readonly<Record<string, StateLook>> = {
  submitted: { look: "submitted", word: "Submitted" },
  working: { look: "working", word: "Working" },
  "input-required": { look: "input", word: "Input required" },
  "auth-required": { look: "auth", word: "Auth required" },
  completed: { look: "completed", word: "Completed" },
  failed: { look: "failed", word: "Failed" },
  canceled: { look: "canceled", word: "Canceled" },
  rejected: { look: "rejected", word: "Rejected" },
};
export const STATE_NAMES = Object.keys(STATES);
export const stateLook = (state: string): StateLook =>
  STATES[state] ?? { look: "canceled", word: visible(state) };
export const isTerminal = (state: string): boolean => /^(?:completed|failed|canceled|rejected)$/.test(state);
export const isWaiting = (state: string): boolean => state === "input-required" || state === "auth-required";
