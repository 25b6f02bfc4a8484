import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The AI SDK's provider for OpenAI-compatible endpoints, unmodified: agents are its models. */

const teller: AgentDefinition = {
  name: "teller",
  async *run(task, ctx) {
    ctx.usage({ inputTokens: 3, outputTokens: 2 });
    yield "You said: ";
    yield task.text;
  },
};
const failing: AgentDefinition = { name: "failing", run: (_task, ctx) => ctx.fail("It is broken") };

let server: TestServer;
beforeAll(async () => {
  server = await serve([teller, failing]);
});
afterAll(() => server.stop());

const model = (name: string) =>
  createOpenAICompatible({ name: "dragoman", baseURL: `${server.url}/v1`, includeUsage: true }).chatModel(
    name,
  );

test("a text is generated, with its usage", async () => {
  const { text, usage, finishReason } = await generateText({ model: model("teller"), prompt: "hello" });
  expect([text, finishReason]).toEqual(["You said: hello", "stop"]);
  expect(usage).toMatchObject({ inputTokens: 3, outputTokens: 2 });
});

test("a text is streamed", async () => {
  const { textStream } = streamText({ model: model("teller"), prompt: "hello" });
  const chunks: string[] = [];
  for await (const chunk of textStream) chunks.push(chunk);
  expect(chunks.join("")).toBe("You said: hello");
  expect(chunks.length).toBeGreaterThan(1);
});

test("errors are those of the API", async () => {
  const unknown = generateText({ model: model("nobody"), prompt: "hello", maxRetries: 0 });
  await expect(unknown).rejects.toMatchObject({ statusCode: 404 });
  const failed = generateText({ model: model("failing"), prompt: "hello", maxRetries: 0 });
  await expect(failed).rejects.toThrow("It is broken");
});
