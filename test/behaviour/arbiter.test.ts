import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { asker, createScriptedAgent, echo, mirror, replier } from "../support/agents.ts";
import { openStream, type RpcReply, rpc, type SseEvent } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/arbiter.md#statements: Arbiter's document, statement by statement. */

const puppet = createScriptedAgent();
const meter: AgentDefinition = {
  name: "meter",
  description: "Counts what it spends",
  skills: [{ id: "count", name: "Count", description: "Counts", tags: ["numbers"] }],
  async *run(task, ctx) {
    ctx.usage({ inputTokens: 142 });
    for (const word of task.text.split(" ")) yield ctx.text(`${word} `);
    ctx.usage({ inputTokens: 1, outputTokens: 218 });
    yield ctx.data({ words: task.text.split(" ").length });
  },
};
const breaking: AgentDefinition = {
  name: "breaking",
  run() {
    throw new Error("the key is hunter2");
  },
};
const failing: AgentDefinition = {
  name: "failing",
  run: (_task, ctx) => ctx.fail("The provider did not answer"),
};

let server: TestServer;
let strict: TestServer;
const at = (agent: string, of = server): string => `${of.url}/v1/a2a/agents/${agent}`;
beforeAll(async () => {
  server = await serve([
    echo,
    { ...mirror, replies: "task" },
    asker,
    replier,
    meter,
    breaking,
    failing,
    puppet.definition,
  ]);
  strict = await serve([echo], { arbiter: "strict" });
});
afterAll(() => Promise.all([server.stop(), strict.stop()]));

type Loose = RpcReply["body"];
const sendParams = (text: string, more: object = {}) => ({
  message: { role: "user", messageId: "m-1", parts: [{ kind: "text", text }], ...more },
});
const send = (agent: string, text: string, more: object = {}): Promise<Loose> =>
  rpc(at(agent), "message/send", sendParams(text, more)).then(reply => reply.body);
const stream = async (agent: string, text: string): Promise<SseEvent[]> =>
  (await openStream(at(agent), "message/stream", sendParams(text))).all();
const results = (events: readonly SseEvent[]): Loose[] => events.map(event => event.data.result);
const textOf = (message: Loose): string => message.parts.map((part: Loose) => part.text).join("");

/** Sends exactly this body with exactly these headers. */
async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return { status: response.status, body: (await response.json()) as Loose };
}

/** A running task of the scripted agent. */
async function begun(text = "go") {
  const opened = await openStream(at("puppet"), "message/stream", sendParams(text));
  const first = (await opened.next()) as SseEvent;
  return { opened, id: first.data.result.taskId as string };
}

const UNKNOWN_TASK = "01890000-0000-7000-8000-000000000000";

describe("Arbiter: calls", () => {
  it("A1: index is the default agent, and an unknown agent is TaskNotFound", async () => {
    const mine = await send("index", "hi");
    expect(mine.result.metadata["x-arbiter.agent_id"]).toBe("index");
    expect((await send("echo", "hi")).result.metadata["x-arbiter.agent_id"]).toBe("echo");
    expect((await send("nobody", "hi")).error.code).toBe(-32001);
  });

  it("A2: every protocol error is an envelope with status 200; wrong paths and verbs are 404 and 405", async () => {
    const wrong = ["{", "[]", "7", '{"id":1}', '{"jsonrpc":"2.0","id":1,"method":"no/such"}'];
    for (const body of wrong) {
      const reply = await post(at("echo"), body);
      expect([reply.status, reply.body.jsonrpc]).toEqual([200, "2.0"]);
      expect(Object.keys(reply.body.error)).toEqual(["code", "message"]);
    }
    expect((await post(`${server.url}/v1/a2a/foo`, "{}")).status).toBe(404);
    const got = await fetch(at("echo"));
    expect([got.status, got.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    await got.body?.cancel();
  });

  it.each(["1.0", "1", "", " 1.0 "])("A3: the version %j is accepted", async version => {
    const reply = await rpc(at("echo"), "message/send", sendParams("hi"), { "a2a-version": version });
    expect(reply.body.result.kind).toBe("task");
  });

  it.each(["2.0", "0.3", "1.0.1", "v1", "1.1"])(
    "A3: the version %j is refused with the id null, whatever the body contains",
    async version => {
      const call = JSON.stringify({
        jsonrpc: "2.0",
        id: 7,
        method: "message/send",
        params: sendParams("hi"),
      });
      for (const body of [call, '{"jsonrpc":', "[]", '{"jsonrpc":"2.0","id":7,"method":"no/such"}'])
        expect(await post(at("echo"), body, { "a2a-version": version })).toEqual({
          status: 200,
          body: { jsonrpc: "2.0", id: null, error: { code: -32007, message: expect.any(String) } },
        });
    },
  );

  it.each(['"a"', '""', "0", "1.5", "12345678901234567890", "null"])(
    "A4: the id %s is returned unchanged",
    async id => {
      const body = `{"jsonrpc":"2.0","id":${id},"method":"tasks/get","params":{"id":"${UNKNOWN_TASK}"}}`;
      const response = await fetch(at("echo"), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      expect(await response.text()).toContain(`"id":${id},`);
    },
  );

  it("A4: a missing id is returned as null", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", method: "message/send", params: sendParams("hi") });
    expect((await post(at("echo"), body)).body).toMatchObject({ id: null, result: { kind: "task" } });
  });

  it("A12: push is UnsupportedOperation in both profiles, with the same message for every method", async () => {
    const methods = ["set", "get", "list", "delete"].map(verb => `tasks/pushNotificationConfig/${verb}`);
    const calls = [at("echo"), at("echo", strict)].flatMap(url =>
      methods.map(method => rpc(url, method, {})),
    );
    const errors = (await Promise.all(calls)).map(({ body }) => body.error);
    expect(new Set(errors.map(error => JSON.stringify(error))).size).toBe(1);
    expect(errors[0].code).toBe(-32004);
  });

  it("A14: a body that is no request, and an unknown method, have the standard error codes", async () => {
    expect((await post(at("echo"), "[]")).body.error.code).toBe(-32600);
    expect((await post(at("echo"), '{"a":1}')).body.error.code).toBe(-32600);
    expect((await post(at("echo"), "{")).body.error.code).toBe(-32700);
    expect((await rpc(at("echo"), "SendMessage", sendParams("hi"))).body.error.code).toBe(-32601);
    for (const url of [at("echo"), at("echo", strict)])
      expect((await rpc(url, "tasks/list", {})).body.error.code).toBe(-32601);
  });
});

describe("Arbiter: sending", () => {
  it("A5: a send waits for the end, and creates a task even if the message names one", async () => {
    const first = (await send("echo", "one", { contextId: "c-42" })).result;
    expect(first).toMatchObject({ contextId: "c-42", status: { state: "completed" } });
    const next = (await send("echo", "two", { contextId: "c-42", taskId: first.id })).result;
    expect(next).toMatchObject({ contextId: "c-42", status: { state: "completed" } });
    expect(next.id).not.toBe(first.id);
    expect((await send("echo", "three", { taskId: "nonsense" })).result.status.state).toBe("completed");
  });

  it("A5: a message requires an id and accepts only text", async () => {
    const { messageId: _, ...rest } = sendParams("hi").message;
    expect((await rpc(at("echo"), "message/send", { message: rest })).body.error.code).toBe(-32602);
    for (const part of [{ kind: "data", data: {} }, { kind: "file", file: { uri: "a:b" } }, { kind: "x" }])
      expect((await send("mirror", "", { parts: [part] })).error.code).toBe(-32005);
    const texts = ["one", "two"].map(text => ({ kind: "text", text }));
    expect((await send("mirror", "", { parts: texts })).result.status.message.parts).toEqual(texts);
  });

  it("A6: a task has its reply in its status and in its history, and its usage in the metadata", async () => {
    const { result } = await send("meter", "to be", { contextId: "c-1" });
    const stamp = { taskId: result.id, contextId: "c-1" };
    const reply = { role: "agent", messageId: `${result.id}-r`, ...stamp };
    expect(result).toMatchObject({ kind: "task", status: { state: "completed", message: reply } });
    expect(textOf(result.status.message)).toBe("to be ");
    expect(result.history).toMatchObject([{ role: "user", messageId: "m-1", ...stamp }, reply]);
    expect(result.history).toHaveLength(2);
    expect(result.metadata).toEqual({
      "x-arbiter.agent_id": "meter",
      "x-arbiter.input_tokens": 143,
      "x-arbiter.output_tokens": 218,
    });
    expect(result.artifacts.map((one: Loose) => one.parts)).toEqual([[{ kind: "data", data: { words: 2 } }]]);
  });

  it("A6: a bare message of an agent is returned as a task", async () => {
    const { result } = await send("replier", "Ada");
    expect(result.status).toMatchObject({ state: "completed", message: { messageId: `${result.id}-r` } });
    expect((await rpc(at("replier"), "tasks/get", { id: result.id })).body.result).toEqual(result);
  });

  it("A6: a question ends the send, and the task is input-required", async () => {
    const { result } = await send("asker", "book");
    expect(result.status.state).toBe("input-required");
    expect(textOf(result.status.message)).toBe("Which one?");
  });

  it("A13: an agent that throws is InvalidAgentResponse; one that fails with its own message is a task", async () => {
    const { error } = await send("breaking", "hi");
    expect(error.code).toBe(-32006);
    expect(error.message).not.toContain("hunter2");
    const { result } = await send("failing", "hi");
    expect(result.status.state).toBe("failed");
    expect(textOf(result.status.message)).toBe("The provider did not answer");
  });

  it("A13: a stream of an agent that throws ends with a failed status", async () => {
    const last = results(await stream("breaking", "hi")).at(-1);
    expect(last).toMatchObject({ status: { state: "failed" }, final: true });
  });
});

describe("Arbiter: streams", () => {
  it("A7: a stream is working, then one text in chunks, then the end with the whole text", async () => {
    const events = await stream("meter", "to be or not");
    expect(new Set(events.map(event => event.event))).toEqual(new Set(["message"]));
    const frames = results(events);
    const { taskId } = frames[0];
    expect(frames[0]).toMatchObject({
      kind: "status-update",
      status: { state: "working" },
      final: false,
    });
    const texts = frames.filter(frame => frame.artifact?.artifactId === `${taskId}-text-0`);
    expect(texts.map(frame => [frame.artifact.name, frame.append])).toEqual([
      ["response", false],
      ["response", true],
      ["response", true],
      ["response", true],
    ]);
    const last = frames.at(-1);
    expect(last).toMatchObject({ kind: "status-update", status: { state: "completed" }, final: true });
    expect(last.status.message.messageId).toBe(`${taskId}-r`);
    expect(textOf(last.status.message)).toBe(texts.map(frame => textOf(frame.artifact)).join(""));
    expect(frames.filter(frame => frame.final)).toEqual([last]);
  });

  it("A8: data and files are separate artifacts", async () => {
    const frames = results(await stream("meter", "to be"));
    const parts = frames.flatMap(frame => frame.artifact?.parts ?? []);
    expect(parts.filter((part: Loose) => part.kind === "data")).toEqual([
      { kind: "data", data: { words: 2 } },
    ]);
  });

  it("A11: usage is in the metadata of a status", async () => {
    const frames = results(await stream("meter", "to be"));
    const spent = frames.flatMap(frame => frame.metadata?.["x-arbiter.usage"] ?? []);
    expect(spent).toEqual([{ input_tokens: 142 }, { input_tokens: 1, output_tokens: 218 }]);
  });

  it("A11: a resubscription replays all events, then sends live ones", async () => {
    const { opened, id } = await begun();
    puppet.send(id, ctx => ctx.text("one "));
    await opened.next();
    const again = await openStream(at("puppet"), "tasks/resubscribe", { id });
    puppet.send(id, ctx => ctx.text("two"));
    puppet.end(id);
    const all = await again.all();
    expect(results(all).map(frame => frame.status?.state ?? textOf(frame.artifact))).toEqual([
      "working",
      "one ",
      "two",
      "completed",
    ]);
    expect(all.at(-1)?.data.result.final).toBe(true);
    await opened.all();
  });

  it("A11: a task that has ended has exactly one status event, and it is final", async () => {
    const { result } = await send("echo", "hi");
    const events = await (await openStream(at("echo"), "tasks/resubscribe", { id: result.id })).all();
    expect(results(events)).toEqual([
      {
        kind: "status-update",
        taskId: result.id,
        contextId: result.contextId,
        status: result.status,
        final: true,
      },
    ]);
    expect((await rpc(at("echo"), "tasks/resubscribe", { id: UNKNOWN_TASK })).body.error.code).toBe(-32001);
  });
});

describe("Arbiter: tasks", () => {
  it("A9: a running task has only its state", async () => {
    const { opened, id } = await begun();
    puppet.send(id, ctx => ctx.status("looking"));
    puppet.send(id, ctx => ctx.text("found"));
    await opened.next();
    await opened.next();
    const working = (await rpc(at("puppet"), "tasks/get", { id })).body.result;
    expect(Object.keys(working)).toEqual(["kind", "id", "contextId", "status", "metadata"]);
    expect(Object.keys(working.status)).toEqual(["state", "timestamp"]);
    puppet.end(id);
    await opened.all();
    const done = (await rpc(at("puppet"), "tasks/get", { id })).body.result;
    expect(textOf(done.status.message)).toBe("found");
    expect(done.history.map((message: Loose) => message.role)).toEqual(["user", "agent"]);
  });

  it("A9: a task of another agent is found, at the path of every agent that exists", async () => {
    const { result } = await send("echo", "hi");
    const found = (await rpc(at("meter"), "tasks/get", { id: result.id })).body.result;
    expect(found).toMatchObject({ id: result.id, metadata: { "x-arbiter.agent_id": "echo" } });
    expect((await rpc(at("nobody"), "tasks/get", { id: result.id })).body.error.code).toBe(-32001);
    expect((await rpc(at("echo"), "tasks/get", { id: UNKNOWN_TASK })).body.error.code).toBe(-32001);
  });

  it("A10: cancel ends the task and its stream; a task that has ended cannot be canceled", async () => {
    const { opened, id } = await begun();
    const { result } = (await rpc(at("puppet"), "tasks/cancel", { id })).body;
    expect(result).toMatchObject({ kind: "task", id, status: { state: "canceled" } });
    const last = results(await opened.all()).at(-1);
    expect(last).toMatchObject({ status: { state: "canceled" }, final: true });
    expect((await rpc(at("puppet"), "tasks/cancel", { id })).body.error.code).toBe(-32002);
    expect((await rpc(at("puppet"), "tasks/cancel", { id: UNKNOWN_TASK })).body.error.code).toBe(-32001);
  });

  it("A10: the request of the same id is canceled by its own path", async () => {
    const { opened, id } = await begun();
    const cancel = (request: string) => post(`${server.url}/v1/requests/${request}/cancel`, "");
    expect(await cancel(id)).toEqual({ status: 200, body: { request_id: id, cancelled: true } });
    expect(results(await opened.all()).at(-1)).toMatchObject({ status: { state: "canceled" }, final: true });
    for (const request of [id, UNKNOWN_TASK])
      expect(await cancel(request)).toEqual({
        status: 404,
        body: { request_id: request, cancelled: false, reason: expect.any(String) },
      });
  });
});
