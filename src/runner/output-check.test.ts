import { expect, test } from "vitest";
import type { Json } from "../lib/json.ts";
import { LIMITS, type StepRecord } from "../model/index.ts";
import type { AgentEvent } from "../ports/index.ts";
import { BadAgentEvent, toNoted, toTaskEvent } from "./output-check.ts";

test("an agent cannot say in a status what only the runner may say", () => {
  const said = {
    type: "status",
    state: "failed",
    broken: true,
    again: true,
    more: 1,
  } as unknown as AgentEvent;
  expect(toTaskEvent(said)).toEqual({ type: "status", state: "failed" });
});

test("what an agent may say in a status stays", () => {
  const said: AgentEvent = {
    type: "status",
    state: "input-required",
    asks: ["a"],
    metadata: { b: 1 },
    message: { messageId: "m", role: "agent", parts: [{ kind: "text", text: "c" }] },
  };
  expect(toTaskEvent(said)).toEqual(said);
});

/** `{ 1: { 1: … } }`: with numbers as names, the engine's serialiser has no short cut. */
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

test("what an agent says is nested no deeper than any serialiser can write", () => {
  expect(toTaskEvent(data(nested(200)))).toEqual(data(nested(200)));
  for (const depth of [LIMITS.eventDepthMax + 1, 3_000, 100_000])
    expect(() => toTaskEvent(data(nested(depth)))).toThrow(BadAgentEvent);
  const note = (value: Json): StepRecord => ({ kind: "step", name: "s", nth: 1, value });
  expect(toNoted(note(nested(200))).event).toMatchObject({ type: "noted" });
  for (const depth of [LIMITS.eventDepthMax + 1, 3_000, 100_000])
    expect(() => toNoted(note(nested(depth)))).toThrow(BadAgentEvent);
});

test("streamed words may be any text, also half of a surrogate pair, whose other half comes next", () => {
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
