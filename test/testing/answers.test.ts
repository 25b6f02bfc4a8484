import { jsonSchema, ToolLoopAgent, tool } from "ai";
import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../../src/agent/definition.ts";
import { aiSdk } from "../../src/runtime/ai-sdk/index.ts";
import { openai } from "../../src/runtime/openai/index.ts";
import {
  assertTask,
  createTestServer,
  fakeLanguageModel,
  fakeOpenAi,
  readCassette,
  type TestServerOptions,
} from "../../src/testing/index.ts";
import { rpc, sendParams } from "../support/client.ts";
import { serve as serveAtPort, tempFolder } from "../support/server.ts";

/** Recorded answers, and models that answer what a test says. */

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});
async function serve(served: Parameters<typeof createTestServer>[0], options?: TestServerOptions) {
  const server = await createTestServer(served, options);
  opened.push(server.close);
  return server;
}

describe("a cassette", () => {
  let calls = 0;
  const rates = agent({
    name: "rates",
    async *run(task, ctx) {
      if (task.turn === 1) yield ctx.ask("Which currency?");
      const rate = await ctx.step("fetch", () => ({ currency: task.text, call: ++calls }));
      const failed = await ctx.step("flaky", () => Promise.reject(new Error("no answer"))).catch(String);
      yield ctx.text(`${JSON.stringify(rate)} ${failed} ${await ctx.now()}`);
    },
  });
  const question = "?";

  it("of a real task in the store of a server plays back its steps, of every turn", async () => {
    const folder = tempFolder();
    const real = await serveAtPort([rates], { data: folder.path });
    const first = await rpc(real.url, "SendMessage", sendParams(question));
    const { id: taskId } = first.body.result.task;
    const { body } = await rpc(real.url, "SendMessage", sendParams("EUR", { taskId }));
    const cassette = await readCassette(folder.path, taskId);
    await real.stop();
    await expect(readCassette(folder.path, "none")).rejects.toThrow("Task not found");
    folder.remove();
    const before = calls;
    const server = await serve(rates, { cassette: JSON.parse(JSON.stringify(cassette)) });
    const task = await (await server.send(question)).answer("USD");
    assertTask(task).toComplete(body.result.task.artifacts[0].parts[0].text);
    assertTask(task).toHaveSteps(["fetch", "flaky"]);
    expect([calls, cassette.agent, cassette.turns[1]?.text]).toEqual([before, "rates", task.text]);
  });

  it("fails at a step that it does not have, or executes it", async () => {
    const cassette = { agent: "rates", turns: [] };
    const strict = await (await (await serve(rates, { cassette })).send(question)).answer("USD");
    assertTask(strict).toFail(/The cassette has no result of the step "fetch" \(number 1\) in turn 2/);
    const server = await serve(rates, { cassette, missingSteps: "run" });
    assertTask(await (await server.send(question)).answer("USD")).toComplete(/"USD"/);
  });

  it("plays back the model and the tools of the AI SDK, without either", async () => {
    let asked = 0;
    const create = (answers: Parameters<typeof fakeLanguageModel>[0]) =>
      aiSdk(new ToolLoopAgent({ model: fakeLanguageModel(answers), tools: { weather } }), { name: "w" });
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>({
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
      }),
      execute: async ({ city }) => `${++asked}: sunny in ${city}`,
    });
    const recorded = await (
      await serve(create([{ tools: [{ name: "weather", input: { city: "Oslo" } }] }, "Take no coat"]))
    ).send("Oslo?");
    assertTask(recorded).toComplete("Take no coat");
    const played = await (await serve(create([]), { cassette: recorded.cassette })).send("Oslo?");
    assertTask(played).toComplete("Take no coat");
    expect(asked).toBe(1);
  });
});

describe("a model", () => {
  it("that is called more often than the test expects fails the task", async () => {
    const model = fakeLanguageModel(["once"]);
    const server = await serve(aiSdk(new ToolLoopAgent({ model }), { name: "greeter" }));
    assertTask(await server.send("one")).toComplete("once");
    assertTask(await server.send("two")).toFail(/called 2 times, and the test has 1 answers/);
    expect(model.requests.map(({ text }) => text)).toEqual(["one", "two"]);
  });

  it("of an OpenAI-compatible endpoint streams, and reports its usage", async () => {
    const chat = openai({ name: "chat", baseUrl: "http://models.example/v1", model: "any" });
    const model = fakeOpenAi([["Hello, ", "Ada"]]);
    const server = await serve(chat, { outbound: model.fetch });
    const texts: string[] = [];
    for await (const event of server.stream("Ada")) if (event.text !== "") texts.push(event.text);
    expect(texts).toEqual(["Hello, ", "Ada"]);
    expect(model.requests[0]?.text).toBe("Ada");
  });

  it("answers the openai package: text, streams and tools", async () => {
    const { fetch } = fakeOpenAi([
      "Hello",
      ["one ", "two"],
      { tools: [{ name: "weather", input: { city: "Oslo" } }] },
    ]);
    const client = new OpenAI({ apiKey: "none", baseURL: "http://models.example/v1", fetch, maxRetries: 0 });
    const request = { model: "any", messages: [{ role: "user", content: "hi" }] } as const;
    const first = await client.chat.completions.create({ ...request, messages: [...request.messages] });
    expect(first.choices[0]?.message.content).toBe("Hello");
    const stream = await client.chat.completions.create({
      ...request,
      messages: [...request.messages],
      stream: true,
    });
    const texts = (await Array.fromAsync(stream)).map(chunk => chunk.choices[0]?.delta.content ?? "");
    expect(texts.join("")).toBe("one two");
    const called = await client.chat.completions.create({ ...request, messages: [...request.messages] });
    expect(called.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: "weather", arguments: '{"city":"Oslo"}' },
    });
    await expect(client.models.list()).rejects.toThrow("Not found");
  });

  it("of the network is used where the test answers nothing", async () => {
    const caller = agent({
      name: "caller",
      run: async (_task, ctx) => {
        const urls = ["http://one.example/", "http://127.0.0.1:1/"];
        const results = await Promise.all(
          urls.map(url =>
            ctx.outbound.trusted(url).then(
              response => response.text(),
              () => "refused",
            ),
          ),
        );
        return results.join(" ");
      },
    });
    const outbound = (request: Request) =>
      request.url.includes("one.example") ? new Response("fake") : undefined;
    assertTask(await (await serve(caller, { outbound })).send("go")).toComplete("fake refused");
  });
});

it("assertions throw errors that show the task", async () => {
  const server = await serve(agent({ name: "asker", run: (_task, ctx) => ctx.ask("Why?") }));
  const asked = await server.send("hi");
  const all = [
    [() => assertTask(asked).toComplete("x"), /to be completed with "x"; the task .* is input-required/],
    [() => assertTask(asked).toAsk(/how/), /to ask \/how\/; .* says "Why\?"/],
    [() => assertTask(asked).toFail("x"), /to fail with "x"/],
    [() => assertTask(asked).toBeInState("failed"), /to be failed/],
    [() => assertTask(asked).toHaveSteps(["a"]), /to have the steps a; it has none/],
    [() => assertTask(asked).toHaveAttempts(2), /to have 2 attempts, it has 1/],
  ] as const;
  for (const [check, message] of all) expect(check).toThrow(message);
});
