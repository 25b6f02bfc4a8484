import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultCode } from "../../src/model/index.ts";
import type { WireCall } from "../../src/ports/index.ts";
import { createOrloj } from "../../src/protocol/orloj/index.ts";
import { asker, createScriptedAgent, echo, mirror, replier } from "../support/agents.ts";
import { serveGuarded } from "../support/callers.ts";
import { openStream, rpc, until } from "../support/client.ts";
import { type Loose, rpcError, rpcResult } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * docs/dialects/orloj.md#statements, statement by statement; the exact bytes on the wire are in
 * test/corpus/orloj.
 */

const puppet = createScriptedAgent();
const chronicler = { ...echo, name: "chronicler", stateTransitionHistory: true };
const rejecting = { name: "rejecting", run: (_task: unknown, ctx: Loose) => ctx.reject("No.") };
let server: TestServer;
const at = (name: string): string => `${server.url}/v1/agent-systems/${name}/a2a`;
const shared = (): string => `${server.url}/a2a`;
beforeAll(async () => {
  const cast = [echo, asker, mirror, replier, chronicler, rejecting, puppet.definition];
  server = await serve(cast, { heartbeatMs: 40, cancelGraceMs: 100 });
});
afterAll(() => server.stop());

let ids = 0;
const newId = (): string => `task-${++ids}`;
const sendParams = (id: string, text: string, more: object = {}): object => ({
  id,
  message: { role: "user", parts: [{ type: "text", text }] },
  ...more,
});
const send = (name: string, id: string, text: string, more: object = {}): Promise<Loose> =>
  rpcResult(at(name), "tasks/send", sendParams(id, text, more));

/** Starts a task of the scripted agent, and returns the server's id of it. */
async function begin(id: string) {
  const stream = await openStream(at("puppet"), "tasks/sendSubscribe", sendParams(id, "work"));
  await stream.next();
  const { tasks } = await rpcResult(`${server.url}/agents/puppet`, "ListTasks", { pageSize: 1 });
  return { stream, ours: tasks[0].id as string };
}

it("O1: only POST, and only JSON", async () => {
  for (const url of [shared(), at("echo")]) expect((await fetch(url)).status).toBe(405);
  const { body } = await rpc(at("echo"), "tasks/get", { id: "x" }, { "content-type": "text/plain" });
  expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining("Content-Type") });
});

describe("O2: the agent of a call", () => {
  it("is the name in the path, in the newer and in the older path", async () => {
    const id = newId();
    const task = await rpcResult(`${server.url}/v1/agents/echo/a2a`, "tasks/send", sendParams(id, "hi"));
    expect(await rpcResult(at("echo"), "tasks/get", { id })).toEqual(task);
  });

  it("is in the metadata if the path is shared; a task is found by its id alone", async () => {
    for (const word of ["agent", "target"]) {
      const id = newId();
      const task = await rpcResult(
        shared(),
        "tasks/send",
        sendParams(id, "hi", { metadata: { [word]: "echo" } }),
      );
      expect(task.status.state).toBe("completed");
      expect(await rpcResult(shared(), "tasks/get", { id })).toEqual(task);
    }
  });

  it("is required if there are several", async () => {
    expect((await rpcError(shared(), "tasks/send", sendParams(newId(), "hi"))).code).toBe(-32602);
  });

  it("is the only one, if there is one", async () => {
    const alone = await serve([echo]);
    const task = await rpcResult(`${alone.url}/a2a`, "tasks/send", sendParams("task-1", "hi"));
    expect(task).toMatchObject({ id: "task-1", status: { state: "completed" } });
    await alone.stop();
  });

  it("has an error code of its own if it is unknown", async () => {
    const metadata = { agent: "nobody" };
    const replies = await Promise.all([
      rpc(at("nobody"), "tasks/send", sendParams(newId(), "hi")),
      rpc(`${server.url}/v1/agents/nobody/a2a`, "tasks/get", { id: "x" }),
      rpc(shared(), "tasks/send", sendParams(newId(), "hi", { metadata })),
    ]);
    for (const { status, body } of replies) expect([status, body.error.code]).toEqual([200, -32003]);
  });

  it("is needed beside an id that its caller gave to tasks of two agents", async () => {
    const id = newId();
    for (const name of ["echo", "asker"]) await send(name, id, "hi");
    expect((await rpcError(shared(), "tasks/cancel", { id })).code).toBe(-32602);
    const canceled = await rpcResult(shared(), "tasks/cancel", { id, metadata: { agent: "asker" } });
    expect(canceled.status.state).toBe("canceled");
  });
});

it("O3: a caller without required credentials gets 401; an agent that the caller may not see is unknown", async () => {
  const guarded = await serveGuarded([echo]);
  const url = `${guarded.url}/a2a`;
  const { headers } = await guarded.issue("reader", { grants: ["read"] });
  const anonymous = await rpc(url, "tasks/send", sendParams(newId(), "hi"));
  expect([anonymous.status, anonymous.body.error.code]).toEqual([401, -32003]);
  const known = await rpc(url, "tasks/send", sendParams(newId(), "hi"), headers);
  expect([known.status, known.body.error.code]).toEqual([200, -32003]);
  await guarded.stop();
});

it("O4: the id of the call is returned; a call without one is executed and not answered", async () => {
  const post = (body: object): Promise<Response> =>
    fetch(at("echo"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  for (const id of ["req-1", 7]) {
    const reply = await post({ id, method: "tasks/get", params: { id: "nope" } });
    expect(((await reply.json()) as Loose).id).toBe(id);
  }
  const id = newId();
  const reply = await post({ method: "tasks/send", params: sendParams(id, "quietly") });
  expect([reply.status, await reply.text()]).toEqual([204, ""]);
  await until(async () => (await rpcResult(at("echo"), "tasks/get", { id })).status.state === "completed");
});

it("O5: a send without an id creates no task; one with an id waits for the end", async () => {
  const count = async (): Promise<number> =>
    (await rpcResult(`${server.url}/agents/echo`, "ListTasks", {})).totalSize;
  const before = await count();
  const { message } = sendParams("", "hi") as Loose;
  for (const params of [{ message }, { id: "", message }, { id: 5, message }])
    expect((await rpcError(at("echo"), "tasks/send", params)).code).toBe(-32602);
  expect(await count()).toBe(before);
  expect((await send("echo", newId(), "hi")).status.state).toBe("completed");
});

it("O6: the task has the caller's id, and is found by the server's as well", async () => {
  const id = newId();
  expect((await send("asker", id, "book")).id).toBe(id);
  const { tasks } = await rpcResult(`${server.url}/agents/asker`, "ListTasks", { pageSize: 1 });
  expect(tasks[0].id).not.toBe(id);
  for (const name of [id, tasks[0].id]) {
    expect((await rpcResult(at("asker"), "tasks/get", { id: name })).id).toBe(id);
    expect((await rpcResult(shared(), "tasks/get", { id: name })).id).toBe(id);
  }
  expect((await rpcResult(at("asker"), "tasks/cancel", { id: tasks[0].id })).id).toBe(id);
});

describe("O7: a repeated id", () => {
  it("continues a task that asks", async () => {
    const id = newId();
    expect((await send("asker", id, "book")).status.state).toBe("input-required");
    const task = await send("asker", id, "the red one");
    expect(task.artifacts[0].parts).toEqual([{ type: "text", text: "You chose the red one" }]);
  });

  it("is an invalid parameter after the end, and while the task is running", async () => {
    const id = newId();
    await send("echo", id, "hi");
    const error = await rpcError(at("echo"), "tasks/send", sendParams(id, "again"));
    expect(error).toMatchObject({ code: -32602, data: { task_id: id } });
    const busy = newId();
    const { stream, ours } = await begin(busy);
    expect((await rpcError(at("puppet"), "tasks/send", sendParams(busy, "quick"))).code).toBe(-32602);
    puppet.end(ours);
    await stream.all();
  });

  it("has the error code for canceled tasks after a cancel", async () => {
    const id = newId();
    await send("asker", id, "book");
    await rpcResult(at("asker"), "tasks/cancel", { id });
    expect((await rpcError(at("asker"), "tasks/send", sendParams(id, "again"))).code).toBe(-32002);
  });

  it("from two callers at once creates one task", async () => {
    const id = newId();
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => rpc(at("asker"), "tasks/send", sendParams(id, "book"))),
    );
    const states = replies.map(({ body }) => body.result?.status.state ?? body.error.code);
    expect(states).toContain("input-required");
    const { tasks } = await rpcResult(`${server.url}/agents/asker`, "ListTasks", { pageSize: 100 });
    const own = await Promise.all(
      tasks.map((task: Loose) => rpcResult(at("asker"), "tasks/get", { id: task.id })),
    );
    expect(own.filter((task: Loose) => task.id === id)).toHaveLength(1);
  });
});

it("O8: metadata are strings, are stored, and are returned", async () => {
  const id = newId();
  const metadata = { source: "external-workflow", empty: "" };
  expect((await send("echo", id, "hi", { metadata })).metadata).toEqual(metadata);
  expect((await rpcResult(at("echo"), "tasks/get", { id })).metadata).toEqual(metadata);
  for (const wrong of [{ n: 1 }, { o: {} }, { x: null }, { l: ["a"] }]) {
    const error = await rpcError(at("echo"), "tasks/send", sendParams(newId(), "hi", { metadata: wrong }));
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("metadata.") });
  }
});

it("O9: the error for an unknown task names it", async () => {
  for (const method of ["tasks/get", "tasks/cancel", "tasks/resubscribe"]) {
    const { body } = await rpc(at("echo"), method, { id: "a2a-task-unknown" });
    const data = { task_id: "a2a-task-unknown" };
    expect(body.error).toEqual({ code: -32001, message: "task not found", data });
  }
});

it("O10: a cancel stores its reason; a task is canceled once, and not after its end", async () => {
  const id = newId();
  const { stream, ours } = await begin(id);
  puppet.send(ours, ctx => ctx.status("At it"));
  const canceled = await rpcResult(at("puppet"), "tasks/cancel", { id, reason: "No longer needed" });
  expect(canceled.status).toEqual({
    state: "canceled",
    message: { role: "agent", parts: [{ type: "text", text: "No longer needed" }] },
  });
  expect(canceled.metadata).toEqual({ reason: "No longer needed" });
  expect((await stream.all()).at(-1)?.data).toEqual(canceled);
  expect((await rpcError(at("puppet"), "tasks/cancel", { id })).code).toBe(-32002);
  const done = newId();
  await send("echo", done, "hi");
  expect((await rpcError(at("echo"), "tasks/cancel", { id: done })).code).toBe(-32002);
});

describe("O11: streams", () => {
  it("begin at once, and have the whole task at every change of its status, without an envelope", async () => {
    const id = newId();
    const { stream, ours } = await begin(id);
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    puppet.send(ours, ctx => ctx.text("one "));
    puppet.send(ours, ctx => ctx.text("two"));
    puppet.send(ours, ctx => ctx.status("Nearly there"));
    puppet.end(ours);
    const events = await stream.all();
    expect(events.map(({ event }) => event)).toEqual(["status", "status", "status"]);
    expect(events.map(({ data }) => data.status.state)).toEqual(["working", "working", "completed"]);
    const artifacts = [{ name: "response", parts: [{ type: "text", text: "one two" }], index: 0 }];
    expect(events.map(({ data }) => data.artifacts)).toEqual([undefined, artifacts, artifacts]);
    for (const { data } of events) expect(data).not.toHaveProperty("jsonrpc");
  });

  it("have a heartbeat", async () => {
    const id = newId();
    const { stream, ours } = await begin(id);
    stream.close();
    const reply = await fetch(at("puppet"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/resubscribe", params: { id } }),
    });
    let text = "";
    for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      if (text.includes("\n: heartbeat\n\n") && !text.includes("completed")) puppet.end(ours);
    }
    expect(text).toContain("\n: heartbeat\n\n");
  });

  it("stay open while the task asks, and end with it", async () => {
    const id = newId();
    const stream = await openStream(at("asker"), "tasks/sendSubscribe", sendParams(id, "book"));
    let state = "";
    while (state !== "input-required") state = (await stream.next())?.data.status.state;
    await send("asker", id, "the red one");
    const rest = (await stream.all()).map(({ data }) => data.status.state);
    expect(rest).toEqual(["submitted", "working", "completed"]);
    const rejected = await openStream(at("rejecting"), "tasks/sendSubscribe", sendParams(newId(), "work"));
    expect((await rejected.all()).at(-1)?.data.status.state).toBe("rejected");
  });
});

it("O12: eight error codes, and no others", () => {
  const numbers = [-32700, -32600, -32601, -32602, -32603, -32001, -32002, -32003];
  const { faults, encodeFault } = createOrloj("on");
  expect(new Set(Object.values(faults).map(({ rpc }) => rpc))).toEqual(new Set(numbers));
  for (const code of Object.keys(faults) as FaultCode[])
    for (const details of [
      {},
      { taskId: "t", facts: { state: "canceled" } },
      { facts: { state: "working" } },
    ]) {
      const encoded = encodeFault({ code, message: "So it is", details }, { params: {} } as WireCall);
      expect(numbers).toContain(encoded.rpc);
    }
});

describe("O13: objects", () => {
  it("have the members of the document", async () => {
    const task = await send("replier", newId(), "hi", { metadata: { a: "b" } });
    expect(Object.keys(task)).toEqual(["id", "status", "artifacts", "metadata"]);
    expect(task.status).toEqual({
      state: "completed",
      message: { role: "agent", parts: [{ type: "text", text: "re: hi" }] },
    });
    expect(task.artifacts).toEqual([]);
  });

  it("have any JSON as data, and metadata in parts", async () => {
    const parts = [{}, [], [1], "x", 0, true, null, { a: [null] }].map(data => ({ type: "data", data }));
    const all = [...parts, { type: "text", text: "hi", metadata: { lang: "en" } }];
    const params = { id: newId(), message: { role: "user", parts: all } };
    const task = await rpcResult(at("mirror"), "tasks/send", params);
    expect(task.artifacts).toEqual([{ name: "mirror", parts: all, index: 0 }]);
  });

  it("have a history if the card declares it", async () => {
    const message = { role: "user", parts: [{ type: "text", text: "hi" }] };
    expect((await send("chronicler", newId(), "hi")).history).toEqual([message]);
    expect(await send("echo", newId(), "hi")).not.toHaveProperty("history");
  });
});

it("O14: a card in the older form, public and cached for five minutes", async () => {
  for (const path of ["agent-systems", "agents"]) {
    const reply = await fetch(`${server.url}/v1/${path}/chronicler/.well-known/agent-card.json`);
    expect(reply.headers.get("cache-control")).toBe("public, max-age=300");
    expect(await reply.json()).toMatchObject({
      name: "chronicler",
      url: at("chronicler"),
      capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: true },
      authentication: { schemes: [] },
      skills: [{ id: "chronicler" }],
    });
  }
});

it("D11: with the strict profile nothing but the members of the document is sent", async () => {
  const strict = await serve([mirror], { orloj: "strict" });
  const url = `${strict.url}/v1/agent-systems/mirror/a2a`;
  expect((await rpc(url, "tasks/resubscribe", { id: "x" })).body.error.code).toBe(-32601);
  expect((await rpc(url, "tasks/pushNotification/get", { id: "x" })).body.error.code).toBe(-32601);
  const card = await fetch(`${strict.url}/v1/agents/mirror/.well-known/agent-card.json`);
  expect(await card.json()).toMatchObject({ capabilities: { pushNotifications: false } });
  const file = { type: "file", file: { uri: "https://files.example/a.png" } };
  const params = { id: "task-1", message: { role: "user", parts: [file] } };
  expect((await rpcError(url, "tasks/send", params)).code).toBe(-32602);
  expect((await rpcResult(url, "tasks/send", sendParams("task-1", "hi"))).status.state).toBe("completed");
  await strict.stop();
});
