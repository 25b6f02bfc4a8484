import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import type { ServerSettings } from "../../src/server/create-server.ts";
import {
  createTestServer,
  type TestServer as MemoryServer,
  type TestTask,
  taskMatchers,
} from "../../src/testing/index.ts";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { createGate, nextTurn } from "../support/gate.ts";
import { INVALID_OUTPUT, UNUSUAL_OUTPUT } from "../support/invalid-output.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import "../support/task-matchers.ts";
import { partsText, stateOf, summaryOf, taskOf, textOf } from "../support/wire.ts";

expect.extend(taskMatchers);

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
  const server = await serve([{ name: "worker", contextAnswers: false, run }], settings);
  servers.push(server);
  return server;
}

function folder(): string {
  const made = tempFolder();
  folders.push(made);
  return made.path;
}

const send = async (server: TestServer, text: string, message: object = {}) =>
  (await rpc(server.url, "SendMessage", sendParams(text, message))).body;
const get = async (server: TestServer, id: string) => (await rpc(server.url, "GetTask", { id })).body;

/** In memory, where nothing but the runs counts. */
async function startInMemory(run: AgentDefinition["run"]): Promise<MemoryServer> {
  const server = await createTestServer({ name: "worker", contextAnswers: false, run });
  onTestFinished(server.close);
  return server;
}

describe("turns in one context", () => {
  test("run one after another in order of arrival, and other contexts are not blocked", async () => {
    const gate = createGate();
    const begun: string[] = [];
    const ended: string[] = [];
    const server = await startInMemory(async function* (task, ctx) {
      begun.push(task.text);
      if (task.text === "a1") await gate.opened;
      yield ctx.text(task.text);
      ended.push(task.text);
    });
    const tasks: TestTask[] = [];
    for (const text of ["a1", "a2", "a3", "a4"]) tasks.push(await server.start(text, { contextId: "a" }));
    expect(await server.send("b1", { contextId: "b" })).toComplete("b1");
    expect(await server.send("c1")).toComplete("c1");
    expect(begun).toEqual(["a1", "b1", "c1"]);
    expect(await tasks[1]?.read()).toBeInState("submitted");
    gate.open();
    expect(await tasks[3]?.settled()).toComplete("a4");
    expect(begun.filter(text => text.startsWith("a"))).toEqual(["a1", "a2", "a3", "a4"]);
    expect(ended.filter(text => text.startsWith("a"))).toEqual(["a1", "a2", "a3", "a4"]);
  });

  test("never overlap, whatever the dialect of their messages", async () => {
    let inside = 0;
    let most = 0;
    const order: number[] = [];
    const server = await startInMemory(async function* (task, ctx) {
      most = Math.max(most, ++inside);
      order.push(Number(task.text));
      yield ctx.text("working");
      await nextTurn();
      inside -= 1;
    });
    const older = server.caller({ dialect: "v0.3" });
    const answers = Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? server : older).send(String(i), { contextId: "mixed" }),
    );
    for (const task of await Promise.all(answers)) expect(task).toComplete();
    expect(most).toBe(1);
    expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  test("a task that waits for its caller lets the next one run, and continues after it", async () => {
    const server = await startInMemory(async function* (task, ctx) {
      if (task.text === "ask") yield ctx.ask("What?");
      yield ctx.text(`heard ${task.text}`);
    });
    const contextId = "talk";
    const asked = await server.send("ask", { contextId });
    expect(asked).toAsk("What?");
    expect(await server.send("other", { contextId })).toComplete("heard other");
    expect(await asked.answer("this")).toComplete("heard this");
  });

  test("are in the history of later ones: the messages, and the replies of the agent", async () => {
    const histories: string[][] = [];
    const server = await startInMemory(async function* (task, ctx) {
      const earlier = await ctx.history;
      histories.push(earlier.map(({ role, parts }) => `${role}: ${partsText(parts)}`));
      if (task.text === "ask") yield ctx.ask("Sure?");
      yield ctx.text(`${task.text}!`);
    });
    const contextId = "story";
    await server.send("one", { contextId });
    await server.converse(["ask", "yes"], { contextId });
    await server.send("elsewhere", { contextId: "another" });
    await server.send("three", { contextId });
    expect(histories[0]).toEqual([]);
    expect(histories[1]).toEqual(["user: one", "agent: one!"]);
    expect(histories[2]).toEqual(["user: one", "agent: one!"]);
    expect(histories[3]).toEqual([]);
    expect(histories[4]).toEqual([
      ...["user: one", "agent: one!"],
      ...["user: ask", "agent: Sure?", "user: yes", "agent: yes!"],
    ]);
  });

  test("each is a first attempt, unless one was interrupted", async () => {
    const seen: [turn: number, attempt: number][] = [];
    const server = await startInMemory(async function* (task, ctx) {
      seen.push([task.turn, ctx.attempt]);
      if (task.turn < 3) yield ctx.ask("Go on?");
    });
    await server.converse(["one", "two", "three"]);
    expect(seen).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
  });
});

describe("an agent that throws", () => {
  const SECRET = "postgres://admin:hunter2@10.0.0.7/prod";

  for (const when of ["at once", "after some words", "in a promise", "in a plain function"])
    test(`${when} fails its task with a message that hides internals and has the reference in the log`, async () => {
      const server = await start((task, ctx) => {
        const fail = (): never => {
          throw new Error(`cannot reach ${SECRET}`, { cause: new TypeError(`cause of ${SECRET}`) });
        };
        if (when === "in a plain function") return fail();
        return (async function* () {
          if (when === "after some words") yield ctx.text(`so far so good, ${task.text}`);
          if (when === "in a promise") await Promise.reject(new Error(SECRET));
          fail();
        })();
      });
      const stream = await openStream(server.url, "SendStreamingMessage", sendParams("go"));
      const events = await stream.all();
      expect(summaryOf(events.at(-1) as never).what).toBe("status failed");
      const id = events[0]?.data.result.task.id;
      const older = await rpc(server.url, "tasks/get", { id });
      const answer = await get(server, id);
      expect(stateOf(answer)).toBe("failed");
      const shown = JSON.stringify([events, answer, older.body]);
      for (const inner of [SECRET, "hunter2", "cannot reach", "TypeError", "turns.test", "/work", " at "])
        expect(shown).not.toContain(inner);
      const output = partsText(taskOf(answer).status.message.parts);
      const lines = server.log.lines.filter(line => line.level === "error");
      expect(lines).toHaveLength(1);
      const { ref, taskId, err } = (lines[0] as { facts: object }).facts as {
        ref: string;
        taskId: string;
        err: Error;
      };
      expect(ref).toMatch(/^\S{8,}$/);
      expect(output).toContain(ref);
      expect(taskId).toBe(id);
      expect(String(err.message)).toContain(SECRET);
      expect(err.stack).toContain("turns.test");
    });

  test("does not affect other tasks, nor the next one in its context", async () => {
    const server = await startInMemory(async function* (task, ctx) {
      yield ctx.text("begun");
      await nextTurn();
      if (task.text === "bad") throw new Error("no");
    });
    const contextId = "shared";
    const tasks = await Promise.all([
      server.send("bad", { contextId }),
      server.send("good", { contextId }),
      server.send("good"),
    ]);
    expect(tasks.map(({ state }) => state).sort()).toEqual(["completed", "completed", "failed"]);
    expect(await server.send("good", { contextId })).toComplete();
  });

  test("with a message for its caller (ctx.fail) fails with that message, and nothing is logged", async () => {
    const server = await startInMemory(async function* (_task, ctx) {
      yield ctx.fail("The library is closed today");
    });
    const task = await server.send("a book, please");
    expect([task.state, task.statusText]).toEqual(["failed", "The library is closed today"]);
    expect(server.log.filter(line => line.level === "error")).toEqual([]);
  });

  for (const thrown of [undefined, null, "a string", 42n, Object.create(null)])
    test(`a thrown value that is no error (${typeof thrown} ${thrown === null}) fails its task all the same`, async () => {
      const server = await startInMemory(async function* () {
        yield* [];
        throw thrown;
      });
      expect(await server.send("go")).toFail();
      expect(await server.send("again")).toFail();
    });
});

describe("an agent with invalid output", () => {
  const ALL = { ...INVALID_OUTPUT, ...UNUSUAL_OUTPUT };
  const run: AgentDefinition["run"] = async function* (task, ctx) {
    const nonsense = ALL[task.text];
    yield ctx.text("begun ");
    if (nonsense) yield nonsense(ctx) as never;
    else yield ctx.text("and done");
  };

  for (const what of Object.keys(ALL))
    test(`(${what}) fails its own task only: others in the same commit are not affected`, async () => {
      const server = await start(run, { data: folder() });
      const bodies = await Promise.all([send(server, "good"), send(server, what), send(server, "good")]);
      const [one, bad, two] = bodies;
      expect([one, two].map(stateOf)).toEqual(["completed", "completed"]);
      expect([one, two].map(textOf)).toEqual(["begun and done", "begun and done"]);
      if (!Object.hasOwn(UNUSUAL_OUTPUT, what)) {
        expect(stateOf(bad)).toBe("failed");
        expect(textOf(bad)).toBe("begun ");
      } else expect(["completed", "failed"]).toContain(stateOf(bad));
      expect(stateOf(await send(server, "good"))).toBe("completed");
    });

  test("leaves tasks that can be read after a restart", async () => {
    const data = folder();
    const first = await start(run, { data });
    const kept = new Map<string, string | undefined>();
    for (const what of Object.keys(ALL)) {
      const body = await send(first, what);
      kept.set(taskOf(body).id, stateOf(body));
    }
    await first.stop();
    servers.length = 0;
    const second = await start(run, { data });
    for (const [id, state] of kept) expect(stateOf(await get(second, id))).toBe(state);
  });

  test("runs its cleanup when its output is refused", async () => {
    for (const output of [42 as never, "x".repeat(5_000_000)]) {
      let cleaned = false;
      const server = await startInMemory(async function* () {
        try {
          yield output;
          yield "and more";
        } finally {
          cleaned = true;
        }
      });
      expect(await server.send("go")).toFail();
      await until(() => cleaned);
    }
  });
});
