import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, createScriptedAgent, echo } from "../support/agents.ts";
import { openStream, until } from "../support/client.ts";
import {
  getTask,
  type Loose,
  OFFICIAL_DIALECTS,
  rpcError,
  rpcResult,
  startTask,
  untilState,
} from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/README.md#cancelling. */

const puppet = createScriptedAgent();
const ends = {
  name: "ends",
  async *run(task: Loose, ctx: Loose) {
    if (task.text === "failed") yield ctx.fail("It went wrong.");
    if (task.text === "rejected") yield ctx.reject("No.");
  },
};
let aborted = 0;
/** Finished runs of the agent that ignores the abort signal. */
let leftAlone = 0;
const silent = {
  name: "silent",
  replies: "task" as const,
  async *run(_task: unknown, ctx: Loose) {
    await new Promise<void>(resolve => ctx.signal.addEventListener("abort", () => resolve()));
    aborted += 1;
    yield ctx.text("too late");
  },
};
const deaf = {
  name: "deaf",
  replies: "task" as const,
  async *run(_task: unknown, ctx: Loose) {
    // The only agent here that ignores the abort signal: it is abandoned after the grace period.
    try {
      for (;;) {
        await new Promise(resolve => setTimeout(resolve, 20));
        yield ctx.text(".");
      }
    } finally {
      leftAlone += 1;
    }
  },
};
const chatterbox = {
  name: "chatterbox",
  replies: "task" as const,
  async *run(_task: unknown, ctx: Loose) {
    while (!ctx.signal.aborted) {
      yield ctx.text(".");
      await new Promise(resolve => setImmediate(resolve));
    }
  },
};

let server: TestServer;
const at = (name: string): string => `${server.url}/agents/${name}`;
beforeAll(async () => {
  server = await serve([echo, asker, ends, silent, deaf, chatterbox, puppet.definition], {
    cancelGraceMs: 100,
  });
});
afterAll(() => server.stop());

describe.each(OFFICIAL_DIALECTS)("$name", dialect => {
  it("B-C1: a task that does not exist is TaskNotFound", async () => {
    for (const id of ["nope", "01890000-0000-7000-8000-000000000000"])
      expect((await rpcError(at("echo"), dialect.cancel, { id })).code).toBe(-32001);
  });

  it.each(["completed", "failed", "rejected"])(
    "B-C1: a task that is %s is TaskNotCancelable",
    async state => {
      const task = dialect.taskIn(await rpcResult(at("ends"), dialect.send, dialect.sendParams(state)));
      expect(dialect.stateOf(task)).toBe(state);
      expect((await rpcError(at("ends"), dialect.cancel, { id: task.id })).code).toBe(-32002);
      expect(dialect.stateOf(await getTask(at("ends"), task.id, dialect))).toBe(state);
    },
  );

  it("B-C2: a task that is already canceled: v1 returns it again, v0.3 returns its error", async () => {
    const task = await startTask(at("silent"), dialect, "wait");
    await rpcResult(at("silent"), dialect.cancel, { id: task.id });
    const again = await rpcResult(at("silent"), "CancelTask", { id: task.id });
    expect(again.status.state).toBe("TASK_STATE_CANCELED");
    expect((await rpcError(at("silent"), "tasks/cancel", { id: task.id })).code).toBe(-32002);
  });

  it("B-C3: the response is the task after the cancel", async () => {
    const task = await startTask(at("puppet"), dialect, "work");
    puppet.send(task.id, ctx => ctx.text("made so far"));
    await untilState(at("puppet"), task.id, "working");
    const canceled = await rpcResult(at("puppet"), dialect.cancel, { id: task.id });
    expect(canceled.id).toBe(task.id);
    expect(dialect.stateOf(canceled)).toBe("canceled");
    expect(dialect.stateOf(await getTask(at("puppet"), task.id, dialect))).toBe("canceled");
  });

  it("B-C3: a cancel reaches an agent that sends nothing, and its later output is ignored", async () => {
    const before = aborted;
    const task = await startTask(at("silent"), dialect, "wait");
    await untilState(at("silent"), task.id, "working");
    const canceled = await rpcResult(at("silent"), dialect.cancel, { id: task.id });
    expect(dialect.stateOf(canceled)).toBe("canceled");
    expect(aborted).toBe(before + 1);
    expect(JSON.stringify(await getTask(at("silent"), task.id))).not.toContain("too late.");
  });

  it("B-C3: an agent that ignores the abort signal is abandoned, and its later output is ignored", async () => {
    const before = leftAlone;
    const task = await startTask(at("deaf"), dialect, "work");
    await untilState(at("deaf"), task.id, "working");
    const canceled = await rpcResult(at("deaf"), dialect.cancel, { id: task.id });
    expect(dialect.stateOf(canceled)).toBe("canceled");
    const then = await getTask(at("deaf"), task.id);
    // It has sent one more chunk, and no reader requests another.
    await until(() => leftAlone === before + 1);
    expect(await getTask(at("deaf"), task.id)).toEqual(then);
  });

  it("B-C3: a task that no run has started can be canceled", async () => {
    const contextId = `line-${dialect.name}`;
    const first = await startTask(at("puppet"), dialect, "first", { contextId });
    const second = await startTask(at("puppet"), dialect, "second", { contextId });
    expect(dialect.stateOf(await rpcResult(at("puppet"), dialect.cancel, { id: second.id }))).toBe(
      "canceled",
    );
    puppet.end(first.id);
    await untilState(at("puppet"), first.id, "completed");
  });

  it("B-C4: a task that waits for its caller can be canceled", async () => {
    const task = dialect.taskIn(await rpcResult(at("asker"), dialect.send, dialect.sendParams("book")));
    expect(dialect.stateOf(task)).toBe("input-required");
    expect(dialect.stateOf(await rpcResult(at("asker"), dialect.cancel, { id: task.id }))).toBe("canceled");
    const error = await rpcError(at("asker"), dialect.send, dialect.sendParams("red", { taskId: task.id }));
    expect(error.code).toBe(-32004);
  });

  it("B-C5: a cancel ends all open streams with the canceled status", async () => {
    const sent = await openStream(at("puppet"), dialect.stream, dialect.sendParams("work"));
    const { value: task } = dialect.toItem((await sent.next())?.data);
    const watching = await Promise.all([
      openStream(at("puppet"), dialect.subscribe, { id: task.id }),
      openStream(at("puppet"), dialect.subscribe, { id: task.id }),
    ]);
    for (const stream of watching) expect(dialect.toItem((await stream.next())?.data).kind).toBe("task");
    await rpcResult(at("puppet"), dialect.cancel, { id: task.id });
    for (const stream of [sent, ...watching]) {
      const last = (await stream.all()).at(-1);
      expect(dialect.toItem(last?.data)).toMatchObject({ kind: "status", state: "canceled" });
    }
  });

  it("B-C5: a cancel ends the subscription to a task that waits for its caller", async () => {
    const task = dialect.taskIn(await rpcResult(at("asker"), dialect.send, dialect.sendParams("book")));
    const stream = await openStream(at("asker"), dialect.subscribe, { id: task.id });
    expect(dialect.toItem((await stream.next())?.data).state).toBe("input-required");
    await rpcResult(at("asker"), dialect.cancel, { id: task.id });
    const rest = (await stream.all()).map(event => dialect.toItem(event.data));
    expect(rest.map(one => one.state)).toEqual(["canceled"]);
  });

  it("B-C5: a blocking send whose task is canceled is answered with the canceled task", async () => {
    const contextId = `blocked-${dialect.name}`;
    const sent = rpcResult(at("puppet"), dialect.send, dialect.sendParams("work", { contextId }));
    let id = "";
    while (id === "") id = (await rpcResult(at("puppet"), "ListTasks", { contextId })).tasks[0]?.id ?? "";
    await rpcResult(at("puppet"), dialect.cancel, { id });
    expect(dialect.stateOf(dialect.taskIn(await sent))).toBe("canceled");
  });

  it("B-C3: an agent that never stops sending can be canceled at any moment", async () => {
    const tasks = await Promise.all(
      Array.from({ length: 5 }, () => startTask(at("chatterbox"), dialect, "talk")),
    );
    for (const { id } of tasks) await untilState(at("chatterbox"), id, "working");
    const params = tasks.map(({ id }) => ({ id, historyLength: 0 }));
    const ends = await Promise.all(params.map(one => rpcResult(at("chatterbox"), dialect.cancel, one)));
    expect(ends.map(task => dialect.stateOf(task))).toEqual(Array(5).fill("canceled"));
  });

  it("B-C3: many cancels at once all return the same canceled task", async () => {
    const task = await startTask(at("puppet"), dialect, "work");
    await untilState(at("puppet"), task.id, "working");
    const all = await Promise.all(
      Array.from({ length: 20 }, () => rpcResult(at("puppet"), "CancelTask", { id: task.id })),
    );
    for (const one of all) expect(one.status.state).toBe("TASK_STATE_CANCELED");
  });
});
