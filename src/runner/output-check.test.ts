import { expect, test } from "vitest";
import type { Json } from "../lib/json.ts";
import { LIMITS, type StepRecord } from "../model/index.ts";
import type { AgentEvent } from "../ports/index.ts";
import { BadAgentEvent, toStepEvent, toTaskEvent } from "./output-check.ts";

test("an agent cannot set the members of a status that only the runner may set", () => {
  const status = {
    type: "status",
    state: "failed",
    broken: true,
    again: true,
    more: 1,
  } as unknown as AgentEvent;
  expect(toTaskEvent(status)).toEqual({ type: "status", state: "failed" });
});

test("the other members of a status are kept", () => {
  const status: AgentEvent = {
    type: "status",
    state: "input-required",
    asks: ["a"],
    metadata: { b: 1 },
    message: { messageId: "m", role: "agent", parts: [{ kind: "text", text: "c" }] },
  };
  expect(toTaskEvent(status)).toEqual(status);
});

/** `{ 1: { 1: … } }`: with numeric names V8's serializer has no fast path. */
function nested(depth: number): Json {
  let value: Json = 1;
  for (let i = 0; i < depth; i++) value = { 1: value };
  return value;
}
const data = (value: Json): AgentEvent => ({
  type: "artifact",
  artifact: { artifactId: "a", parts: [{ kind: "data", data: value }] },
  append: false,
  last: false,
  join: false,
});
const usage = (counters: unknown): AgentEvent => ({ type: "usage", usage: counters }) as AgentEvent;

test("events are nested no deeper than any serializer can write", () => {
  expect(toTaskEvent(data(nested(200)))).toEqual(data(nested(200)));
  for (const depth of [LIMITS.eventDepthMax + 1, 3_000, 100_000])
    expect(() => toTaskEvent(data(nested(depth)))).toThrow(BadAgentEvent);
  const step = (value: Json): StepRecord => ({ kind: "step", name: "s", nth: 1, value });
  expect(toStepEvent(step(nested(200))).event).toMatchObject({ type: "noted" });
  for (const depth of [LIMITS.eventDepthMax + 1, 3_000, 100_000])
    expect(() => toStepEvent(step(nested(depth)))).toThrow(BadAgentEvent);
});

test("streamed text may be half of a surrogate pair, whose other half comes next", () => {
  const half: AgentEvent = {
    type: "artifact",
    artifact: { artifactId: "a", parts: [{ kind: "text", text: "\ud83d\u0000\r\n" }] },
    append: true,
    last: false,
    join: true,
  };
  expect(toTaskEvent(half)).toEqual(half);
});

test("counters of usage have names and numbers that every store can add up", () => {
  expect(toTaskEvent(usage({ "input tokens": 12.5, refund: -3 }))).toMatchObject({ type: "usage" });
  const wrong: readonly unknown[] = [
    { "a\u0000b": 1 },
    { "a\nb": 1 },
    { "\ud800": 1 },
    { "": 1 },
    { ["x".repeat(300)]: 1 },
    { a: Number.NaN },
    { a: 1e300 },
    { a: "1" },
    Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`c${i}`, 1])),
    [1],
    5,
  ];
  for (const counters of wrong) expect(() => toTaskEvent(usage(counters))).toThrow(BadAgentEvent);
});
