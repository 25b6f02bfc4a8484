import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, createScriptedAgent } from "../support/agents.ts";
import { openStream } from "../support/client.ts";
import { doubter, langgraphParams, langgraphResult, resume } from "../support/langgraph.ts";
import {
  type Loose,
  OFFICIAL_DIALECTS,
  rpcError,
  rpcResult,
  startTask,
  type TestDialect,
  V1,
} from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";
import { textOf } from "../support/wire.ts";

/**
 * A task belongs to no dialect: started on LangGraph's mount and continued elsewhere, and the other way
 * round.
 */

const puppet = createScriptedAgent();
let server: TestServer;
const official = (name: string): string => `${server.url}/agents/${name}`;
const mount = (name: string): string => `${server.url}/a2a/${name}`;

beforeAll(async () => {
  server = await serve([asker, doubter, puppet.definition]);
});
afterAll(() => server.stop());

const saidBy = (task: Loose): string => textOf({ result: task });
const answersIn = (task: Loose): Loose => task.artifacts[0].parts[0].data;
/** The dialect of a v0.3 caller must be given, since others share its methods. */
const named = (dialect: TestDialect): Record<string, string> => ({ "a2a-version": dialect.version });

describe.each(OFFICIAL_DIALECTS)("$name and LangGraph", dialect => {
  const begun = async (url: string): Promise<Loose> =>
    dialect.taskIn(await rpcResult(url, dialect.send, dialect.sendParams("hi"), named(dialect)));

  it("a task of LangGraph's mount is read, continued and read again", async () => {
    const { id, contextId } = await langgraphResult(mount("asker"), "message/send", langgraphParams("hi"));
    const read = await rpcResult(official("asker"), dialect.get, { id }, named(dialect));
    expect([read.id, read.contextId, dialect.stateOf(read)]).toEqual([id, contextId, "input-required"]);
    const more = dialect.sendParams("this", { taskId: id, contextId });
    const done = dialect.taskIn(await rpcResult(official("asker"), dialect.send, more, named(dialect)));
    expect([done.id, dialect.stateOf(done), done.artifacts[0].name]).toEqual([id, "completed", "response"]);
    const again = await langgraphResult(mount("asker"), "tasks/get", { id, contextId });
    expect([again.status.state, saidBy(again), again.artifacts[0].name]).toEqual([
      "completed",
      "You chose this",
      "Assistant Response",
    ]);
  });

  it("a task created elsewhere is read and continued on LangGraph's mount", async () => {
    const { id, contextId } = await begun(official("asker"));
    const read = await langgraphResult(mount("asker"), "tasks/get", { id, contextId });
    expect([read.kind, read.id, read.status.state]).toEqual(["task", id, "input-required"]);
    const more = langgraphParams("that", { taskId: `${contextId}:${id}`, contextId });
    const done = await langgraphResult(mount("asker"), "message/send", more);
    expect([done.id, saidBy(done)]).toEqual([id, "You chose that"]);
  });

  it("a task of LangGraph's mount is canceled elsewhere, and its stream ends there", async () => {
    const stream = await openStream(mount("puppet"), "message/stream", langgraphParams("hi"));
    const id = (await stream.next())?.data.result.id;
    const canceled = await rpcResult(official("puppet"), dialect.cancel, { id }, named(dialect));
    expect(dialect.stateOf(canceled)).toBe("canceled");
    const last = (await stream.all()).at(-1)?.data.result;
    expect([last.kind, last.status.state, last.final]).toEqual(["status-update", "canceled", true]);
  });

  it("a task created elsewhere is canceled on LangGraph's mount, in its context only", async () => {
    const { id, contextId } = await startTask(official("puppet"), dialect, "hi");
    const cancel = (where: string): Promise<Loose> =>
      langgraphResult(mount("puppet"), "tasks/cancel", { id, contextId: where });
    await expect(cancel("elsewhere")).rejects.toThrow("-32001");
    expect((await cancel(contextId)).status.state).toBe("canceled");
  });

  it("several questions are answered in two dialects, some in each", async () => {
    const { id, contextId } = await langgraphResult(mount("doubter"), "message/send", langgraphParams("hi"));
    const { data } = resume({ "interrupt-1": "window" }) as Loose;
    const part = dialect === V1 ? { data } : { kind: "data", data };
    const partial = dialect.sendParams("", { taskId: id, parts: [part] });
    const waiting = dialect.taskIn(
      await rpcResult(official("doubter"), dialect.send, partial, named(dialect)),
    );
    expect(dialect.stateOf(waiting)).toBe("input-required");
    const rest = langgraphParams([resume({ "interrupt-2": "fish" })], { taskId: id, contextId });
    const done = await langgraphResult(mount("doubter"), "message/send", rest);
    expect(answersIn(done)).toEqual({ "interrupt-1": "window", "interrupt-2": "fish" });
  });

  it("a message to a task that has ended is refused elsewhere, and starts a new one on LangGraph's mount", async () => {
    const { id, contextId } = await begun(official("asker"));
    await rpcResult(official("asker"), dialect.cancel, { id }, named(dialect));
    const more = dialect.sendParams("hi", { taskId: id });
    expect((await rpcError(official("asker"), dialect.send, more, named(dialect))).code).toBe(-32004);
    const fresh = await langgraphResult(
      mount("asker"),
      "message/send",
      langgraphParams("hi", { taskId: id, contextId }),
    );
    expect(fresh.contextId).toBe(contextId);
    expect(fresh.id).not.toBe(id);
  });
});
