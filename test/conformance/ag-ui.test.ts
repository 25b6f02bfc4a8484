import { type BaseEvent, HttpAgent } from "@ag-ui/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { aborted, createGate, type Gate } from "../support/gate.ts";
import { rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** `HttpAgent` of AG-UI 1.0, unmodified; it verifies the order of the events by itself. */

let gate: Gate;
const AGENTS: readonly AgentDefinition[] = [
  {
    name: "writer",
    async *run(task, ctx) {
      yield ctx.status("Thinking");
      yield ctx.text("Hm. ", { name: "reasoning" });
      yield ctx.text("You said: ");
      yield ctx.text(task.text);
      yield ctx.data({ count: 1 }, { name: "state" });
      yield ctx.data({ words: 2 }, { name: "counts" });
      yield ctx.file({ name: "a.txt", bytes: new TextEncoder().encode("hi") });
      ctx.usage({ inputTokens: 1, outputTokens: 2 });
    },
  },
  { name: "asker", run: (task, ctx) => (task.turn === 1 ? ctx.ask("Where to?") : `To ${task.text}`) },
  {
    name: "doubter",
    run: (task, ctx) =>
      task.turn === 1
        ? ctx.askAll({ seat: "Which seat?", meal: "Which meal?" })
        : JSON.stringify(task.answers),
  },
  {
    name: "navigator",
    run(task, ctx) {
      const shared = task.message.metadata?.agui as { tools?: { name: string }[] } | undefined;
      if (task.turn === 1)
        return ctx.askAll({
          "call-1": {
            kind: "data",
            data: { tool: shared?.tools?.[0]?.name ?? "none", args: { exact: true } },
          },
        });
      return `You are in ${(task.answers["call-1"] as { city: string }).city}`;
    },
  },
  { name: "failing", run: (_task, ctx) => ctx.fail("out of paper") },
  {
    name: "patient",
    replies: "task",
    async *run(_task, ctx) {
      yield ctx.text("First. ");
      await Promise.race([gate.opened, aborted(ctx.signal)]);
      yield ctx.text("Second.");
    },
  },
];

let server: TestServer;
beforeAll(async () => {
  gate = createGate();
  server = await serve(AGENTS);
});
afterAll(() => server.stop());

function open(name: string, threadId: string) {
  const events: BaseEvent[] = [];
  const agent = new HttpAgent({ url: `${server.url}/agents/${name}/ag-ui`, threadId });
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) });
  return { agent, events, types: () => events.map(({ type }) => type as string) };
}

const say = (agent: HttpAgent, content: string): void =>
  agent.addMessage({ id: `m-${agent.messages.length}`, role: "user", content });

describe("HttpAgent", () => {
  it("steps, reasoning, text, state and data", async () => {
    const { agent, types, events } = open("writer", "t1");
    say(agent, "hi");
    const { newMessages } = await agent.runAgent();
    expect(newMessages.filter(one => one.role === "assistant")).toMatchObject([{ content: "You said: hi" }]);
    expect(agent.state).toEqual({ count: 1 });
    expect(types()[0]).toBe("RUN_STARTED");
    expect(types()).toEqual(
      expect.arrayContaining(["STEP_STARTED", "STEP_FINISHED", "REASONING_MESSAGE_CONTENT", "CUSTOM"]),
    );
    expect(events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      threadId: "t1",
      outcome: { type: "success" },
      usage: [{ inputTokens: 1, outputTokens: 2 }],
    });
  });

  it("a question is an interrupt, and is resumed", async () => {
    const { agent, events } = open("asker", "t2");
    say(agent, "Book");
    await agent.runAgent();
    const [interrupt] = agent.pendingInterrupts;
    expect(interrupt).toMatchObject({ reason: "input_required", message: "Where to?" });
    const resume = [{ interruptId: interrupt?.id as string, status: "resolved" as const, payload: "Rome" }];
    await agent.runAgent({ resume });
    expect(agent.messages.at(-1)).toMatchObject({ role: "assistant", content: "To Rome" });
    expect(events.at(-1)).toMatchObject({ outcome: { type: "success" } });
  });

  it("several questions are several interrupts", async () => {
    const { agent } = open("doubter", "t3");
    say(agent, "Book");
    await agent.runAgent();
    expect(agent.pendingInterrupts.map(({ id }) => id)).toEqual(["seat", "meal"]);
    await agent.runAgent({
      resume: [
        { interruptId: "seat", status: "resolved", payload: "12A" },
        { interruptId: "meal", status: "cancelled" },
      ],
    });
    expect(agent.messages.at(-1)).toMatchObject({ content: '{"seat":"12A","meal":null}' });
  });

  it("the agent calls a tool of the front end, and gets its result", async () => {
    const { agent, events } = open("navigator", "t4");
    say(agent, "Where am I?");
    const tools = [{ name: "locate", description: "Where the user is", parameters: { type: "object" } }];
    await agent.runAgent({ tools });
    expect(events.at(-1)).toMatchObject({ outcome: { type: "success", pendingToolCallIds: ["call-1"] } });
    expect(agent.messages.at(-1)).toMatchObject({
      toolCalls: [{ id: "call-1", function: { name: "locate", arguments: '{"exact":true}' } }],
    });
    agent.addMessage({ id: "r1", role: "tool", toolCallId: "call-1", content: '{"city":"Rome"}' });
    await agent.runAgent({ tools });
    expect(agent.messages.at(-1)).toMatchObject({ content: "You are in Rome" });
  });

  it("results and answers that no task waits for are refused", async () => {
    const { agent } = open("navigator", "t5");
    agent.addMessage({ id: "r1", role: "tool", toolCallId: "call-9", content: "1" });
    await expect(agent.runAgent()).rejects.toThrow("HTTP 400");
    const resume = [{ interruptId: "question:none", status: "resolved" as const, payload: "x" }];
    await expect(open("asker", "t5").agent.runAgent({ resume })).rejects.toThrow("HTTP 400");
  });

  it("a failure is RUN_ERROR", async () => {
    const { agent, events } = open("failing", "t6");
    say(agent, "x");
    await agent.runAgent().catch(() => undefined);
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", message: "out of paper", code: "failed" });
  });

  it("a thread is resumed on another connection, and canceled", async () => {
    const { agent, types } = open("patient", "t7");
    say(agent, "go");
    const running = agent.runAgent();
    await expect.poll(types).toContain("TEXT_MESSAGE_CONTENT");
    const url = `${server.url}/agents/patient/ag-ui/t7`;
    const other = fetch(url).then(reply => reply.text());
    const canceled = await fetch(url, { method: "DELETE" });
    expect(await canceled.json()).toMatchObject({ threadId: "t7", state: "canceled" });
    await running;
    expect(types().at(-1)).toBe("RUN_FINISHED");
    expect(await other).toContain('"outcome":{"type":"cancelled"}');
    expect((await fetch(url)).status).toBe(204);
  });

  it("answers the question of a task of A2A", async () => {
    const url = `${server.url}/agents/asker`;
    const { task } = await rpcResult(url, "SendMessage", V1.sendParams("Book", { contextId: "t8" }));
    const { agent, events } = open("asker", "t8");
    say(agent, "Rome");
    await agent.runAgent();
    expect(events[0]).toMatchObject({ type: "RUN_STARTED", metadata: { taskId: task.id } });
    expect(agent.messages.at(-1)).toMatchObject({ content: "To Rome" });
  });
});
