import { expect, it } from "vitest";
import { Fault, LIMITS, type TaskEvent, type TaskId, toTextAppend } from "../../model/index.ts";
import { appendToTail, type LogTail } from "./log-tail.ts";

const CREATED = {
  type: "created",
  id: "t",
  contextId: "c",
  agent: "echo",
  origin: "v1",
  shown: true,
} as unknown as TaskEvent;

const startedTask = (): LogTail => {
  const tail: LogTail = {
    taskId: "t" as TaskId,
    task: null,
    last: null,
    seq: 0,
    steps: [],
    unwrittenChars: 0,
  };
  appendToTail(tail, [CREATED, { type: "started", attempt: 1 }], 1);
  return tail;
};

it("an append that would make a row too long is rejected as a whole and changes nothing", () => {
  const tail = startedTask();
  tail.unwrittenChars = LIMITS.rowCharsMax - 1_000;
  appendToTail(tail, [toTextAppend("a", "short")], 2);
  const before = { ...tail, steps: [...tail.steps] };
  for (const long of [
    toTextAppend("a", "\u0000".repeat(200)),
    { type: "cancel", reason: "x".repeat(1_000) } as const,
  ]) {
    expect(() => appendToTail(tail, [toTextAppend("a", "s"), long], 2)).toThrow(Fault);
    expect(tail).toEqual(before);
  }
});
