import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { rpcResult, untilState, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The official client of the OpenAI API, unmodified. */

const AGENTS: readonly AgentDefinition[] = [
  {
    name: "writer",
    inputModes: ["*/*"],
    async *run(task, ctx) {
      yield ctx.text("Hello ", { name: "reasoning" });
      yield ctx.text("You said: ");
      yield ctx.text(task.text);
      ctx.usage({ inputTokens: 3, outputTokens: 4 });
      for (const { name, mediaType } of task.files) yield ctx.text(` [${name} ${mediaType}]`);
    },
  },
  {
    name: "asker",
    run: (task, ctx) => (task.turn === 1 ? ctx.ask("Where to?") : ctx.text(`To ${task.text}`)),
  },
  {
    name: "historian",
    run: async (task, ctx) => {
      const earlier = [...(await ctx.history), ...task.history.slice(0, -1)];
      return earlier
        .map(
          ({ role, parts }) =>
            `${role}: ${parts.map(one => (one.kind === "text" ? one.text : "?")).join("")}`,
        )
        .join(" | ");
    },
  },
  { name: "failing", run: (_task, ctx) => ctx.fail("out of paper") },
  { name: "refusing", run: (_task, ctx) => ctx.reject("not today") },
  {
    name: "counter",
    outputSchema: { type: "object", properties: { words: { type: "number" } } },
    run: (task, ctx) => ctx.data({ words: task.text.split(" ").length }),
  },
  {
    name: "pair",
    async *run(task, ctx) {
      yield ctx.text(task.text, { artifactId: "a" });
      yield ctx.text("\u0000", { artifactId: "b" });
      yield ctx.text(`${task.text}.`, { artifactId: "c" });
    },
  },
  {
    name: "waiting",
    replies: "task",
    async *run(_task, ctx) {
      yield ctx.text("I wait. ");
      await new Promise<void>(resolve => ctx.signal.addEventListener("abort", () => resolve()));
    },
  },
];

let server: TestServer;
let client: OpenAI;
beforeAll(async () => {
  server = await serve(AGENTS);
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "unused" });
});
afterAll(() => server.stop());

const chat = (model: string, content: string, more: object = {}) =>
  client.chat.completions.create({ model, messages: [{ role: "user", content }], ...more });

describe("models", () => {
  it("every agent is a model", async () => {
    const models = await client.models.list();
    expect(models.data.map(model => model.id)).toEqual(AGENTS.map(agent => agent.name));
    expect(await client.models.retrieve("writer")).toMatchObject({ id: "writer", object: "model" });
  });

  it("below the path of an agent it is the only one", async () => {
    const own = new OpenAI({ baseURL: `${server.url}/agents/writer/v1`, apiKey: "unused" });
    expect((await own.models.list()).data.map(model => model.id)).toEqual(["writer"]);
    const refused = own.chat.completions.create({
      model: "asker",
      messages: [{ role: "user", content: "x" }],
    });
    await expect(refused).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  });
});

describe("chat completions", () => {
  it("a completion with usage", async () => {
    const completion = await chat("writer", "hi");
    expect(completion.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { role: "assistant", content: "You said: hi", reasoning_content: "Hello " },
    });
    expect(completion.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 });
  });

  it("a stream, with the helper that joins it", async () => {
    const stream = client.chat.completions.stream({
      model: "writer",
      messages: [{ role: "user", content: "hi" }],
      stream_options: { include_usage: true },
    });
    const pieces: string[] = [];
    stream.on("content", delta => void pieces.push(delta));
    const completion = await stream.finalChatCompletion();
    expect(pieces.filter(Boolean)).toEqual(["You said: ", "hi"]);
    expect(completion).toMatchObject({
      choices: [{ message: { content: "You said: hi" }, finish_reason: "stop" }],
      usage: { total_tokens: 7 },
    });
  });

  it("images and files are files of the message", async () => {
    const png = "data:image/png;base64,iVBORw0KGgo=";
    const completion = await client.chat.completions.create({
      model: "writer",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: png } },
            { type: "file", file: { filename: "a.csv", file_data: "data:text/csv;base64,YQ==" } },
          ],
        },
      ],
    });
    expect(completion.choices[0]?.message.content).toMatch(
      /^You said: look \[.* image\/png\] \[a.csv text\/csv\]$/,
    );
  });

  it("the messages before the last one are the history of the agent", async () => {
    const completion = await client.chat.completions.create({
      model: "historian",
      messages: [
        { role: "system", content: "Be brief" },
        { role: "user", content: "one" },
        { role: "assistant", content: "two" },
        { role: "user", content: "three" },
      ],
    });
    expect(completion.choices[0]?.message.content).toBe("user: Be brief | user: one | agent: two");
  });

  it("a question is the answer, and is answered in its context", async () => {
    const headers = { "X-Context-Id": "trip" };
    const messages = [{ role: "user" as const, content: "Book a flight" }];
    const first = await client.chat.completions.create({ model: "asker", messages }, { headers });
    expect(first).toMatchObject({
      choices: [{ message: { content: "Where to?" }, finish_reason: "stop" }],
      metadata: { state: "input-required", context_id: "trip" },
    });
    const second = await client.chat.completions.create(
      {
        model: "asker",
        messages: [
          ...messages,
          { role: "assistant", content: "Where to?" },
          { role: "user", content: "Rome" },
        ],
      },
      { headers },
    );
    expect(second.choices[0]?.message.content).toBe("To Rome");
  });

  it("structured output, where the agent declares it", async () => {
    const format = { response_format: { type: "json_object" as const } };
    expect((await chat("counter", "one two", format)).choices[0]?.message.content).toBe('{"words":2}');
    await expect(chat("writer", "hi", format)).rejects.toMatchObject({
      status: 400,
      param: "response_format",
    });
    const stream = client.chat.completions.stream({
      model: "counter",
      messages: [{ role: "user", content: "a" }],
      ...format,
    });
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('{"words":1}');
  });

  it("a refusal is a refusal, a failure is an error that is not repeated", async () => {
    expect((await chat("refusing", "x")).choices[0]?.message).toMatchObject({
      content: null,
      refusal: "not today",
    });
    const before = server.log.lines.length;
    const error = await chat("failing", "x").catch(one => one);
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({
      status: 500,
      code: "agent_failed",
      message: expect.stringContaining("out of paper"),
    });
    expect(server.log.lines.length - before).toBeLessThan(3);
    const stream = await client.chat.completions.create({
      model: "failing",
      stream: true,
      messages: [{ role: "user", content: "x" }],
    });
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: "agent_failed" });
  });
});

describe("what agents do not do is refused", () => {
  it.each([
    ["an unknown model", { model: "nobody" }, 404, "model", "model_not_found"],
    ["two answers", { n: 2 }, 400, "n", null],
    ["log probabilities", { logprobs: true }, 400, "logprobs", null],
    ["a forced tool", { tool_choice: "required", tools: [] }, 400, "tool_choice", null],
    ["no messages", { messages: [] }, 400, "messages", null],
    [
      "the result of a tool",
      { messages: [{ role: "tool", tool_call_id: "x", content: "1" }] },
      400,
      "messages[0]",
      null,
    ],
    [
      "half a conversation",
      { messages: [{ role: "assistant", content: "hi" }] },
      400,
      "messages[0].role",
      null,
    ],
    [
      "an image that is none",
      {
        messages: [
          {
            role: "user",
            content: [{ type: "image_url", image_url: { url: "data:image/png;base64,YQ==" } }],
          },
        ],
      },
      400,
      "messages[0].content[0].image_url.url",
      null,
    ],
  ])("%s", async (_what, change, status, param, code) => {
    const body = { model: "writer", messages: [{ role: "user" as const, content: "x" }], ...change };
    const error = await client.chat.completions.create(body as never).catch(one => one);
    expect(error).toMatchObject({ status, code });
    if (code !== "model_not_found") expect(error.param).toBe(param);
  });
});

describe("responses", () => {
  it("a response, and the next one after it", async () => {
    const first = await client.responses.create({ model: "writer", input: "hi", metadata: { label: "x" } });
    expect(first).toMatchObject({
      status: "completed",
      output_text: "You said: hi",
      metadata: { label: "x" },
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    });
    const next = await client.responses.create({
      model: "historian",
      input: "and?",
      conversation: first.conversation?.id as string,
    });
    expect(next.conversation?.id).toBe(first.conversation?.id);
    const later = await client.responses.create({
      model: "writer",
      input: "again",
      previous_response_id: first.id,
    });
    expect(later).toMatchObject({ previous_response_id: first.id, conversation: first.conversation });
    expect(await client.responses.retrieve(first.id)).toMatchObject({
      id: first.id,
      output_text: "You said: hi",
    });
  });

  it("a stream, with the helper that joins it", async () => {
    const stream = client.responses.stream({ model: "writer", input: "hi" });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types[0]).toBe("response.created");
    expect(types.at(-1)).toBe("response.completed");
    const response = await stream.finalResponse();
    expect(response.output_text).toBe("You said: hi");
    expect(response.output.map(item => item.type)).toEqual(["reasoning", "message"]);
  });

  it.each(["hi", "\u0000", '"\\u0000"', "\u2028é"])(
    "a stream ends with the response as it is retrieved: %j",
    async input => {
      const metadata = { label: "\u0000" };
      const call = { model: "pair", input, metadata, stream: true } as const;
      const last = (await Array.fromAsync(await client.responses.create(call))).at(-1);
      const { id, output } = (last as { readonly response: OpenAI.Responses.Response }).response;
      expect(await client.responses.retrieve(id)).toMatchObject({ output, metadata });
      expect(output.map(item => (item.type === "message" ? item.content : undefined))).toMatchObject([
        [{ text: input }],
        [{ text: "\u0000" }],
        [{ text: `${input}.` }],
      ]);
    },
  );

  it("a stream is resumed after any of its events", async () => {
    const events: { sequence_number: number }[] = [];
    let id = "";
    for await (const event of await client.responses.create({ model: "writer", input: "hi", stream: true })) {
      events.push(event as never);
      if (event.type === "response.created") id = event.response.id;
    }
    expect(events.map(one => one.sequence_number)).toEqual(events.map((_, i) => i));
    for (const after of [0, 3, events.length - 2]) {
      const rest = await client.responses.retrieve(id, { stream: true, starting_after: after });
      expect(await Array.fromAsync(rest)).toEqual(events.slice(after + 1));
    }
    expect(await client.responses.stream({ response_id: id }).finalResponse()).toMatchObject({ id });
  });

  it("works in the background, is polled, and is canceled", async () => {
    const started = await client.responses.create({ model: "waiting", input: "go", background: true });
    expect(started.status).toMatch(/queued|in_progress/);
    const taskId = started.id.slice("resp_".length);
    await untilState(`${server.url}/agents/waiting`, taskId, "working");
    expect((await client.responses.retrieve(started.id)).status).toBe("in_progress");
    const canceled = await client.responses.cancel(started.id);
    expect(canceled.status).toBe("cancelled");
    expect((await client.responses.retrieve(started.id)).status).toBe("cancelled");
    const quick = await client.responses.create({ model: "writer", input: "go", background: true });
    await expect.poll(async () => (await client.responses.retrieve(quick.id)).status).toBe("completed");
  });

  it("a question is answered by the next response, also for a task of A2A", async () => {
    const url = `${server.url}/agents/asker`;
    const { task } = await rpcResult(url, "SendMessage", V1.sendParams("Book"));
    const asked = await client.responses.retrieve(task.id);
    expect(asked).toMatchObject({ output_text: "Where to?", metadata: { state: "input-required" } });
    const answered = await client.responses.create({
      model: "asker",
      input: "Rome",
      previous_response_id: asked.id,
    });
    expect(answered).toMatchObject({ id: `${asked.id}.2`, output_text: "To Rome" });
    await expect(client.responses.retrieve(asked.id)).rejects.toMatchObject({
      status: 400,
      param: "response_id",
    });
    const events = await Array.fromAsync(await client.responses.retrieve(asked.id, { stream: true }));
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: { output: [{ content: [{ text: "Where to?" }] }] },
    });
    const items = await client.responses.inputItems.list(answered.id);
    expect(items.data).toMatchObject([{ role: "user", content: [{ type: "input_text", text: "Rome" }] }]);
  });

  it("errors have the form of the API", async () => {
    await expect(client.responses.retrieve("resp_none")).rejects.toMatchObject({
      status: 404,
      code: "response_not_found",
    });
    await expect(
      client.responses.create({ model: "writer", input: "x", previous_response_id: "resp_none" }),
    ).rejects.toMatchObject({
      status: 400,
      param: "previous_response_id",
      code: "previous_response_not_found",
    });
    const failed = await client.responses.create({ model: "failing", input: "x" });
    expect(failed).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "out of paper" },
    });
    await expect(
      client.responses.create({
        model: "writer",
        input: [{ type: "function_call_output", call_id: "x", output: "1" }],
      }),
    ).rejects.toMatchObject({ status: 400, param: "input[0].type" });
  });
});

it("an API that agents do not have is not found, and the error says what there is", async () => {
  const call = client.embeddings.create({ model: "writer", input: "x" });
  await expect(call).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  await expect(call).rejects.toMatchObject({
    status: 404,
    type: "invalid_request_error",
    code: "unknown_url",
    message:
      "404 Unknown request URL: POST /v1/embeddings. This server has models, chat/completions and responses",
  });
});
