import { expect, test } from "vitest";
import type { AgentEvent } from "../ports.ts";
import { toTaskEvent } from "./events.ts";

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
