import { afterEach, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { openStream, rpc, sendParams, sendParamsV03, until } from "../support/client.ts";
import { aborted, createGate, nextTurn } from "../support/gate.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { foldText, stateOf, summaryOf, taskOf, textOf } from "../support/wire.ts";

const servers: TestServer[] = [];
const folders: ReturnType<typeof tempFolder>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  for (const folder of folders.splice(0)) folder.remove();
});

async function start(
  run: AgentDefinition["run"],
  settings: Partial<ServerSettings> = {},
): Promise<TestServer> {
  const server = await serve([{ name: "worker", run }], settings);
  servers.push(server);
  return server;
}

const atOnce = { configuration: { returnImmediately: true } };
async function begin(server: TestServer, text: string, message: object = {}): Promise<string> {
  const { body } = await rpc(server.url, "SendMessage", { ...sendParams(text, message), ...atOnce });
  return taskOf(body).id;
}
const get = async (server: TestServer, id: string) => (await rpc(server.url, "GetTask", { id })).body;
const cancel = async (server: TestServer, id: string) => (await rpc(server.url, "CancelTask", { id })).body;

test("a cancel aborts an agent that waits without output, and the task is canceled", async () => {
  const seen = { begun: false, aborted: false };
  const server = await start(async function* (_task, ctx) {
    seen.begun = true;
    await aborted(ctx.signal);
    seen.aborted = true;
    yield ctx.text("too late");
  });
  const id = await begin(server, "wait for ever");
  await until(() => seen.begun);
  expect(stateOf(await cancel(server, id))).toBe("canceled");
  expect(seen.aborted).toBe(true);
  expect(stateOf(await get(server, id))).toBe("canceled");
});

test("an agent that throws at the abort is canceled, not failed, and nothing is logged", async () => {
  const server = await start(async function* (_task, ctx) {
    yield ctx.text("begun");
    await aborted(ctx.signal);
    throw ctx.signal.reason;
  });
  const stream = await openStream(server.url, "SendStreamingMessage", sendParams("work"));
  const id = (await stream.next())?.data.result.task.id;
  expect(stateOf(await cancel(server, id))).toBe("canceled");
  const rest = (await stream.all()).map(summaryOf);
  expect(rest.at(-1)?.what).toBe("status canceled");
  expect(server.log.lines.filter(line => line.level === "error")).toEqual([]);
});

test("an agent that ignores the abort is abandoned after the grace period, and its later output is ignored", async () => {
  const gate = createGate();
  let over = false;
  const server = await start(
    async function* (_task, ctx) {
      yield ctx.text("before");
      await gate.opened;
      yield ctx.text(" after");
      over = true;
    },
    { cancelGraceMs: 50 },
  );
  const stream = await openStream(server.url, "SendStreamingMessage", sendParams("stubborn"));
  const id = (await stream.next())?.data.result.task.id;
  await until(async () => textOf(await get(server, id)) === "before");
  expect(stateOf(await cancel(server, id))).toBe("canceled");
  const events = await stream.all();
  expect(events.map(summaryOf).at(-1)?.what).toBe("status canceled");
  await until(() => server.running === 0);
  gate.open();
  for (let turns = 0; turns < 20; turns++) await nextTurn();
  const task = await get(server, id);
  expect([stateOf(task), textOf(task)]).toEqual(["canceled", "before"]);
  expect(over).toBe(false);
});

test("an abandoned agent runs its cleanup when it continues", async () => {
  const gate = createGate();
  let cleaned = false;
  const server = await start(
    async function* (_task, ctx) {
      try {
        await gate.opened;
        yield ctx.text("what did I miss?");
      } finally {
        cleaned = true;
      }
    },
    { cancelGraceMs: 50 },
  );
  const id = await begin(server, "stubborn");
  await until(async () => stateOf(await get(server, id)) === "working");
  expect(stateOf(await cancel(server, id))).toBe("canceled");
  gate.open();
  await until(() => cleaned);
});

test("an abandoned agent does not block the next turn in its context", async () => {
  const gate = createGate();
  const server = await start(
    async function* (task, ctx) {
      if (task.text === "stubborn") await gate.opened;
      yield ctx.text(`done: ${task.text}`);
    },
    { cancelGraceMs: 50 },
  );
  const stubborn = await begin(server, "stubborn", { contextId: "one" });
  const next = rpc(server.url, "SendMessage", sendParams("next", { contextId: "one" }));
  await until(async () => stateOf(await get(server, stubborn)) === "working");
  await cancel(server, stubborn);
  expect(textOf((await next).body)).toBe("done: next");
  gate.open();
});

test("a queued task is canceled without a run", async () => {
  const gate = createGate();
  const ran: string[] = [];
  const server = await start(async function* (task, ctx) {
    ran.push(task.text);
    if (task.text === "first") await gate.opened;
    yield ctx.text(`done: ${task.text}`);
  });
  const contextId = "queue";
  const first = await begin(server, "first", { contextId });
  const second = await begin(server, "second", { contextId });
  const third = await begin(server, "third", { contextId });
  const watching = await openStream(server.url, "SubscribeToTask", { id: second });
  expect(stateOf(await get(server, second))).toBe("submitted");
  expect(stateOf(await cancel(server, second))).toBe("canceled");
  expect((await watching.all()).map(summaryOf).at(-1)?.what).toBe("status canceled");
  gate.open();
  await until(async () => stateOf(await get(server, third)) === "completed");
  expect(stateOf(await get(server, first))).toBe("completed");
  expect(ran).toEqual(["first", "third"]);
});

test("a task that waits for input is canceled, and accepts no answer afterwards", async () => {
  const server = await start(async function* (_task, ctx) {
    yield ctx.ask("Which one?");
  });
  const { body } = await rpc(server.url, "SendMessage", sendParams("choose"));
  const { id } = taskOf(body);
  expect(stateOf(body)).toBe("input-required");
  expect(stateOf(await cancel(server, id))).toBe("canceled");
  const late = await rpc(server.url, "SendMessage", sendParams("that one", { taskId: id }));
  expect(late.body.error.code).toBe(-32004);
});

test("two cancels at once are both answered with the canceled task", async () => {
  const server = await start(async function* (_task, ctx) {
    yield ctx.text("working");
    await aborted(ctx.signal);
  });
  for (let round = 0; round < 10; round++) {
    const id = await begin(server, "work");
    await until(async () => stateOf(await get(server, id)) === "working");
    const answers = await Promise.all([1, 2, 3, 4].map(() => cancel(server, id)));
    expect(answers.map(answer => stateOf(answer) ?? answer.error)).toEqual(Array(4).fill("canceled"));
  }
});

test("two v0.3 cancels at once: one gets the task, the other the task or the error for an ended one", async () => {
  const server = await start(async (_task, ctx) => void (await aborted(ctx.signal)));
  for (let round = 0; round < 10; round++) {
    const id = await begin(server, "work");
    const answers = await Promise.all([1, 2].map(() => rpc(server.url, "tasks/cancel", { id })));
    const results = answers.map(({ body }) => body.error?.code ?? stateOf(body));
    expect(results).toContain("canceled");
    for (const one of results) expect(["canceled", -32002]).toContain(one);
  }
});

test("an agent that streams without a pause can be canceled during its output", async () => {
  const server = await start(async function* (_task, ctx) {
    while (!ctx.signal.aborted) {
      for (let i = 0; i < 5; i++) yield ctx.text("word ");
      await nextTurn();
    }
  });
  for (let round = 0; round < 10; round++) {
    const stream = await openStream(server.url, "SendStreamingMessage", sendParams("talk"));
    const id = (await stream.next())?.data.result.task.id;
    await stream.next();
    const answer = await cancel(server, id);
    expect(answer.error ?? stateOf(answer)).toBe("canceled");
    const events = await stream.all();
    expect(summaryOf(events.at(-1) as never).what).toBe("status canceled");
  }
});

for (const data of ["memory", "sqlite"])
  test(`a cancel that races with the end: answer, streams and stored task agree (${data})`, async () => {
    const folder = tempFolder();
    folders.push(folder);
    const server = await start(
      async function* (task, ctx) {
        for (let turns = 0; turns < Number(task.text); turns++) {
          yield ctx.text(`${turns} `);
          await nextTurn();
        }
      },
      { data: data === "memory" ? ":memory:" : folder.path },
    );
    const outcomes = new Set<string>();
    for (let round = 0; round < 50; round++) {
      const stream = await openStream(server.url, "SendStreamingMessage", sendParams(String(round % 12)));
      const first = await stream.next();
      const id = first?.data.result.task.id;
      const older = await openStream(server.url, "tasks/resubscribe", { id });
      const answer = await cancel(server, id);
      const [events, others] = [await stream.all(), await older.all()];
      const task = await get(server, id);
      const state = stateOf(task) as string;
      outcomes.add(state);
      if (answer.error) expect([answer.error.code, state]).toEqual([-32002, "completed"]);
      else expect([stateOf(answer), state]).toEqual(["canceled", "canceled"]);
      const ends = [events, others].map(list => summaryOf((list.at(-1) ?? first) as never).what);
      expect(ends[0]).toBe(`status ${state}`);
      expect([`status ${state}`, `task ${state}`]).toContain(ends[1]);
      expect(foldText(events, foldText([first as never]))).toBe(textOf(task));
      expect(foldText(others)).toBe(textOf(task));
    }
    expect([...outcomes].every(state => state === "canceled" || state === "completed")).toBe(true);
  });

test("a v0.3 caller's stream of a canceled task ends with the canceled status, marked final", async () => {
  const server = await start(async function* (_task, ctx) {
    yield ctx.text("begun");
    await aborted(ctx.signal);
  });
  const stream = await openStream(server.url, "message/stream", sendParamsV03("work"));
  const id = (await stream.next())?.data.result.id;
  await rpc(server.url, "tasks/cancel", { id });
  const last = (await stream.all()).at(-1)?.data.result;
  expect(last).toMatchObject({ kind: "status-update", status: { state: "canceled" }, final: true });
});
