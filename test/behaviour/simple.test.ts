import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, createScriptedAgent, echo, mirror, replier } from "../support/agents.ts";
import { openStream, type RpcReply, rpc, type SseEvent } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/simple.md#statements: simple_a2a's document, statement by statement. */

const puppet = createScriptedAgent();
const locked = {
  name: "locked",
  run: () => ({ type: "status" as const, state: "auth-required" as const }),
};

let server: TestServer;
let strict: TestServer;
const at = (agent: string): string => `${server.url}/agents/${agent}`;
beforeAll(async () => {
  server = await serve([
    echo,
    mirror,
    asker,
    replier,
    locked,
    { ...echo, name: "mute", streaming: false },
    { ...echo, name: "discreet", push: false },
    { ...echo, name: "needy", extensions: [{ uri: "urn:example:needed", required: true }] },
    puppet.definition,
  ]);
  strict = await serve([echo], { simple: "strict" });
});
afterAll(() => Promise.all([server.stop(), strict.stop()]));

type Loose = RpcReply["body"];
const sendParams = (text: string, more: object = {}) => ({
  message: { messageId: "msg-1", role: "user", parts: [{ text, kind: "text" }] },
  ...more,
});
const send = async (url: string, text: string, more: object = {}): Promise<Loose> =>
  (await rpc(url, "tasks/send", sendParams(text, more))).body;
const stream = async (url: string, text: string): Promise<SseEvent[]> =>
  (await openStream(url, "tasks/sendSubscribe", sendParams(text))).all();
const results = (events: readonly SseEvent[]): Loose[] => events.map(event => event.data.result);

async function begun() {
  const opened = await openStream(at("puppet"), "tasks/sendSubscribe", sendParams("go"));
  const first = (await opened.next()) as SseEvent;
  return { opened, id: first.data.result.taskId as string };
}

const UNKNOWN_TASK = "01890000-0000-7000-8000-000000000000";

describe("simple_a2a: calls", () => {
  it("S1: calls go to the root, and the card is at /agentCard", async () => {
    expect((await send(server.url, "hello")).result.status.state).toBe("completed");
    const card = await (await fetch(`${server.url}/agentCard`)).json();
    expect(card).toMatchObject({
      name: "echo",
      version: expect.any(String),
      description: expect.any(String),
      capabilities: { streaming: true, pushNotifications: true },
      skills: expect.any(Array),
      interfaces: [{ type: "json-rpc", url: `${server.url}/`, version: "1.0" }],
    });
    const other = (await (await fetch(`${at("asker")}/agentCard`)).json()) as Loose;
    expect(other.interfaces[0].url).toBe(at("asker"));
  });

  it.each(["1.0", "0.3", ""])("S8: the version %j is accepted", async version => {
    const reply = await rpc(server.url, "tasks/send", sendParams("hi"), { "a2a-version": version });
    expect(reply.body.result).not.toHaveProperty("kind");
  });

  it.each(["2.0", "0.4", "nonsense"])("S8: the version %j is refused without an id", async version => {
    for (const url of [server.url, strict.url]) {
      const reply = await rpc(url, "tasks/send", sendParams("hi"), { "a2a-version": version });
      expect([reply.status, reply.body.id, reply.body.error.code]).toEqual([200, null, -32008]);
    }
  });

  it("S8: with the strict profile the version is checked first", async () => {
    const headers = { "content-type": "application/json", "a2a-version": "0.2" };
    for (const body of ["nonsense", "[]", '{"jsonrpc":"2.0","id":7,"method":"SendMessage"}']) {
      const response = await fetch(strict.url, { method: "POST", headers, body });
      expect(await response.json()).toMatchObject({ id: null, error: { code: -32008 } });
    }
  });

  it("S10: a body that is no call has the standard error codes, with HTTP 200 and the id null", async () => {
    for (const [body, code] of [
      ["nonsense", -32700],
      ["[]", -32600],
      ['{"jsonrpc":"1.0"}', -32600],
      ['{"jsonrpc":"2.0","id":1,"method":"tasks/nonsense"}', -32601],
      ['{"jsonrpc":"2.0","id":1,"method":"message/send"}', -32601],
      ['{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{}}', -32602],
    ] as const) {
      const headers = { "content-type": "application/json" };
      const response = await fetch(strict.url, { method: "POST", headers, body });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ error: { code } });
    }
  });
});

describe("simple_a2a: sending", () => {
  it("S2: a send returns the finished task, with an id of the server", async () => {
    const { result } = await send(server.url, "hello");
    expect(Object.keys(result)).toEqual(["id", "contextId", "status", "artifacts"]);
    expect(result.status).toEqual({ state: "completed", timestamp: expect.stringMatching(/Z$/) });
    expect(result.artifacts).toEqual([
      { artifactId: "response", name: "response", parts: [{ text: "hello", kind: "text" }] },
    ]);
    const bare = (await send(at("replier"), "Ada")).result;
    expect(bare.status).toMatchObject({ state: "completed", message: { role: "agent" } });
  });

  it("S3: a stream has frames without an id, and `final` on every event", async () => {
    const events = await stream(server.url, "hello");
    for (const { data } of events) expect(Object.keys(data)).toEqual(["jsonrpc", "result"]);
    const frames = results(events);
    expect(frames.map(frame => [frame.type, frame.status?.state, frame.final])).toEqual([
      ["TaskStatusUpdateEvent", "submitted", false],
      ["TaskStatusUpdateEvent", "working", false],
      ["TaskArtifactUpdateEvent", undefined, false],
      ["TaskStatusUpdateEvent", "completed", true],
    ]);
    expect(new Set(frames.map(frame => frame.taskId)).size).toBe(1);
  });

  it("S6: a stream of an agent that does not stream is UnsupportedOperation", async () => {
    const reply = await rpc(at("mute"), "tasks/sendSubscribe", sendParams("hi"));
    expect([reply.status, reply.body.error.code]).toEqual([200, -32004]);
  });

  it("S7: a required extension that is missing and content that is not accepted have their error codes", async () => {
    expect((await send(at("needy"), "hi")).error.code).toBe(-32007);
    const parts = [{ kind: "file", url: "https://files.example/a.png", mediaType: "image/png" }];
    const call = { message: { role: "user", parts } };
    expect((await rpc(at("echo"), "tasks/send", call)).body.error.code).toBe(-32005);
  });

  it("S9: the state of a waiting task has underscores, and it is resumed by its id", async () => {
    expect((await send(at("locked"), "hi")).result.status.state).toBe("auth_required");
    const { result } = await send(at("asker"), "book");
    expect(result.status.state).toBe("input_required");
    const on = (await send(at("asker"), "red", { id: result.id })).result;
    expect(on).toMatchObject({ id: result.id, status: { state: "completed" } });
  });

  it("S9: only a task that waits can be resumed: others are refused, unknown ones too", async () => {
    const { result } = await send(at("asker"), "book");
    await send(at("asker"), "red", { id: result.id });
    expect((await send(at("asker"), "blue", { id: result.id })).error.code).toBe(-32004);
    expect((await send(at("asker"), "blue", { id: UNKNOWN_TASK })).error.code).toBe(-32001);
    const { opened, id } = await begun();
    expect((await send(at("puppet"), "more", { id })).error.code).toBe(-32004);
    puppet.end(id);
    await opened.all();
  });

  it("S9: a stream ends where the task waits", async () => {
    for (const [agent, state] of [
      ["asker", "input_required"],
      ["locked", "auth_required"],
    ] as const)
      expect(results(await stream(at(agent), "hi")).at(-1)).toMatchObject({ status: { state }, final: true });
  });
});

describe("simple_a2a: tasks", () => {
  it("S4: a task is returned in the form in which it was created, by id and by taskId", async () => {
    const { result } = await send(server.url, "hello");
    expect((await rpc(server.url, "tasks/get", { id: result.id })).body.result).toEqual(result);
    expect((await rpc(server.url, "tasks/get", { taskId: result.id })).body.result).toEqual(result);
    expect((await rpc(server.url, "tasks/get", { taskId: UNKNOWN_TASK })).body.error.code).toBe(-32001);
  });

  it("S4: all tasks are one list, the newest first", async () => {
    const first = (await send(strict.url, "one")).result;
    const second = (await send(strict.url, "two")).result;
    for (const params of [undefined, {}]) {
      const { result } = (await rpc(strict.url, "tasks/list", params)).body;
      expect(result.map((task: Loose) => task.id).slice(0, 2)).toEqual([second.id, first.id]);
    }
    expect(Array.isArray((await rpc(server.url, "tasks/list", {})).body.result)).toBe(true);
  });

  it("S4: the list has all tasks; where their bytes exceed the bound, a header says that it was cut", async () => {
    const url = `${strict.url}/`;
    const listed = async (): Promise<readonly [number, string | null]> => {
      const { body, headers } = await rpc(url, "tasks/list", {});
      return [body.result.length, headers.get("dragoman-truncated")];
    };
    const [before] = await listed();
    await Promise.all(Array.from({ length: 120 }, (_, i) => send(url, `task ${i}`)));
    expect(await listed()).toEqual([before + 120, null]);
    for (let i = 0; i < 12; i++) await send(url, "x".repeat(500_000));
    const [count, truncated] = await listed();
    expect(truncated).toBe("true");
    expect(count).toBeGreaterThan(1);
    expect(count).toBeLessThan(before + 132);
  });

  it("S8: the versions that the document allows do not change its shapes at /", async () => {
    const { result } = await send(server.url, "hello");
    for (const version of ["1.0", "0.3"]) {
      const headers = { "a2a-version": version };
      expect((await rpc(server.url, "tasks/get", { id: result.id }, headers)).body.result).toEqual(result);
      const list = (await rpc(server.url, "tasks/list", {}, headers)).body.result;
      expect(list.find((task: Loose) => task.id === result.id)).toEqual(result);
      const cancel = await rpc(server.url, "tasks/cancel", { id: result.id }, headers);
      expect(cancel.body.error.code).toBe(-32002);
    }
    for (const method of ["tasks/get", "tasks/list", "tasks/cancel", "tasks/send"]) {
      const { body } = await rpc(server.url, method, { id: result.id }, { "a2a-version": "2.0" });
      expect([body.id, body.error.code]).toEqual([null, -32008]);
    }
  });

  it("R7: a client of v0.3 gets the shape of v0.3 at the address of the agent", async () => {
    const { result } = await send(server.url, "hello");
    const { body } = await rpc(at("echo"), "tasks/get", { id: result.id }, { "a2a-version": "0.3" });
    expect(body.result.kind).toBe("task");
  });

  it("R8: a request with page parameters, or at the address of an agent, gets a page of v0.3", async () => {
    await send(server.url, "one");
    for (const [url, params] of [
      [server.url, { pageSize: 1 }],
      [at("echo"), {}],
    ] as const) {
      const { result } = (await rpc(url, "tasks/list", params, { "a2a-version": "0.3" })).body;
      expect(result.tasks[0].kind).toBe("task");
    }
  });

  it("S4: a task is canceled once, and its stream ends with it", async () => {
    const { opened, id } = await begun();
    const { result } = (await rpc(at("puppet"), "tasks/cancel", { taskId: id })).body;
    expect(result.status.state).toBe("canceled");
    expect(results(await opened.all()).at(-1)).toMatchObject({ status: { state: "canceled" }, final: true });
    for (const params of [{ id }, { taskId: id }])
      expect((await rpc(at("puppet"), "tasks/cancel", params)).body.error.code).toBe(-32002);
  });

  it("S4: a resubscription replays all events, and is refused for a task that has ended", async () => {
    const { opened, id } = await begun();
    puppet.send(id, ctx => ctx.text("one "));
    await opened.next();
    await opened.next();
    const again = await openStream(at("puppet"), "tasks/resubscribe", { taskId: id });
    puppet.end(id);
    const kinds = results(await again.all()).map(frame => frame.status?.state ?? frame.artifact.name);
    expect(kinds).toEqual(["submitted", "working", "response", "completed"]);
    await opened.all();
    expect((await rpc(at("puppet"), "tasks/resubscribe", { taskId: id })).body.error.code).toBe(-32004);
  });

  it("S5: without push none of its methods is supported; an unknown task is TaskNotFound", async () => {
    for (const verb of ["set", "get", "delete", "list"]) {
      const config = { id: UNKNOWN_TASK, pushNotificationConfig: { webhookUrl: "https://hooks.example/" } };
      const reply = await rpc(strict.url, `tasks/pushNotification/${verb}`, config);
      expect([reply.status, reply.body.error.code]).toEqual([200, -32001]);
      const discreet = await rpc(at("discreet"), `tasks/pushNotification/${verb}`, config);
      expect([discreet.status, discreet.body.error.code]).toEqual([200, -32003]);
    }
  });

  it("S5: a config is set, read, replaced, listed and deleted; a missing member is an invalid parameter", async () => {
    const push = async (verb: string, params: object): Promise<Loose> =>
      (await rpc(strict.url, `tasks/pushNotification/${verb}`, params)).body;
    const { id } = (await send(strict.url, "hello")).result;
    expect((await push("get", { id })).result).toBeNull();
    const pushNotificationConfig = { webhookUrl: "https://hooks.example/" };
    const set = { id, pushNotificationConfig };
    expect((await push("set", set)).result).toEqual(set);
    const other = { id, pushNotificationConfig: { webhookUrl: "https://hooks.example/other" } };
    expect(
      (await push("set", { id, pushNotificationConfig: { url: "https://hooks.example/other" } })).result,
    ).toEqual(other);
    expect((await push("get", { id })).result).toEqual(other);
    expect((await push("list", { id })).result).toEqual([other]);
    expect((await push("delete", { id })).result).toBeNull();
    expect((await push("get", { id })).result).toBeNull();
    for (const wrong of [{ pushNotificationConfig }, { id }, { id, pushNotificationConfig: {} }])
      expect((await push("set", wrong)).error.code).toBe(-32602);
  });
});

describe("R6: the dialect of a method that simple_a2a shares with v0.1", () => {
  const parts = (part: object, more: object = {}) => ({ message: { role: "user", parts: [part], ...more } });

  it("R6: the members of parts decide, and without them the id of the message", async () => {
    const kind = parts({ kind: "text", text: "hi" });
    const type = parts({ type: "text", text: "hi" });
    const member = parts({ text: "hi", mediaType: "text/plain" }, { messageId: "m" });
    const is = async (params: object, version = "") => {
      const { result } = (await rpc(server.url, "tasks/send", params, { "a2a-version": version })).body;
      return "contextId" in result ? "simple" : "v01";
    };
    expect([await is(kind), await is(type), await is(member)]).toEqual(["simple", "v01", "simple"]);
    expect([await is(kind, "1.0"), await is(type, "0.1")]).toEqual(["simple", "v01"]);
  });

  it("R6: with the strict profile the root has no other dialect", async () => {
    const type = parts({ type: "text", text: "hi" });
    const { result } = (await rpc(strict.url, "tasks/send", type)).body;
    expect(result).toHaveProperty("contextId");
    const send = { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] } };
    expect((await rpc(strict.url, "SendMessage", send)).body.error.code).toBe(-32601);
    expect((await rpc(`${strict.url}/agents/echo`, "SendMessage", send)).body.result.task).toBeDefined();
  });
});
