import type { TaskEvent } from "./event.ts";
import type { TaskState } from "./task.ts";

/** What an event is called in the table: a status event by the state that it reports. */
export type EventName = Exclude<TaskEvent["type"], "status"> | `→${Exclude<TaskState, "submitted">}`;

/** `null`: refused. `"="`: accepted, the state stays. */
type Cell = TaskState | "=" | null;
export type Row = Readonly<Record<EventName, Cell>>;

const NOTHING: Row = {
  created: null,
  message: null,
  answered: null,
  incoming: null,
  noted: null,
  started: null,
  released: null,
  artifact: null,
  reply: null,
  shown: null,
  cancel: null,
  usage: null,
  "→working": null,
  "→input-required": null,
  "→auth-required": null,
  "→completed": null,
  "→failed": null,
  "→canceled": null,
  "→rejected": null,
};

/**
 * Every state × every event. A task begins at `none`; terminal rows accept nothing, so terminal is terminal.
 * Interrupted rows accept a message (the next turn) and an end; auth-required also accepts a run, because
 * credentials may arrive out of band (v1 §7.6.1).
 */
export const LIFECYCLE: Readonly<Record<TaskState | "none", Row>> = {
  none: { ...NOTHING, created: "submitted" },
  submitted: {
    ...NOTHING,
    message: "=",
    incoming: "=",
    started: "working",
    shown: "=",
    cancel: "=",
    "→failed": "failed",
    "→canceled": "canceled",
    "→rejected": "rejected",
  },
  working: {
    ...NOTHING,
    incoming: "=",
    noted: "=",
    started: "=",
    released: "submitted",
    artifact: "=",
    reply: "completed",
    shown: "=",
    cancel: "=",
    usage: "=",
    "→working": "=",
    "→input-required": "input-required",
    "→auth-required": "auth-required",
    "→completed": "completed",
    "→failed": "failed",
    "→canceled": "canceled",
    "→rejected": "rejected",
  },
  "input-required": {
    ...NOTHING,
    message: "submitted",
    answered: "=",
    cancel: "=",
    "→failed": "failed",
    "→canceled": "canceled",
  },
  "auth-required": {
    ...NOTHING,
    message: "submitted",
    started: "working",
    cancel: "=",
    "→failed": "failed",
    "→canceled": "canceled",
  },
  completed: NOTHING,
  failed: NOTHING,
  canceled: NOTHING,
  rejected: NOTHING,
};

export function nameOf(event: TaskEvent): EventName {
  return event.type === "status" ? `→${event.state}` : event.type;
}

/** The state after the event, or null if the event is refused there. */
export function next(state: TaskState | "none", event: TaskEvent): TaskState | null {
  const cell = LIFECYCLE[state][nameOf(event)];
  return cell === "=" ? (state as TaskState) : cell;
}
