import { describe, expect, it } from "vitest";
import { LIMITS, type Seq, type Step, type Task, type TaskEvent, toTextAppend } from "../model/index.ts";
import type { Dialect, PushSubscription } from "../ports/index.ts";
import { firstParcel } from "./payload.ts";

const TASK = { id: "t", status: { state: "working", at: 0 } } as unknown as Task;
const step = (seq: number, event: TaskEvent | null): Step => ({
  seq: seq as Seq,
  at: seq,
  taskId: "t" as never,
  contextId: "c" as never,
  event,
  task: TASK,
});
const words = (seq: number, text: string, artifactId = "a"): Step =>
  step(seq, toTextAppend(artifactId, text));
const status = (seq: number): Step => step(seq, { type: "status", state: "working" });
const usage = (seq: number): Step => step(seq, { type: "usage", usage: {} });

const delivery = (more: Partial<PushSubscription> = {}): PushSubscription => ({
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

/** Says what it is asked to say, and nothing of what a task has cost. */
const encode: Dialect["encodePush"] = ({ event }) => {
  if (event?.type === "usage") return null;
  const said =
    event?.type === "artifact" ? event.artifact.parts.map(part => "text" in part && part.text) : [];
  return { type: "x", body: [event?.type ?? "task", ...said] as string[] };
};
const first = (steps: readonly Step[], more: Partial<PushSubscription> = {}): unknown => {
  const parcel = firstParcel(delivery(more), steps, encode);
  return parcel && [parcel.said.body, parcel.seq, parcel.isWords];
};

describe("the first thing to deliver", () => {
  it("is the first step of which there is something to say", () => {
    expect(first([usage(1), status(2), status(3)])).toEqual([["status"], 2, false]);
    expect(first([usage(1), usage(2)])).toBeNull();
    expect(first([])).toBeNull();
  });

  it("is the task as it stood, if that is wanted and not delivered yet", () => {
    const opening = { opening: "task", start: 4 as Seq } as const;
    const steps = [words(5, "e"), words(6, "f"), status(7)];
    expect(first(steps, { ...opening, cursor: 4 as Seq })).toEqual([["task"], 5, false]);
    expect(first(steps.slice(1), { ...opening, cursor: 5 as Seq })).toEqual([["artifact", "f"], 6, true]);
    expect(first([usage(5), status(6)], { ...opening, cursor: 4 as Seq })).toEqual([["task"], 5, false]);
  });

  it("is the task as it ended, if its events are gone", () => {
    const opening = { opening: "task", start: 4 as Seq, place: 4 as Seq } as const;
    for (const more of [opening, {}]) expect(first([step(9, null)], more)).toEqual([["task"], 9, false]);
  });

  it("is words of one artifact in one go, up to anything else", () => {
    const steps = [words(1, "a"), words(2, "b"), status(3), words(4, "c")];
    expect(first(steps)).toEqual([["artifact", "ab"], 2, true]);
    expect(first([words(1, "a"), words(2, "b", "other")])).toEqual([["artifact", "a"], 1, true]);
  });

  it("is the same words as at the first attempt, however many have come since", () => {
    const steps = [usage(1), words(2, "a"), words(3, "b"), words(4, "c")];
    expect(first(steps)).toEqual([["artifact", "abc"], 4, true]);
    expect(first(steps, { until: 3 as Seq })).toEqual([["artifact", "ab"], 3, true]);
    expect(first(steps, { until: 2 as Seq })).toEqual([["artifact", "a"], 2, true]);
  });

  it("is not more words than a receiver may like", () => {
    const long = "x".repeat(LIMITS.pushWordsCharsMax - 1);
    const parcel = firstParcel(delivery(), [words(1, "a"), words(2, long), words(3, "bc")], encode);
    expect(parcel?.seq).toBe(2);
  });
});
