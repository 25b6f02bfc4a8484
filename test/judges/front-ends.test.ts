import { HttpAgent } from "@ag-ui/client";
import { Client } from "@langchain/langgraph-sdk";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import OpenAI from "openai";
import { afterAll, expect, it } from "vitest";
import { until } from "../support/client.ts";
import { RestartableServer } from "../support/restartable-server.ts";

/** Two tasks, four unmodified clients that know nothing of A2A, and two kills. */

const server = new RestartableServer();
afterAll(async () => {
  await server.server?.kill();
  server.remove();
});

const AGENT = `
  if (task.text === "Wait") return await gate("never");
  if (task.turn === 1) {
    yield ctx.text("Looking. ");
    mark("looking");
    await gate("first");
    return yield ctx.ask("Where to?");
  }
  yield ctx.text("To ");
  mark("answering");
  await gate("second");
  yield ctx.text(task.text);
`;

/** LangGraph's client names threads by UUIDs. */
const THREAD = "0190c8a2-0000-7000-8000-000000000001";

const textOf = ({ parts }: UIMessage): string =>
  parts.map(part => (part.type === "text" ? part.text : "")).join("");

async function join(stream: ReadableStream<UIMessageChunk> | null): Promise<UIMessage> {
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream: stream as ReadableStream<UIMessageChunk> }))
    last = message;
  return last as UIMessage;
}

/** Reads until the connection breaks. */
async function drain(stream: ReadableStream<UIMessageChunk> | null): Promise<void> {
  const reader = (stream as ReadableStream<UIMessageChunk>).getReader();
  while (!(await reader.read().catch(() => ({ done: true }))).done);
}

it("a task of A2A is streamed by useChat, answered by AG-UI and read by the OpenAI client, and another one is canceled by LangGraph's, over two kills", async () => {
  await server.start(AGENT);
  const id = await server.begin("Book a flight", { contextId: "trip" });
  await server.untilText(id, "Looking. ");
  const other = await server.begin("Wait", { contextId: THREAD });

  const transport = () => new DefaultChatTransport({ api: `${server.url}/agents/worker/chat` });
  const broken = drain(await transport().reconnectToStream({ chatId: "trip" }));
  await server.server.kill();
  await broken;
  await server.start();
  await until(() => server.trail().length === 2);
  const resumed = await transport().reconnectToStream({ chatId: "trip" });
  server.open("first");
  const asked = await join(resumed);
  expect(textOf(asked)).toBe("Looking. Where to?");
  expect(asked.metadata).toMatchObject({ taskId: id, state: "input-required" });

  const agent = new HttpAgent({ url: `${server.url}/agents/worker/ag-ui`, threadId: "trip" });
  agent.addMessage({ id: "m2", role: "user", content: "Rome" });
  const run = agent.runAgent().catch(() => undefined);
  await server.untilTrail("answering");
  agent.abortRun();
  await run;
  await server.server.kill();
  await server.start();
  server.open("second");

  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "unused" });
  await until(async () => (await client.responses.retrieve(id)).status === "completed");
  const response = await client.responses.retrieve(id);
  expect(response).toMatchObject({
    id: `resp_${id}.2`,
    output_text: "To Rome",
    conversation: { id: "trip" },
  });
  const events = await Array.fromAsync(await client.responses.retrieve(response.id, { stream: true }));
  const deltas = events.flatMap(event => (event.type === "response.output_text.delta" ? [event.delta] : []));
  expect(deltas.join("")).toBe("To Rome");

  const langgraph = new Client({ apiUrl: server.url });
  const [lasting] = await langgraph.runs.list(THREAD);
  expect(lasting?.status).toBe("running");
  await langgraph.runs.cancel(THREAD, lasting?.run_id as string, true);
  const canceled = await client.responses.retrieve(other);
  expect(canceled.status).toBe("cancelled");
  expect((await langgraph.threads.get(THREAD)).status).toBe("idle");
});
