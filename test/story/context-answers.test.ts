import { afterEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { rpc, sendParams } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";
import { partsText, stateOf, taskOf, textOf } from "../support/wire.ts";

/** Answers of clients that name only the context: `@google/adk`, `@ag-ui/a2a` and `a2a-ai-provider` send no task id. */

const asker: AgentDefinition = {
  name: "asker",
  run: (task, ctx) => (task.turn === 1 ? ctx.ask(`${task.text}?`) : ctx.text(`${task.text}!`)),
};

let server: TestServer;
afterEach(() => server.stop());

const send = async (text: string, message: object = {}): Promise<object> =>
  (await rpc(server.url, "SendMessage", sendParams(text, message))).body;
const sendV03 = async (text: string, contextId: string): Promise<object> => {
  const parts = [{ kind: "text", text }];
  const message = { kind: "message", messageId: text, role: "user", parts, contextId };
  return (await rpc(server.url, "message/send", { message })).body;
};

describe("a message with only a context id", () => {
  it("answers the one task of the context that waits", async () => {
    server = await serve([asker]);
    const first = taskOf(await send("one"));
    const answer = await send("two", { contextId: first.contextId });
    expect([taskOf(answer).id, stateOf(answer), textOf(answer)]).toEqual([first.id, "completed", "two!"]);
    const next = await send("three", { contextId: first.contextId });
    expect(taskOf(next).id).not.toBe(first.id);
    const inV03 = await sendV03("four", first.contextId);
    expect([taskOf(inV03).id, stateOf(inV03)]).toEqual([taskOf(next).id, "completed"]);
  });

  it("begins a new task where two wait, where none waits, and of another caller's context", async () => {
    server = await serve([{ ...asker, turns: "parallel" }]);
    const first = taskOf(await send("one"));
    const { contextId } = first;
    // A task id that is new to the server is refused, so the second task begins in another way: the first one is answered.
    await send("done", { contextId, taskId: first.id });
    const second = taskOf(await send("two", { contextId }));
    const orloj = `${server.url}/a2a/asker`;
    const parts = [{ kind: "text", text: "three" }];
    const message = { role: "user", messageId: "x", parts, contextId };
    const third = (await rpc(orloj, "message/send", { message }, { accept: "application/json" })).body;
    expect(stateOf(third)).toBe("input-required");
    const ambiguous = await send("four", { contextId });
    expect([second.id, taskOf(third).id]).not.toContain(taskOf(ambiguous).id);
    expect(partsText(taskOf(ambiguous).status.message.parts)).toBe("four?");
    const elsewhere = await send("five", { contextId: "another" });
    expect(partsText(taskOf(elsewhere).status.message.parts)).toBe("five?");
  });

  it("begins a new task if the agent chose so", async () => {
    server = await serve([{ ...asker, contextAnswers: false }]);
    const first = taskOf(await send("one"));
    const second = await send("two", { contextId: first.contextId });
    expect(taskOf(second).id).not.toBe(first.id);
    expect(stateOf(second)).toBe("input-required");
  });
});
