import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { aborted, createGate, type Gate } from "../support/gate.ts";
import { rpcResult, untilState, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The transport of `useChat`, unmodified. */

let gate: Gate;
const AGENTS: readonly AgentDefinition[] = [
  {
    name: "writer",
    inputModes: ["*/*"],
    async *run(task, ctx) {
      yield ctx.status("Thinking");
      yield ctx.text("Hm. ", { name: "reasoning" });
      yield ctx.text("You said: ");
      yield ctx.text(task.text);
      yield ctx.data({ words: 2 }, { name: "counts" });
      yield ctx.file({ name: "a.txt", bytes: new TextEncoder().encode("hi") });
      ctx.usage({ inputTokens: 1, outputTokens: 2 });
      for (const { mediaType } of task.files) yield ctx.text(` [${mediaType}]`);
    },
  },
  { name: "asker", run: (task, ctx) => (task.turn === 1 ? ctx.ask("Where to?") : `To ${task.text}`) },
  {
    name: "doubter",
    run: (task, ctx) =>
      task.turn === 1 ? ctx.askAll({ seat: "Which seat?", meal: "Which meal?" }) : ctx.data(task.answers),
  },
  {
    name: "historian",
    run: async (task, ctx) =>
      [...(await ctx.history), ...task.history.slice(0, -1)].map(({ role }) => role).join(" ") || "nothing",
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

const transportOf = (agent: string) =>
  new DefaultChatTransport({ api: `${server.url}/agents/${agent}/chat` });
const toMessage = (text: string, ...parts: UIMessage["parts"]): UIMessage => ({
  id: `m-${text}`,
  role: "user",
  parts: [{ type: "text", text }, ...parts],
});

async function send(
  agent: string,
  chatId: string,
  messages: UIMessage[],
  trigger = "submit-message" as const,
) {
  const stream = await transportOf(agent).sendMessages({
    chatId,
    messages,
    trigger,
    messageId: undefined,
    abortSignal: undefined,
  });
  return stream;
}

async function join(stream: ReadableStream<UIMessageChunk>): Promise<UIMessage> {
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message;
  return last as UIMessage;
}

const textOf = ({ parts }: UIMessage): string =>
  parts.map(part => (part.type === "text" ? part.text : "")).join("");

describe("useChat's transport", () => {
  it("text, reasoning, data and files arrive as parts of one message", async () => {
    const png = { type: "file" as const, mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" };
    const message = await join(await send("writer", "chat-1", [toMessage("hi", png)]));
    expect(message).toMatchObject({
      role: "assistant",
      metadata: {
        agent: "writer",
        contextId: "chat-1",
        state: "completed",
        usage: { inputTokens: 1, outputTokens: 2 },
      },
    });
    expect(message.parts).toMatchObject([
      { type: "step-start" },
      { type: "reasoning", text: "Hm. ", state: "done" },
      { type: "text", text: "You said: hi [image/png]", state: "done" },
      { type: "data-counts", data: { words: 2 } },
      { type: "file", mediaType: "text/plain", url: "data:text/plain;base64,aGk=" },
    ]);
  });

  it("a question is answered by the next message of the chat", async () => {
    const first = await join(await send("asker", "trip", [toMessage("Book")]));
    expect(first).toMatchObject({ metadata: { state: "input-required" } });
    expect(textOf(first)).toBe("Where to?");
    const second = await join(await send("asker", "trip", [toMessage("Book"), first, toMessage("Rome")]));
    expect(textOf(second)).toBe("To Rome");
    expect((second.metadata as { taskId: string }).taskId).toBe(
      (first.metadata as { taskId: string }).taskId,
    );
  });

  it("several questions are answered by their ids, and only those that were asked", async () => {
    const first = await join(await send("doubter", "meal", [toMessage("Book")]));
    const ids = first.parts
      .filter(part => part.type === "data-question")
      .map(part => (part as { id: string }).id);
    expect(ids).toEqual(["seat", "meal"]);
    const answer = (data: object[]): UIMessage => ({
      id: "m2",
      role: "user",
      parts: [{ type: "data-resume", data }],
    });
    await expect(send("doubter", "meal", [answer([{ id: "wine", value: "red" }])])).rejects.toMatchObject({
      statusCode: 400,
    });
    const done = await join(
      await send("doubter", "meal", [
        answer([
          { id: "seat", value: "12A" },
          { id: "meal", value: "soup" },
        ]),
      ]),
    );
    expect(done.parts).toContainEqual(expect.objectContaining({ data: { seat: "12A", meal: "soup" } }));
    await expect(send("doubter", "meal", [answer([{ id: "seat", value: "1" }])])).rejects.toThrow("waits");
  });

  it("a chat that was held elsewhere is the history of its first task", async () => {
    const earlier: UIMessage[] = [
      toMessage("one"),
      { id: "a1", role: "assistant", parts: [{ type: "step-start" }, { type: "text", text: "two" }] },
    ];
    expect(textOf(await join(await send("historian", "old", [...earlier, toMessage("three")])))).toBe(
      "user agent",
    );
  });

  it("a failure is an error of the stream", async () => {
    await expect(join(await send("failing", "c", [toMessage("x")]))).rejects.toThrow("out of paper");
  });

  it("resumes after a reload: the whole message so far, then the rest", async () => {
    const reader = (await send("patient", "long", [toMessage("go")])).getReader();
    for (;;) if ((await reader.read()).value?.type === "text-delta") break;
    await reader.cancel();
    const transport = transportOf("patient");
    const resumed = await transport.reconnectToStream({ chatId: "long" });
    gate.open();
    expect(textOf(await join(resumed as ReadableStream<UIMessageChunk>))).toBe("First. Second.");
    expect(await transport.reconnectToStream({ chatId: "long" })).toBeNull();
    expect(await transport.reconnectToStream({ chatId: "unknown" })).toBeNull();
  });

  it("stop cancels the task; the stream of another reader ends", async () => {
    gate = createGate();
    const stream = await send("patient", "stopped", [toMessage("go")]);
    const chunks: UIMessageChunk[] = [];
    const reading = (async () => {
      for await (const chunk of stream) chunks.push(chunk);
    })();
    await expect.poll(() => chunks.some(({ type }) => type === "text-delta")).toBe(true);
    const reply = await fetch(`${server.url}/agents/patient/chat/stopped/stream`, { method: "DELETE" });
    expect(await reply.json()).toMatchObject({ id: "stopped", state: "canceled" });
    await reading;
    expect(chunks.map(({ type }) => type).slice(-3)).toEqual(["abort", "finish-step", "finish"]);
  });

  it("streams a task of A2A that is being worked on", async () => {
    gate = createGate();
    const url = `${server.url}/agents/patient`;
    const { task } = await rpcResult(url, "SendMessage", {
      ...V1.sendParams("go", { contextId: "shared" }),
      configuration: V1.nonBlocking,
    });
    await untilState(url, task.id, "working");
    const stream = await transportOf("patient").reconnectToStream({ chatId: "shared" });
    gate.open();
    expect(textOf(await join(stream as ReadableStream<UIMessageChunk>))).toBe("First. Second.");
  });
});
