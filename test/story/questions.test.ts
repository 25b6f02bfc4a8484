import { expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { createTestServer, taskMatchers } from "../../src/testing/index.ts";
import { openStream, rpc, sendParams } from "../support/client.ts";
import { getTask, type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { serve } from "../support/server.ts";
import "../support/task-matchers.ts";
import { summaryOf } from "../support/wire.ts";

expect.extend(taskMatchers);

/** An agent asks several questions at once, and gets the answers together or one by one. */

const planner: AgentDefinition = {
  name: "planner",
  run(task, ctx) {
    if (task.turn === 1)
      return ctx.askAll({
        seat: "Which seat?",
        meal: ["Which meal?", { kind: "data", data: ["fish", "soup"] }],
      });
    return ctx.data({ text: task.text, answers: task.answers, input: task.input });
  },
};

const answered = (taskId: string, answers: Record<string, unknown>): object => {
  const resume = Object.entries(answers).map(([id, value]) => ({ id, value }));
  return sendParams("", { taskId, parts: [{ data: { resume } }] });
};
const begin = async (url: string): Promise<Loose> => (await rpcResult(url, V1.send, sendParams("plan"))).task;

it("the questions have their texts and ids, each with its data", async () => {
  const server = await serve([planner]);
  const { status } = await begin(server.url);
  expect(status.message.parts).toEqual([
    { text: "Which seat?\nWhich meal?" },
    { data: { id: "seat", question: "Which seat?" } },
    { data: { id: "meal", question: "Which meal?" } },
    { data: ["fish", "soup"] },
  ]);
  await server.stop();
});

it("answers that come one by one survive a restart in between", async () => {
  await using server = await createTestServer(planner);
  const asked = await server.send("plan");
  expect(asked.questions.map(({ id }) => id)).toEqual(["seat", "meal"]);
  expect(await asked.answer({ answers: { seat: "window" } })).toAsk();
  await server.crash();
  expect(await asked.read()).toAsk();
  const done = await asked.answer({ answers: { meal: "fish" } });
  expect(done.data).toMatchObject({ answers: { seat: "window", meal: "fish" } });
});

it("a text while several questions are open begins the next turn without answers, also without earlier ones", async () => {
  await using server = await createTestServer(planner);
  const plain = await server.converse(["plan", "never mind"]);
  expect(plain.data).toEqual({ text: "never mind", answers: {}, input: {} });
  const rest = await server.converse(["plan", { answers: { seat: 1 } }, "soup"]);
  expect(rest.data).toMatchObject({ text: "soup", answers: { seat: 1, meal: "soup" } });
});

it("a repeated answer with the same key is the same answer", async () => {
  const server = await serve([planner]);
  const { id } = await begin(server.url);
  const params = answered(id, { seat: 1 });
  const key = { "idempotency-key": "once" };
  const [first, second] = [
    await rpc(server.url, V1.send, params, key),
    await rpc(server.url, V1.send, params, key),
  ];
  expect(second.body.result).toEqual(first.body.result);
  expect((await getTask(server.url, id)).history).toHaveLength(2);
  await server.stop();
});

it("a stream that answers some of the questions returns the task and ends; a subscription continues", async () => {
  const server = await serve([planner]);
  const { id } = await begin(server.url);
  const watching = await openStream(server.url, V1.subscribe, { id });
  const partial = await (await openStream(server.url, V1.stream, answered(id, { seat: 1 }))).all();
  expect(partial.map(event => summaryOf(event).what)).toEqual(["task input-required"]);
  await rpcResult(server.url, V1.send, answered(id, { meal: 2 }));
  const seen = (await watching.all()).map(event => summaryOf(event).what);
  expect(seen).toEqual([
    "task input-required",
    "status submitted",
    "status working",
    "artifact",
    "status completed",
  ]);
  await server.stop();
});

it("a task with half of its answers can be canceled", async () => {
  await using server = await createTestServer(planner);
  const half = await server.converse(["plan", { answers: { seat: 1 } }]);
  expect(await half.cancel()).toBeInState("canceled");
});

it.each([
  ["in another state", { state: "working", asks: ["a"] }],
  ["without ids", { state: "input-required", asks: [] }],
  ["with ids that are no list", { state: "input-required", asks: "a" }],
  ["with one id twice", { state: "input-required", asks: ["a", "a"] }],
  ["with an id too long", { state: "input-required", asks: ["a".repeat(257)] }],
  ["with too many ids", { state: "input-required", asks: Array.from({ length: 101 }, (_, i) => `${i}`) }],
])("an agent that asks by hand %s has failed", async (_, status) => {
  const clumsy: AgentDefinition = { name: "clumsy", run: () => ({ type: "status", ...status }) as never };
  await using server = await createTestServer(clumsy);
  expect(await server.send("hi")).toFail(/asks|ids of questions/);
});
