import { afterEach, describe, expect, test } from "vitest";
import { type AgentDefinition, agent } from "../../src/agent/definition.ts";
import { createTestServer, type TestServer as MemoryServer, type TestTask } from "../../src/testing/index.ts";
import { openStream, rpc, sendParams, sendParamsV03, until } from "../support/client.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { serve, type TestServer } from "../support/server.ts";
import { stateOf, taskOf, textOf } from "../support/wire.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const AT_ONCE = { configuration: { returnImmediately: true } };
const contextId = "talk";

/** An agent that waits at a gate when it receives "wait", and asks when it receives "ask". */
async function start(turns: AgentDefinition["turns"]): Promise<{ url: string; gate: Gate; begun: string[] }> {
  const gate = createGate();
  const begun: string[] = [];
  const worker = agent({
    name: "worker",
    replies: "task",
    contextAnswers: false,
    turns,
    async *run(task, ctx) {
      begun.push(task.text);
      if (task.text.startsWith("wait")) await gate.opened;
      if (task.text === "ask") yield ctx.ask("What?");
      yield ctx.text(`heard ${task.text}`);
    },
  });
  const server = await serve([worker]);
  servers.push(server);
  return { url: server.url, gate, begun };
}
const send = async (url: string, text: string, message: object = { contextId }) =>
  (await rpc(url, "SendMessage", sendParams(text, message))).body;
const begin = async (url: string, text: string, message: object = { contextId }) =>
  (await rpc(url, "SendMessage", { ...sendParams(text, message), ...AT_ONCE })).body;

describe('turns: "reject"', () => {
  test("a message is refused while another task of its context is running, over every kind of send", async () => {
    const { url, gate } = await start("reject");
    const first = taskOf(await begin(url, "wait"));
    const refused = await send(url, "two");
    expect(refused.error.message).toBe(
      "The agent is still at an earlier message of this context; wait until it is done",
    );
    expect(JSON.stringify(refused.error.data)).toContain(first.id);
    expect((await begin(url, "two")).error.code).toBe(refused.error.code);
    const older = await rpc(url, "message/send", sendParamsV03("two", { contextId }));
    expect(older.body.error.message).toBe(refused.error.message);
    const stream = await openStream(url, "SendStreamingMessage", sendParams("two", { contextId }));
    expect((await stream.next())?.data.error?.message ?? stream.status).toBeTruthy();
    expect((await rpc(url, "ListTasks", {})).body.result.totalSize).toBe(1);

    expect(textOf(await send(url, "elsewhere", { contextId: "another" }))).toBe("heard elsewhere");
    expect(textOf(await send(url, "no context", {}))).toBe("heard no context");
    gate.open();
    await until(async () => stateOf((await rpc(url, "GetTask", { id: first.id })).body) === "completed");
    expect(textOf(await send(url, "two"))).toBe("heard two");
  });

  test("of many at once one is accepted", async () => {
    const { url, gate, begun } = await start("reject");
    const bodies = await Promise.all(Array.from({ length: 10 }, () => begin(url, "wait")));
    expect(bodies.filter(body => body.result)).toHaveLength(1);
    gate.open();
    await until(() => begun.length === 1);
  });

  test("a task that waits for its caller leaves the context free; its answer is refused while another is running", async () => {
    const { url, gate } = await start("reject");
    const asked = taskOf(await send(url, "ask"));
    const other = taskOf(await begin(url, "wait"));
    expect((await send(url, "this", { taskId: asked.id })).error.message).toContain(
      "earlier message of this context",
    );
    gate.open();
    await until(async () => stateOf((await rpc(url, "GetTask", { id: other.id })).body) === "completed");
    expect(textOf(await send(url, "this", { taskId: asked.id }))).toBe("heard this");
  });
});

test('turns: "parallel": messages of one context run in parallel', async () => {
  const { url, gate, begun } = await start("parallel");
  const waiting = [taskOf(await begin(url, "wait 1")), taskOf(await begin(url, "wait 2"))];
  expect(textOf(await send(url, "three"))).toBe("heard three");
  expect(begun).toEqual(["wait 1", "wait 2", "three"]);
  expect(new Set(waiting.map(task => task.contextId))).toEqual(new Set([contextId]));
  gate.open();
  for (const { id } of waiting)
    await until(async () => stateOf((await rpc(url, "GetTask", { id })).body) === "completed");
});

describe("over a crash", () => {
  let trail: string[];
  let gates: Map<string, Gate>;
  const gateOf = (name: string): Gate => {
    const gate = gates.get(name) ?? createGate();
    gates.set(name, gate);
    return gate;
  };
  let on: MemoryServer;
  const startHere = async (options: Partial<AgentDefinition>): Promise<void> => {
    trail = [];
    gates = new Map();
    const worker = agent({
      ...options,
      name: "worker",
      async *run(task, ctx) {
        if (task.text === "ask") return yield ctx.ask("What?");
        trail.push(`${task.text} ${ctx.attempt}`);
        yield ctx.text(`attempt ${ctx.attempt}`);
        await gateOf(task.text).opened;
      },
    });
    on = await createTestServer(worker);
  };
  afterEach(() => on.close());
  const inAttempt = (number: number, task: TestTask): Promise<TestTask> =>
    task.until(({ text }) => text === `attempt ${number}`);

  test("parallel tasks continue in parallel", async () => {
    await startHere({ turns: "parallel" });
    const tasks = [await on.start("one", { contextId }), await on.start("two", { contextId })];
    for (const task of tasks) await inAttempt(1, task);
    await on.crash();
    for (const task of tasks) await inAttempt(2, task);
    expect(trail.toSorted()).toEqual(["one 1", "one 2", "two 1", "two 2"]);
    for (const name of ["one", "two"]) gateOf(name).open();
    for (const task of tasks) expect((await task.settled()).state).toBe("completed");
  });

  test("the queue of a context keeps the order of arrival, also of an answer to an older task", async () => {
    await startHere({ contextAnswers: false });
    const asked = await on.send("ask", { contextId });
    await inAttempt(1, await on.start("one", { contextId }));
    await on.start("two", { contextId });
    await on.start("three", { taskId: asked.id });
    const last = await on.start("four", { contextId });
    await on.crash();
    for (const name of ["one", "two", "three", "four"]) gateOf(name).open();
    await last.settled();
    expect(trail).toEqual(["one 1", "one 2", "two 1", "three 1", "four 1"]);
  });

  test("a context is still busy after it", async () => {
    await startHere({ turns: "reject" });
    const task = await inAttempt(1, await on.start("one", { contextId }));
    await on.crash();
    await expect(on.send("two", { contextId })).rejects.toThrow("earlier message of this context");
    gateOf("one").open();
    await task.settled();
    gateOf("two").open();
    expect((await on.send("two", { contextId })).state).toBe("completed");
  });
});
