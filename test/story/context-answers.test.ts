import { describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { createTestServer, taskMatchers } from "../../src/testing/index.ts";
import "../support/task-matchers.ts";

expect.extend(taskMatchers);

/** Answers of clients that name only the context: `@google/adk`, `@ag-ui/a2a` and `a2a-ai-provider` send no task id. */

const asker: AgentDefinition = {
  name: "asker",
  run: (task, ctx) => (task.turn === 1 ? ctx.ask(`${task.text}?`) : ctx.text(`${task.text}!`)),
};

describe("a message with only a context id", () => {
  it("answers the one task of the context that waits", async () => {
    await using server = await createTestServer(asker);
    const first = await server.send("one");
    const { contextId } = first;
    const answer = await server.send("two", { contextId });
    expect(answer).toComplete("two!");
    expect(answer.id).toBe(first.id);
    const next = await server.send("three", { contextId });
    expect(next.id).not.toBe(first.id);
    const inV03 = await server.caller({ dialect: "v0.3" }).send("four", { contextId });
    expect(inV03).toComplete("four!");
    expect(inV03.id).toBe(next.id);
  });

  it("begins a new task where two wait, where none waits, and of another caller's context", async () => {
    await using server = await createTestServer({ ...asker, turns: "parallel" });
    const first = await server.send("one");
    const { contextId } = first;
    // A task id that is new to the server is refused, so the second task begins in another way: the first one is answered.
    await first.answer("done");
    const second = await server.send("two", { contextId });
    const third = await server.caller({ dialect: "langgraph" }).send("three", { contextId });
    expect(third).toAsk("three?");
    const ambiguous = await server.send("four", { contextId });
    expect([second.id, third.id]).not.toContain(ambiguous.id);
    expect(ambiguous).toAsk("four?");
    expect(await server.send("five", { contextId: "another" })).toAsk("five?");
  });

  it("begins a new task if the agent chose so", async () => {
    await using server = await createTestServer({ ...asker, contextAnswers: false });
    const first = await server.send("one");
    const second = await server.send("two", { contextId: first.contextId });
    expect(second.id).not.toBe(first.id);
    expect(second).toAsk("two?");
  });
});
