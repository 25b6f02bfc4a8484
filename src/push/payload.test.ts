import { describe, expect, it } from "vitest";
import { LIMITS, type Seq, type Step, type Task, type TaskEvent, toTextAppend } from "../model/index.ts";
import type { Dialect, PushSubscription } from "../ports/index.ts";
import { nextPayload } from "./payload.ts";

const TASK = { id: "t", status: { state: "working", at: 0 } } as unknown as Task;
const step = (seq: number, event: TaskEvent | null): Step => ({
  seq: seq as Seq,
  at: seq,
  taskId: "t" as never,
  contextId: "c" as never,
  event,
  task: TASK,
});
const append = (seq: number, text: string, artifactId = "a"): Step =>
  step(seq, toTextAppend(artifactId, text));
const status = (seq: number): Step => step(seq, { type: "status", state: "working" });
const usage = (seq: number): Step => step(seq, { type: "usage", usage: {} });

const subscription = (more: Partial<PushSubscription> = {}): PushSubscription => ({
  config: { id: "c", url: "https://a.example/", origin: "v1", events: "all" },
  key: "k",
  opening: "events",
  scope: {} as never,
  taskId: "t" as never,
  setAt: 0,
  start: 0 as Seq,
  cursor: 0 as Seq,
  state: "live",
  attempts: [],
  ...more,
});

/** Encodes every step but usage. */
const encode: Dialect["encodePush"] = ({ event }) => {
  if (event?.type === "usage") return null;
  const texts =
    event?.type === "artifact" ? event.artifact.parts.map(part => "text" in part && part.text) : [];
  return { type: "x", body: [event?.type ?? "task", ...texts] as string[] };
};
const first = (steps: readonly Step[], more: Partial<PushSubscription> = {}): unknown => {
  const payload = nextPayload(subscription(more), steps, encode);
  return payload && [payload.encoded.body, payload.seq, payload.isText];
};

describe("the next payload", () => {
  it("is the first step that the dialect encodes", () => {
    expect(first([usage(1), status(2), status(3)])).toEqual([["status"], 2, false]);
    expect(first([usage(1), usage(2)])).toBeNull();
    expect(first([])).toBeNull();
  });

  it("is a snapshot of the task, if the subscription opens with it", () => {
    const opening = { opening: "task", start: 4 as Seq } as const;
    const steps = [append(5, "e"), append(6, "f"), status(7)];
    expect(first(steps, { ...opening, cursor: 4 as Seq })).toEqual([["task"], 5, false]);
    expect(first(steps.slice(1), { ...opening, cursor: 5 as Seq })).toEqual([["artifact", "f"], 6, true]);
    expect(first([usage(5), status(6)], { ...opening, cursor: 4 as Seq })).toEqual([["task"], 5, false]);
  });

  it("is a snapshot of the ended task, if its events were compacted", () => {
    const opening = { opening: "task", start: 4 as Seq, place: 4 as Seq } as const;
    for (const more of [opening, {}]) expect(first([step(9, null)], more)).toEqual([["task"], 9, false]);
  });

  it("joins text of one artifact, up to any other event", () => {
    const steps = [append(1, "a"), append(2, "b"), status(3), append(4, "c")];
    expect(first(steps)).toEqual([["artifact", "ab"], 2, true]);
    expect(first([append(1, "a"), append(2, "b", "other")])).toEqual([["artifact", "a"], 1, true]);
  });

  it("has the same text as at the first attempt, also if more has come since", () => {
    const steps = [usage(1), append(2, "a"), append(3, "b"), append(4, "c")];
    expect(first(steps)).toEqual([["artifact", "abc"], 4, true]);
    expect(first(steps, { until: 3 as Seq })).toEqual([["artifact", "ab"], 3, true]);
    expect(first(steps, { until: 2 as Seq })).toEqual([["artifact", "a"], 2, true]);
  });

  it("has no more text than the limit", () => {
    const long = "x".repeat(LIMITS.pushTextCharsMax - 1);
    const payload = nextPayload(subscription(), [append(1, "a"), append(2, long), append(3, "bc")], encode);
    expect(payload?.seq).toBe(2);
  });
});
