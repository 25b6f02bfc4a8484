import { afterEach, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { openStream, rpc, sendParams } from "../support/client.ts";
import { getTask, type Loose, rpcResult, untilState, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { summaryOf } from "../support/wire.ts";

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

let server: TestServer | undefined;
afterEach(() => server?.stop());

const answered = (taskId: string, answers: Record<string, unknown>): object => {
  const resume = Object.entries(answers).map(([id, value]) => ({ id, value }));
  return sendParams("", { taskId, parts: [{ data: { resume } }] });
};
const begin = async (url: string): Promise<Loose> => (await rpcResult(url, V1.send, sendParams("plan"))).task;
const madeOf = (task: Loose): Loose => task.artifacts[0].parts[0].data;

it("the questions have their texts and ids, each with its data", async () => {
  server = await serve([planner]);
  const { status } = await begin(server.url);
  expect(status.message.parts).toEqual([
    { text: "Which seat?\nWhich meal?" },
    { data: { id: "seat", question: "Which seat?" } },
    { data: { id: "meal", question: "Which meal?" } },
    { data: ["fish", "soup"] },
  ]);
});

it("answers that come one by one survive a restart in between", async () => {
  const folder = tempFolder();
  try {
    server = await serve([planner], { data: folder.path });
    const { id } = await begin(server.url);
    const { task } = await rpcResult(server.url, V1.send, answered(id, { seat: "window" }));
    expect(V1.stateOf(task)).toBe("input-required");
    await server.stop();
    server = await serve([planner], { data: folder.path });
    expect(V1.stateOf(await getTask(server.url, id))).toBe("input-required");
    const done = (await rpcResult(server.url, V1.send, answered(id, { meal: "fish" }))).task;
    expect(madeOf(done).answers).toEqual({ seat: "window", meal: "fish" });
  } finally {
    await server?.stop();
    folder.remove();
  }
});

it("a text while several questions are open begins the next turn without answers, also without earlier ones", async () => {
  server = await serve([planner]);
  const { id } = await begin(server.url);
  const plain = (await rpcResult(server.url, V1.send, sendParams("never mind", { taskId: id }))).task;
  expect(madeOf(plain)).toEqual({ text: "never mind", answers: {}, input: {} });
  const other = await begin(server.url);
  await rpcResult(server.url, V1.send, answered(other.id, { seat: 1 }));
  const rest = (await rpcResult(server.url, V1.send, sendParams("soup", { taskId: other.id }))).task;
  expect(madeOf(rest)).toMatchObject({ text: "soup", answers: { seat: 1, meal: "soup" } });
});

it("a repeated answer with the same key is the same answer", async () => {
  server = await serve([planner]);
  const { id } = await begin(server.url);
  const params = answered(id, { seat: 1 });
  const key = { "idempotency-key": "once" };
  const [first, second] = [
    await rpc(server.url, V1.send, params, key),
    await rpc(server.url, V1.send, params, key),
  ];
  expect(second.body.result).toEqual(first.body.result);
  expect((await getTask(server.url, id)).history).toHaveLength(2);
});

it("a stream that answers some of the questions returns the task and ends; a subscription continues", async () => {
  server = await serve([planner]);
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
});

it("a task with half of its answers can be canceled", async () => {
  server = await serve([planner]);
  const { id } = await begin(server.url);
  await rpcResult(server.url, V1.send, answered(id, { seat: 1 }));
  expect(V1.stateOf(await rpcResult(server.url, V1.cancel, { id }))).toBe("canceled");
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
  server = await serve([clumsy]);
  const { task } = await rpcResult(server.url, V1.send, sendParams("hi"));
  await untilState(server.url, task.id, "failed");
  expect(String(server.log.lines.find(line => line.text === "an agent failed")?.facts.err)).toMatch(
    /asks|ids of questions/,
  );
});
