import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accepts, apply, applyAll } from "./apply.ts";
import type { TaskEvent } from "./event.ts";
import type { Seq } from "./ids.ts";
import { type EventName, eventName, LIFECYCLE, nextState } from "./lifecycle.ts";
import type { Task } from "./task.ts";
import { isReached, isSettled, isTerminal, TASK_STATES, type TaskState } from "./task-state.ts";

const message = { messageId: "m", role: "user", parts: [{ kind: "text", text: "hi" }] } as const;
const artifact = { artifactId: "a", parts: [{ kind: "text", text: "x" }] } as const;

/** One event of each name, to check the whole table. */
const EVENTS: Record<EventName, TaskEvent> = {
  created: {
    type: "created",
    id: "t" as never,
    contextId: "c" as never,
    agent: "a" as never,
    origin: "v1",
    shown: false,
  },
  message: { type: "message", message },
  answered: { type: "answered", message, answers: { q1: true } },
  incoming: { type: "incoming", message },
  noted: { type: "noted", note: { kind: "step", name: "s", nth: 1, value: 1 } },
  chunk: { type: "chunk", mode: "values", data: {} },
  started: { type: "started", attempt: 1 },
  released: { type: "released" },
  artifact: { type: "artifact", artifact, append: true, last: false, join: true },
  reply: { type: "reply", message: { ...message, role: "agent" } },
  shown: { type: "shown" },
  cancel: { type: "cancel" },
  usage: { type: "usage", usage: { tokens: 1 } },
  "→working": { type: "status", state: "working", message: { ...message, role: "agent" } },
  "→input-required": { type: "status", state: "input-required" },
  "→auth-required": { type: "status", state: "auth-required" },
  "→completed": { type: "status", state: "completed" },
  "→failed": { type: "status", state: "failed" },
  "→canceled": { type: "status", state: "canceled" },
  "→rejected": { type: "status", state: "rejected" },
};
const NAMES = Object.keys(EVENTS) as EventName[];

/** For each state the accepted events, and the state after each. */
const EXPECTED: Record<TaskState | "none", Partial<Record<EventName, TaskState>>> = {
  none: { created: "submitted" },
  submitted: {
    message: "submitted",
    incoming: "submitted",
    started: "working",
    shown: "submitted",
    cancel: "submitted",
    "→failed": "failed",
    "→canceled": "canceled",
    "→rejected": "rejected",
  },
  working: {
    incoming: "working",
    noted: "working",
    chunk: "working",
    started: "working",
    released: "submitted",
    artifact: "working",
    reply: "completed",
    shown: "working",
    cancel: "working",
    usage: "working",
    "→working": "working",
    "→input-required": "input-required",
    "→auth-required": "auth-required",
    "→completed": "completed",
    "→failed": "failed",
    "→canceled": "canceled",
    "→rejected": "rejected",
  },
  "input-required": {
    message: "submitted",
    answered: "input-required",
    cancel: "input-required",
    "→failed": "failed",
    "→canceled": "canceled",
  },
  "auth-required": {
    message: "submitted",
    started: "working",
    cancel: "auth-required",
    "→failed": "failed",
    "→canceled": "canceled",
  },
  completed: {},
  failed: {},
  canceled: {},
  rejected: {},
};

describe("the lifecycle", () => {
  for (const state of Object.keys(LIFECYCLE) as (TaskState | "none")[])
    for (const name of NAMES) {
      const wanted = EXPECTED[state][name] ?? null;
      it(`${state} × ${name} ${wanted === null ? "is refused" : `gives ${wanted}`}`, () => {
        expect(nextState(state, EVENTS[name])).toBe(wanted);
        expect(eventName(EVENTS[name])).toBe(name);
      });
    }

  it("ends the reading of a log at the states of each kind of reader", () => {
    const ends = (until: Parameters<typeof isReached>[0]): TaskState[] =>
      TASK_STATES.filter(s => isReached(until, s));
    expect(ends("terminal")).toEqual(["completed", "failed", "canceled", "rejected"]);
    expect(ends("asked")).toEqual(["input-required", "completed", "failed", "canceled", "rejected"]);
    expect(ends("settled")).toEqual(TASK_STATES.filter(isSettled));
  });
});

const anyEvents = fc.array(
  fc.constantFrom(...NAMES).map(name => EVENTS[name]),
  { maxLength: 40 },
);

function fold(events: readonly TaskEvent[]): (Task | null)[] {
  let task: Task | null = null;
  return events.map((event, i) => {
    task = apply(task, { seq: (i + 1) as Seq, at: i + 1, event });
    return task;
  });
}

describe("folding", () => {
  it("any sequence of events gives a valid task or none", () => {
    fc.assert(
      fc.property(anyEvents, events => {
        for (const task of fold([EVENTS.created, ...events])) {
          expect(TASK_STATES).toContain(task?.status.state);
          expect(task?.artifacts.every(one => one.parts.length > 0)).toBe(true);
          expect(task?.crashes).toBeLessThanOrEqual(events.length);
          expect(task?.reply === undefined || task.status.state === "completed").toBe(true);
        }
      }),
    );
  });

  it("after a terminal state every event leaves the task the same object", () => {
    fc.assert(
      fc.property(anyEvents, anyEvents, (events, more) => {
        const last = fold([EVENTS.created, ...events]).at(-1) as Task;
        if (!isTerminal(last.status.state)) return;
        let task: Task | null = last;
        for (const event of more) task = apply(task, { seq: 99 as Seq, at: 99, event });
        expect(task).toBe(last);
      }),
    );
  });

  it("a refused event changes nothing, and an accepted one never throws", () => {
    fc.assert(
      fc.property(anyEvents, events => {
        let task: Task | null = null;
        for (const event of [EVENTS.created, ...events]) {
          const ok = accepts(task, event);
          const after: Task | null = apply(task, { seq: 1 as Seq, at: 5, event });
          if (!ok) expect(after).toBe(task);
          task = after;
        }
      }),
    );
  });

  it("after a cancel the only end is canceled", () => {
    fc.assert(
      fc.property(anyEvents, events => {
        const tasks = fold([EVENTS.created, EVENTS.message, EVENTS.started, EVENTS.cancel, ...events]);
        const { state } = (tasks.at(-1) as Task).status;
        expect(isTerminal(state) ? state : "canceled").toBe("canceled");
      }),
    );
  });
});

it("folding many events at once is the same as one by one", () => {
  const more = (text: string, artifactId = "a", last = false): TaskEvent => ({
    type: "artifact",
    artifact: { artifactId, parts: [{ kind: "text", text }] },
    append: true,
    join: true,
    last,
  });
  const anyWords = fc.oneof(
    fc.constantFrom(...NAMES).map(name => EVENTS[name]),
    fc.tuple(fc.string(), fc.constantFrom("a", "b"), fc.boolean()).map(args => more(...args)),
    fc.constant(more("")),
  );
  fc.assert(
    fc.property(fc.array(anyWords, { maxLength: 60 }), events => {
      const all = [EVENTS.created, EVENTS.message, EVENTS.started, ...events];
      const recorded = all.map((event, i) => ({ seq: (i + 1) as Seq, at: i + 1, event }));
      expect(applyAll(null, recorded)).toEqual(fold(all).at(-1));
    }),
  );
});
