import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, createScriptedAgent, echo, replier } from "../support/agents.ts";
import { openStream, rpc, until } from "../support/client.ts";
import {
  fieldsOf,
  getTask,
  type Loose,
  OFFICIAL_DIALECTS,
  rpcError,
  rpcResult,
  startTask,
  untilState,
  V1,
} from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/README.md#sending, first half: the result of a message. */

const UNKNOWN = "01890000-0000-7000-8000-000000000000";

const puppet = createScriptedAgent();
let server: TestServer;
let root: string;
const at = (name: string): string => `${server.url}/agents/${name}`;

beforeAll(async () => {
  const quick = { name: "quick", run: () => "a plain string" };
  const shy = { ...replier, name: "shy", replies: undefined };
  server = await serve([echo, replier, shy, asker, quick, puppet.definition]);
  root = server.url;
});
afterAll(() => server.stop());

describe.each(OFFICIAL_DIALECTS)("$name", dialect => {
  it("B-M1: a send is answered with a task or with a message", async () => {
    const one = await rpcResult(root, dialect.send, dialect.sendParams("hi"));
    expect(dialect.stateOf(dialect.taskIn(one))).toBe("completed");
    expect(dialect.messageIn(one)).toBeUndefined();
    const other = await rpcResult(at("replier"), dialect.send, dialect.sendParams("hi"));
    expect(dialect.taskIn(other)).toBeUndefined();
    expect(dialect.messageIn(other).parts[0].text).toBe("re: hi");
    expect(dialect.messageIn(other).contextId).toEqual(expect.any(String));
    expect(dialect.messageIn(other).taskId).toBeUndefined();
  });

  it.each(["replier", "shy"])(
    "B-M1: the agent %s answers with messages only and creates no task",
    async name => {
      const reply = dialect.messageIn(await rpcResult(at(name), dialect.send, dialect.sendParams("hi")));
      const { tasks, totalSize } = await rpcResult(at(name), dialect.list, {});
      expect({ tasks, totalSize }).toEqual({ tasks: [], totalSize: 0 });
      expect(reply.role).toMatch(/agent/i);
    },
  );

  it("B-M2: a blocking send is answered when the task has ended, with all its artifacts", async () => {
    const task = dialect.taskIn(await rpcResult(root, dialect.send, dialect.sendParams("all of it")));
    expect(dialect.stateOf(task)).toBe("completed");
    expect(task.artifacts).toHaveLength(1);
    expect(task.artifacts[0].parts[0].text).toBe("all of it");
  });

  it("B-M2: a blocking send is answered when the task waits for its caller", async () => {
    const task = dialect.taskIn(await rpcResult(at("asker"), dialect.send, dialect.sendParams("book")));
    expect(dialect.stateOf(task)).toBe("input-required");
    expect(task.status.message.parts[0].text).toBe("Which one?");
  });

  it("B-M2: a blocking send is not answered while the agent works", async () => {
    const context = `blocking-${dialect.name}`;
    let answered = false;
    const sent = rpcResult(at("puppet"), dialect.send, dialect.sendParams("work", { contextId: context }));
    sent.then(() => (answered = true));
    const { tasks } = await untilListed(context);
    puppet.send(tasks[0].id, ctx => ctx.text("half"));
    await untilText(tasks[0].id, "half");
    expect(answered).toBe(false);
    puppet.send(tasks[0].id, ctx => ctx.text(" and half"));
    puppet.end(tasks[0].id);
    expect(dialect.taskIn(await sent).artifacts[0].parts[0].text).toBe("half and half");
  });

  it("B-M3: a non-blocking send is answered at once, and the run continues", async () => {
    const task = await startTask(at("puppet"), dialect, "later");
    expect(["submitted", "working"]).toContain(dialect.stateOf(task));
    puppet.send(task.id, ctx => ctx.text("done later"));
    puppet.end(task.id);
    const ended = await untilState(at("puppet"), task.id, "completed");
    expect(ended.artifacts[0].parts[0].text).toBe("done later");
  });

  it("B-M3: non-blocking has no effect on message replies", async () => {
    const params = dialect.sendParams("hi", {}, { configuration: dialect.nonBlocking });
    expect(dialect.messageIn(await rpcResult(at("replier"), dialect.send, params)).parts[0].text).toBe(
      "re: hi",
    );
  });

  it("B-M3: non-blocking has no effect on streams", async () => {
    const params = dialect.sendParams("hi", {}, { configuration: dialect.nonBlocking });
    const items = (await (await openStream(root, dialect.stream, params)).all()).map(one =>
      dialect.toItem(one.data),
    );
    expect(items[0]?.kind).toBe("task");
    expect(items.at(-1)?.state).toBe("completed");
  });

  it.each(["send", "stream"] as const)(
    "B-M4: a message for a task that does not exist is TaskNotFound (%s)",
    async how => {
      for (const taskId of [UNKNOWN, "my-own-id", "x".repeat(256), "🙂"]) {
        const error = await rpcError(root, dialect[how], dialect.sendParams("hi", { taskId }));
        expect(error.code).toBe(-32001);
      }
    },
  );

  it("B-M4: a task of another agent does not exist", async () => {
    const task = dialect.taskIn(await rpcResult(at("asker"), dialect.send, dialect.sendParams("book")));
    const error = await rpcError(root, dialect.send, dialect.sendParams("hi", { taskId: task.id }));
    expect(error.code).toBe(-32001);
  });

  it("B-M4: a caller's id never creates a task", async () => {
    const taskId = `mine-${dialect.name}`;
    await rpcError(root, dialect.send, dialect.sendParams("hi", { taskId }));
    expect((await rpcError(root, dialect.get, { id: taskId })).code).toBe(-32001);
  });

  it.each(["send", "stream"] as const)(
    "B-M5: a message for a task that has ended is UnsupportedOperation (%s)",
    async how => {
      const task = dialect.taskIn(await rpcResult(root, dialect.send, dialect.sendParams("hi")));
      const error = await rpcError(root, dialect[how], dialect.sendParams("more", { taskId: task.id }));
      expect(error.code).toBe(-32004);
    },
  );

  it("B-M5: existence is checked first, then the context, then the end", async () => {
    const task = dialect.taskIn(await rpcResult(root, dialect.send, dialect.sendParams("hi")));
    const nowhere = dialect.sendParams("hi", { taskId: UNKNOWN, contextId: "other" });
    const ended = dialect.sendParams("hi", { taskId: task.id, contextId: "other" });
    expect((await rpcError(root, dialect.send, nowhere)).code).toBe(-32001);
    expect((await rpcError(root, dialect.send, ended)).code).toBe(-32602);
  });

  it("B-M6: a task with another context is an invalid parameter, and the error names the field", async () => {
    const task = dialect.taskIn(await rpcResult(at("asker"), dialect.send, dialect.sendParams("book")));
    const params = dialect.sendParams("red", { taskId: task.id, contextId: "not-its-context" });
    const error = await rpcError(at("asker"), dialect.send, params);
    expect(error.code).toBe(-32602);
    expect(error.message).toContain("message.contextId");
    if (dialect === V1) expect(fieldsOf(error)).toEqual(["message.contextId"]);
  });

  it("B-M7: a message with only a taskId continues in the task's context", async () => {
    const task = dialect.taskIn(await rpcResult(at("asker"), dialect.send, dialect.sendParams("book")));
    const on = dialect.taskIn(
      await rpcResult(at("asker"), dialect.send, dialect.sendParams("red", { taskId: task.id })),
    );
    expect(on.id).toBe(task.id);
    expect(on.contextId).toBe(task.contextId);
    expect(on.artifacts[0].parts[0].text).toBe("You chose red");
  });

  it("B-M7: a message with only a contextId starts a new task in that context", async () => {
    const contextId = `talk-${dialect.name}`;
    const first = dialect.taskIn(
      await rpcResult(root, dialect.send, dialect.sendParams("one", { contextId })),
    );
    const second = dialect.taskIn(
      await rpcResult(root, dialect.send, dialect.sendParams("two", { contextId })),
    );
    expect([first.contextId, second.contextId]).toEqual([contextId, contextId]);
    expect(first.id).not.toBe(second.id);
  });

  it("B-M7: a message with neither gets a new context, which is in the response", async () => {
    const first = dialect.taskIn(await rpcResult(root, dialect.send, dialect.sendParams("one")));
    const second = dialect.taskIn(await rpcResult(root, dialect.send, dialect.sendParams("two")));
    const third = dialect.messageIn(
      await rpcResult(at("replier"), dialect.send, dialect.sendParams("three")),
    );
    const contexts = [first.contextId, second.contextId, third.contextId];
    for (const context of contexts) expect(context).toMatch(/^.+$/);
    expect(new Set(contexts).size).toBe(3);
  });

  it("B-M7: a bare message is returned in the context that was given", async () => {
    const contextId = `chat-${dialect.name}`;
    const reply = await rpcResult(at("replier"), dialect.send, dialect.sendParams("hi", { contextId }));
    expect(dialect.messageIn(reply).contextId).toBe(contextId);
  });

  it.each([
    ["one letter", "a"],
    ["a name", "thread-123"],
    ["256 letters", "x".repeat(256)],
    ["characters of all kinds", "ünï 🙂"],
    ["reserved characters of URLs", "a/b?c#d%20"],
  ])("B-M8: any contextId of up to 256 characters is stored unchanged: %s", async (_, contextId) => {
    const task = dialect.taskIn(await rpcResult(root, dialect.send, dialect.sendParams("hi", { contextId })));
    expect(task.contextId).toBe(contextId);
    expect((await getTask(root, task.id)).contextId).toBe(contextId);
  });

  it.each([
    ["257 letters", "x".repeat(257)],
    ["a NUL", "with\u0000null"],
    ["two lines", "two\nlines"],
  ])("B-M8: a contextId that cannot be stored is refused, never replaced: %s", async (_, contextId) => {
    const error = await rpcError(root, dialect.send, dialect.sendParams("hi", { contextId }));
    expect(error.code).toBe(-32602);
    expect(error.message).toContain("message.contextId");
  });

  it("B-M9: a message for a running task is UnsupportedOperation", async () => {
    const task = await startTask(at("puppet"), dialect, "busy");
    await untilState(at("puppet"), task.id, "working");
    const error = await rpcError(at("puppet"), dialect.send, dialect.sendParams("more", { taskId: task.id }));
    expect(error.code).toBe(-32004);
    puppet.end(task.id);
    await untilState(at("puppet"), task.id, "completed");
  });

  it("B-M9: of many answers to one question one is accepted, the others are UnsupportedOperation", async () => {
    const { id } = dialect.taskIn(await rpcResult(at("asker"), dialect.send, dialect.sendParams("book")));
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        rpc(at("asker"), dialect.send, dialect.sendParams(`${i}`, { taskId: id })),
      ),
    );
    const taken = replies.filter(reply => reply.body.result);
    expect(taken).toHaveLength(1);
    for (const { body } of replies) if (body.error) expect(body.error.code).toBe(-32004);
    expect((await getTask(at("asker"), id)).history.map(roleOf)).toEqual(["USER", "AGENT", "USER"]);
  });

  it.each(["input-required", "auth-required"] as const)(
    "B-M9: a task in %s accepts a message",
    async state => {
      const task = await startTask(at("puppet"), dialect, "wait");
      puppet.send(task.id, ctx => ({ type: "status", state, message: messageOf(ctx.ask("Well?")) }));
      await untilState(at("puppet"), task.id, state);
      puppet.send(task.id, ctx => ctx.text("thanks"));
      puppet.end(task.id);
      const params = dialect.sendParams("here", { taskId: task.id });
      const on = dialect.taskIn(await rpcResult(at("puppet"), dialect.send, params));
      expect(dialect.stateOf(on)).toBe("completed");
      expect(on.id).toBe(task.id);
    },
  );
});

it("B-M1: while an agent that replies with messages runs, nothing of it is listed", async () => {
  let go = (): void => {};
  const open = new Promise<void>(resolve => (go = resolve));
  let begun = (): void => {};
  const running = new Promise<void>(resolve => (begun = resolve));
  const slow = await serve([
    {
      name: "slow",
      replies: "message",
      async run(_task, ctx) {
        begun();
        await open;
        return ctx.reply("at last");
      },
    },
  ]);
  try {
    const sent = rpc(slow.url, "SendMessage", V1.sendParams("hi"));
    await running;
    const { tasks, totalSize } = await rpcResult(slow.url, "ListTasks", {});
    go();
    expect((await sent).body.result.message.parts[0].text).toBe("at last");
    expect({ tasks, totalSize }).toEqual({ tasks: [], totalSize: 0 });
  } finally {
    go();
    await slow.stop();
  }
});

const roleOf = (message: Loose): string => message.role.replace("ROLE_", "");
const messageOf = (event: unknown) => (event as { message: never }).message;

async function untilListed(contextId: string) {
  let page: Loose;
  await until(async () => {
    page = await rpcResult(at("puppet"), "ListTasks", { contextId });
    return page.tasks.length > 0;
  });
  return page;
}

const untilText = (id: string, text: string): Promise<void> =>
  until(async () => (await getTask(at("puppet"), id)).artifacts?.[0].parts[0].text === text);
