import { describe, expect, it } from "vitest";
import type { RecordedEvent, Seq, Task, TaskEvent } from "../../model/index.ts";
import { describeOutcome } from "../commands/why.ts";
import { formatDuration, toTimeline } from "./timeline.ts";

const created = { type: "created", id: "t", contextId: "c", agent: "a", origin: "v1", shown: true };
const words = (text: string) => ({ messageId: text, role: "user", parts: [{ kind: "text", text }] });
const said = (text: string) => ({ type: "message", message: words(text) });
const started = (attempt: number) => ({ type: "started", attempt });
const status = (state: string, more: object = {}) => ({ type: "status", state, ...more });
const chunk = (artifactId: string) => ({
  type: "artifact",
  artifact: { artifactId, parts: [{ kind: "text", text: "x" }] },
  append: true,
  last: false,
  join: true,
});

/** What happened, each with its time. */
const log = (...events: readonly (readonly [at: number, event: object])[]): readonly RecordedEvent[] =>
  events.map(([at, event], i) => ({ seq: (i + 1) as Seq, at, event: event as TaskEvent }));

const NOW = 10_000;
const of = (events: readonly RecordedEvent[]) => {
  const account = toTimeline(events, undefined, NOW);
  return { ...account, verdict: describeOutcome(account) };
};

describe("the account of a task", () => {
  it("adds up what waited for whom", () => {
    const events = log(
      [0, created],
      [0, said("hi")],
      [100, started(1)],
      [300, status("input-required", { message: words("how many?") })],
      [1_300, said("two")],
      [1_350, started(2)],
      [1_360, { type: "released" }],
      [1_500, started(3)],
      [1_600, chunk("r")],
      [1_700, chunk("r")],
      [2_000, status("completed")],
    );
    const { waits, attempts, turns, moments, endedAt, verdict } = of(events);
    expect(waits).toEqual({ queue: 100 + 50 + 140, run: 200 + 10 + 500, input: 1_000, lost: 0 });
    expect(attempts.map(one => [one.attempt, one.turn, one.queueMs, one.outcome])).toEqual([
      [1, 1, 100, "input-required"],
      [2, 2, 50, "given back"],
      [3, 2, 140, "completed"],
    ]);
    expect(turns.map(turn => turn.text)).toEqual(["hi", "two"]);
    expect(moments.filter(moment => moment.what === "artifact").map(moment => moment.text)).toEqual([
      "r: 2 pieces, about 2 bytes in 100 ms",
    ]);
    expect([endedAt, verdict]).toEqual([2_000, "It went well."]);
  });

  it("knows a run that was cut off by the next one", () => {
    const events = log(
      [0, created],
      [0, said("hi")],
      [0, started(1)],
      [50, chunk("r")],
      [500, started(2)],
      [600, status("failed", { broken: true, message: words("The agent failed.") })],
    );
    const { waits, attempts, verdict } = of(events);
    expect(waits).toEqual({ queue: 0, run: 50 + 100, input: 0, lost: 450 });
    expect(attempts.map(one => one.outcome)).toEqual(["cut off", "broken"]);
    expect(verdict).toBe("It broke off after 1 run that was cut off: The agent failed.");
  });

  const UNFINISHED: readonly (readonly [string, readonly RecordedEvent[], RegExp])[] = [
    ["in line", log([0, created], [0, said("hi")]), /^It waits for a run since 1970/],
    ["at work", log([0, created], [0, said("hi")], [5, started(1)]), /^Run 1 is at it since/],
    [
      "asking for a right",
      log([0, created], [0, said("hi")], [5, started(1)], [6, status("auth-required")]),
      /^It waits for a right to act for its caller since/,
    ],
  ];
  it.each(UNFINISHED)("of one that is %s is up to now", (_, events, verdict) => {
    const account = of(events);
    expect(account.verdict).toMatch(verdict);
    expect(Object.values(account.waits).reduce((sum, one) => sum + one, 0)).toBe(NOW);
  });

  it("says who ended it", () => {
    const begun = [
      [0, created],
      [0, said("hi")],
      [0, started(1)],
    ] as const;
    const canceled = log(
      ...begun,
      [1, { type: "cancel", reason: "changed my mind" }],
      [2, status("canceled")],
    );
    expect(of(canceled).verdict).toBe("It was canceled: changed my mind.");
    const rejected = log(...begun, [2, status("rejected", { message: words("not on a Sunday") })]);
    expect(of(rejected).verdict).toBe("The agent said so: not on a Sunday");
  });

  it("of one whose events are gone tells how it ended", () => {
    const snapshot = { id: "t", status: { state: "completed", at: 5 } } as Task;
    const account = toTimeline([], snapshot, NOW);
    expect(account.isCompacted).toBe(true);
    expect(describeOutcome(account)).toBe("It has ended (completed); how is no longer kept.");
  });

  it("tells a call to another agent by what is on record of it", () => {
    const value = { taskId: "there", contextId: null, eventId: null, reply: null };
    const note = { kind: "step", name: "call 1", nth: 1, value };
    const { notes, moments } = of(
      log([0, created], [0, said("hi")], [0, started(1)], [9, { type: "noted", note }]),
    );
    expect(notes[0]).toMatchObject({ name: "call 1", called: "task there", withinMs: 9 });
    expect(moments.at(-1)).toMatchObject({ what: "call", text: "call 1: task there" });
  });
});

it.each([
  [3, "3 ms"],
  [1_234, "1.2 s"],
  [125_000, "2 min 5 s"],
  [11_400_000, "3 h 10 min"],
  [200_000_000, "2 d 7 h"],
])("%i ms is %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
