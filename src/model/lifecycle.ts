import type { TaskEvent } from "./event.ts";
import type { TaskState } from "./task-state.ts";

/** The column of an event in the table: a status event by the state that it reports. */
export type EventName = Exclude<TaskEvent["type"], "status"> | `→${Exclude<TaskState, "submitted">}`;

/** `null`: refused. `"="`: accepted, the state stays. */
type Cell = TaskState | "=" | null;
type LifecycleRow = Readonly<Record<EventName, Cell>>;

const REFUSE_ALL: LifecycleRow = {
  created: null,
  message: null,
  answered: null,
  incoming: null,
  noted: null,
  chunk: null,
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
 * Every state × every event. A task begins at `none`; terminal rows accept nothing.
 * Interrupted rows accept a message (the next turn) and an end; auth-required also accepts a run, because
 * credentials may arrive out of band (v1 §7.6.1).
 */
export const LIFECYCLE: Readonly<Record<TaskState | "none", LifecycleRow>> = {
  none: { ...REFUSE_ALL, created: "submitted" },
  submitted: {
    ...REFUSE_ALL,
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
    ...REFUSE_ALL,
    incoming: "=",
    noted: "=",
    chunk: "=",
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
    ...REFUSE_ALL,
    message: "submitted",
    answered: "=",
    cancel: "=",
    "→failed": "failed",
    "→canceled": "canceled",
  },
  "auth-required": {
    ...REFUSE_ALL,
    message: "submitted",
    started: "working",
    cancel: "=",
    "→failed": "failed",
    "→canceled": "canceled",
  },
  completed: REFUSE_ALL,
  failed: REFUSE_ALL,
  canceled: REFUSE_ALL,
  rejected: REFUSE_ALL,
};

export function eventName(event: TaskEvent): EventName {
  return event.type === "status" ? `→${event.state}` : event.type;
}

/** The state after the event, or null if the event is refused there. */
export function nextState(state: TaskState | "none", event: TaskEvent): TaskState | null {
  const cell = LIFECYCLE[state][eventName(event)];
  return cell === "=" ? (state as TaskState) : cell;
}
