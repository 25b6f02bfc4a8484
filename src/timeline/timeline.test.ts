import { describe, expect, it } from "vitest";
import { formatDuration } from "../lib/format.ts";
import type { RecordedEvent, Seq, Task, TaskEvent } from "../model/index.ts";
import { describeOutcome } from "./outcome.ts";
import { toTimeline } from "./timeline.ts";

const created = { type: "created", id: "t", contextId: "c", agent: "a", origin: "v1", shown: true };
const textMessage = (text: string) => ({ messageId: text, role: "user", parts: [{ kind: "text", text }] });
const message = (text: string) => ({ type: "message", message: textMessage(text) });
const started = (attempt: number) => ({ type: "started", attempt });
const status = (state: string, more: object = {}) => ({ type: "status", state, ...more });
const chunk = (artifactId: string) => ({
  type: "artifact",
  artifact: { artifactId, parts: [{ kind: "text", text: "x" }] },
  append: true,
  last: false,
  join: true,
});

/** Events with their times. */
const log = (...events: readonly (readonly [at: number, event: object])[]): readonly RecordedEvent[] =>
  events.map(([at, event], i) => ({ seq: (i + 1) as Seq, at, event: event as TaskEvent }));

const NOW = 10_000;
const toResult = (events: readonly RecordedEvent[]) => {
  const timeline = toTimeline(events, undefined, NOW);
  return { ...timeline, outcome: describeOutcome(timeline) };
};

describe("the timeline of a task", () => {
  it("adds up the time of each phase", () => {
    const events = log(
      [0, created],
      [0, message("hi")],
      [100, started(1)],
      [300, status("input-required", { message: textMessage("how many?") })],
      [1_300, message("two")],
      [1_350, started(2)],
      [1_360, { type: "released" }],
      [1_500, started(3)],
      [1_600, chunk("r")],
      [1_700, chunk("r")],
      [2_000, status("completed")],
    );
    const { waits, attempts, turns, entries, endedAt, outcome } = toResult(events);
    expect(waits).toEqual({ queue: 100 + 50 + 140, run: 200 + 10 + 500, input: 1_000, lost: 0 });
    expect(attempts.map(one => [one.attempt, one.turn, one.queueMs, one.outcome])).toEqual([
      [1, 1, 100, "input-required"],
      [2, 2, 50, "released"],
      [3, 2, 140, "completed"],
    ]);
    expect(turns.map(turn => turn.text)).toEqual(["hi", "two"]);
    expect(entries.filter(entry => entry.what === "artifact").map(entry => entry.text)).toEqual([
      "r: 2 chunks, about 2 bytes in 100 ms",
    ]);
    expect([endedAt, outcome]).toEqual([2_000, "Completed."]);
  });

  it("has the name and the size of output, also of chunks after the first one", () => {
    const first = chunk("r");
    const named = { ...first, append: false, artifact: { ...first.artifact, name: "report.md" } };
    const bytes = { kind: "bytes", bytes: "AAAA", filename: "a.bin" };
    const file = { ...first, artifact: { artifactId: "f", parts: [bytes] } };
    const events = log([0, created], [0, message("hi")], [0, named], [1, file], [2, first], [3, first]);
    expect(toResult(events).entries.flatMap(({ output }) => output ?? [])).toEqual([
      { name: "report.md", chunks: 1, bytes: 1 },
      { name: "a.bin", chunks: 1, bytes: 3 },
      { name: "report.md", chunks: 2, bytes: 2 },
    ]);
  });

  it("shows that a run was interrupted when the next one starts without its end", () => {
    const events = log(
      [0, created],
      [0, message("hi")],
      [0, started(1)],
      [50, chunk("r")],
      [500, started(2)],
      [600, status("failed", { broken: true, message: textMessage("The agent failed.") })],
    );
    const { waits, attempts, outcome } = toResult(events);
    expect(waits).toEqual({ queue: 0, run: 50 + 100, input: 0, lost: 450 });
    expect(attempts.map(one => one.outcome)).toEqual(["interrupted", "broken"]);
    expect(outcome).toBe("Failed after 1 interrupted run: The agent failed.");
  });

  const UNFINISHED: readonly (readonly [string, readonly RecordedEvent[], RegExp])[] = [
    ["queued", log([0, created], [0, message("hi")]), /^Queued since 1970/],
    ["running", log([0, created], [0, message("hi")], [5, started(1)]), /^Running since .* \(run 1\)/],
    [
      "waiting for authorization",
      log([0, created], [0, message("hi")], [5, started(1)], [6, status("auth-required")]),
      /^Waiting for the caller's authorization since/,
    ],
  ];
  it.each(UNFINISHED)("counts up to now while the task is %s", (_, events, expected) => {
    const { outcome, waits } = toResult(events);
    expect(outcome).toMatch(expected);
    expect(Object.values(waits).reduce((sum, one) => sum + one, 0)).toBe(NOW);
  });

  it("names the cause of the end", () => {
    const begun = [
      [0, created],
      [0, message("hi")],
      [0, started(1)],
    ] as const;
    const canceled = log(
      ...begun,
      [1, { type: "cancel", reason: "changed my mind" }],
      [2, status("canceled")],
    );
    expect(toResult(canceled).outcome).toBe("Canceled: changed my mind.");
    const rejected = log(...begun, [2, status("rejected", { message: textMessage("not on a Sunday") })]);
    expect(toResult(rejected).outcome).toBe("Rejected by the agent: not on a Sunday");
  });

  it("has the final state of a task whose events were deleted", () => {
    const snapshot = { id: "t", status: { state: "completed", at: 5 } } as Task;
    const timeline = toTimeline([], snapshot, NOW);
    expect(timeline.isCompacted).toBe(true);
    expect(describeOutcome(timeline)).toBe("Ended (completed); its events were deleted.");
  });

  it("names the task of a call to another agent", () => {
    const value = { taskId: "there", contextId: null, eventId: null, reply: null };
    const note = { kind: "step", name: "call 1", nth: 1, value };
    const { steps, entries } = toResult(
      log([0, created], [0, message("hi")], [0, started(1)], [9, { type: "noted", note }]),
    );
    expect(steps[0]).toMatchObject({ name: "call 1", called: "task there", withinMs: 9 });
    expect(entries.at(-1)).toMatchObject({ what: "call", text: "call 1: task there" });
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
