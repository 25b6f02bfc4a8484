import { afterEach, describe, expect, test } from "vitest";
import { type AgentDefinition, agent } from "../../src/agent/definition.ts";
import { LIMITS, textOf as wordsOf } from "../../src/model/index.ts";
import { createTestServer } from "../../src/testing/index.ts";
import { openStream, rpc, sendParams, sendParamsV03, until } from "../support/client.ts";
import { createGate } from "../support/gate.ts";
import { serve, type TestServer } from "../support/server.ts";
import { foldText, partsText, stateOf, taskOf, textOf } from "../support/wire.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

/** Sends back the messages that it receives while it runs, until it receives "bye". */
const listener: AgentDefinition = agent({
  name: "listener",
  acceptsWhileWorking: true,
  async *run(task, ctx) {
    yield ctx.text(`${task.text}:`);
    for await (const message of ctx.incoming) {
      yield ctx.text(` ${wordsOf(message.parts)}`);
      if (wordsOf(message.parts) === "bye") break;
    }
    yield ctx.text(".");
  },
});

async function start(...definitions: readonly AgentDefinition[]): Promise<string> {
  const server = await serve(definitions);
  servers.push(server);
  return server.url;
}
const AT_ONCE = { configuration: { returnImmediately: true, historyLength: 0 } };
const send = async (url: string, text: string, message: object = {}) =>
  (await rpc(url, "SendMessage", sendParams(text, message))).body;
const begin = async (url: string, text: string, message: object = {}) =>
  taskOf((await rpc(url, "SendMessage", { ...sendParams(text, message), ...AT_ONCE })).body);
const get = async (url: string, taskId: string) => (await rpc(url, "GetTask", { id: taskId })).body;
const working = (url: string, id: string) => until(async () => stateOf(await get(url, id)) === "working");

describe("a message to a running task", () => {
  test("reaches the run, in the order of arrival and in any dialect; each send is answered when the task settles", async () => {
    const url = await start(listener);
    const first = send(url, "Hello");
    const list = async () => (await rpc(url, "ListTasks", {})).body.result.tasks;
    await until(async () => (await list()).length === 1);
    const taskId = (await list())[0].id;
    await working(url, taskId);
    const at = await begin(url, "one", { taskId });
    expect([at.id, at.status.state]).toEqual([taskId, "TASK_STATE_WORKING"]);
    const second = rpc(url, "message/send", sendParamsV03("two", { taskId }));
    await until(async () => textOf(await get(url, taskId)) === "Hello: one two");
    const third = send(url, "bye", { taskId });
    const bodies = [await first, (await second).body, await third];
    expect(bodies.map(textOf)).toEqual(Array(3).fill("Hello: one two bye."));
    expect(bodies.map(stateOf)).toEqual(Array(3).fill("completed"));
    const history = taskOf(await get(url, taskId)).history;
    expect(history.map((one: { parts: [] }) => partsText(one.parts))).toEqual(["Hello", "one", "two", "bye"]);
  });

  test("can be streamed: the task first, then its updates", async () => {
    const url = await start(listener);
    const { id: taskId } = await begin(url, "Hello");
    await working(url, taskId);
    const events = await (await openStream(url, "SendStreamingMessage", sendParams("bye", { taskId }))).all();
    expect(events[0]?.data.result.task.id).toBe(taskId);
    expect(foldText(events)).toBe("Hello: bye.");
  });

  test("waits for its run, if that has not started", async () => {
    const gate = createGate();
    const first = agent({ ...listener, name: "listener", run: (task, ctx) => slow(task, ctx) });
    async function* slow(...[task, ctx]: Parameters<AgentDefinition["run"]>) {
      if (task.text === "slow") await gate.opened;
      else yield* listener.run(task, ctx) as AsyncIterable<string>;
    }
    const url = await start(first);
    const contextId = "talk";
    await begin(url, "slow", { contextId });
    const { id: taskId } = await begin(url, "Hello", { contextId });
    expect((await begin(url, "one", { taskId })).status.state).toBe("TASK_STATE_SUBMITTED");
    const last = send(url, "bye", { taskId });
    gate.open();
    expect(textOf(await last)).toBe("Hello: one bye.");
  });

  test("is refused if the agent accepts none, and when the task has ended", async () => {
    const gate = createGate();
    const deaf = agent({ name: "deaf", replies: "task", run: () => gate.opened.then(() => "done") });
    const url = await start(listener, deaf);
    const { id } = await begin(`${url}/agents/deaf`, "Hello");
    const refused = await send(`${url}/agents/deaf`, "one", { taskId: id });
    expect(refused.error).toMatchObject({
      code: -32004,
      message: expect.stringContaining("still being worked on"),
    });
    gate.open();
    const { id: taskId } = await begin(url, "Hello");
    await send(url, "bye", { taskId });
    expect((await send(url, "late", { taskId })).error).toMatchObject({ code: -32004 });
  });

  test("is refused beyond the maximum that a run accepts", async () => {
    const url = await start(listener);
    const { id: taskId } = await begin(url, "Hello");
    const batch = (count: number) =>
      Promise.all(Array.from({ length: count }, () => begin(url, ".", { taskId })));
    for (let sent = 0; sent < LIMITS.incomingMax; sent += 100) await batch(100);
    expect((await send(url, "one too many", { taskId })).error.message).toContain("at most 1000 messages");
  });

  test("ends nothing by itself: the iterator ends with the run, and when the task is canceled", async () => {
    const ends: string[] = [];
    const busy = agent({
      ...listener,
      name: "busy",
      async *run(task, ctx) {
        const listening = (async () => {
          for await (const message of ctx.incoming) ends.push(wordsOf(message.parts));
          ends.push(`${task.text} ended`);
        })();
        yield ctx.text("busy");
        if (task.text === "for ever") await listening;
      },
    });
    const url = await start(busy);
    expect(stateOf(await send(url, "shortly"))).toBe("completed");
    await until(() => ends.at(-1) === "shortly ended");
    const { id } = await begin(url, "for ever");
    await begin(url, "heard", { taskId: id });
    await until(() => ends.includes("heard"));
    const { body } = await rpc(url, "CancelTask", { id });
    expect(stateOf(body)).toBe("canceled");
    expect(ends.at(-1)).toBe("for ever ended");
  });
});

test("after a crash a run receives all messages of its turn again, and then the new ones", async () => {
  const trail: string[] = [];
  const patient = agent({
    name: "patient",
    acceptsWhileWorking: true,
    async *run(task, ctx) {
      for await (const { parts } of ctx.incoming) {
        const text = wordsOf(parts);
        trail.push(`${ctx.attempt} ${text}`);
        if (task.turn === 1) return yield ctx.ask("Go on?");
        yield ctx.text(`${ctx.attempt} ${text};`);
        if (text === "bye") break;
      }
      yield ctx.text(" all");
    },
  });
  await using server = await createTestServer(patient);
  const task = await server.start("Hello");
  const say = (text: string) => server.start(text, { taskId: task.id });
  await say("of the first turn");
  await task.settled();
  for (const text of ["yes", "one", "two"]) await say(text);
  await task.until(({ text }) => text === "1 one;1 two;");
  await server.crash();
  await task.until(({ text }) => text === "2 one;2 two;");
  expect((await task.answer("bye")).text).toBe("2 one;2 two;2 bye; all");
  expect(trail).toEqual(["1 of the first turn", "1 one", "1 two", "2 one", "2 two", "2 bye"]);
});
