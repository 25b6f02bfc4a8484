import { expect, it } from "vitest";
import { Fault, LIMITS, type TaskEvent, type TaskId, toTextAppend } from "../../model/index.ts";
import { extend, type LogEnd } from "./log-end.ts";

const CREATED = {
  type: "created",
  id: "t",
  contextId: "c",
  agent: "echo",
  origin: "v1",
  shown: true,
} as unknown as TaskEvent;

const startedTask = (): LogEnd => {
  const end: LogEnd = { taskId: "t" as TaskId, task: null, last: null, seq: 0, steps: [], unwrittenChars: 0 };
  extend(end, [CREATED, { type: "started", attempt: 1 }], 1);
  return end;
};

it("an append that would make one row too long is refused whole, and changes nothing", () => {
  const end = startedTask();
  end.unwrittenChars = LIMITS.rowCharsMax - 1_000;
  extend(end, [toTextAppend("a", "short")], 2);
  const before = { ...end, steps: [...end.steps] };
  for (const long of [
    toTextAppend("a", "\u0000".repeat(200)),
    { type: "cancel", reason: "x".repeat(1_000) } as const,
  ]) {
    expect(() => extend(end, [toTextAppend("a", "s"), long], 2)).toThrow(Fault);
    expect(end).toEqual(before);
  }
});
