import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, createScriptedAgent, echo, mirror } from "../support/agents.ts";
import {
  openStream,
  type SseEvent,
  type Stream,
  sendParams,
  sendParamsV03,
  toStream,
  until,
} from "../support/client.ts";
import { type Loose, rpcError, rpcResult, V1, V03 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";
import { foldText, idsOf } from "../support/wire.ts";

/** docs/dialects/v1.md#paths, #streams, #errors: HTTP+JSON beside JSON-RPC, on the same tasks. */

const puppet = createScriptedAgent();
let server: TestServer;
let puppetUrl: string;
beforeAll(async () => {
  server = await serve([echo, mirror, asker, puppet.definition]);
  puppetUrl = `${server.url}/agents/puppet`;
});
afterAll(() => server.stop());

const V1_HEADERS = { "a2a-version": "1.0", "content-type": "application/json" };

async function call(
  verb: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = V1_HEADERS,
): Promise<{ status: number; headers: Headers; body: Loose }> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${server.url}${path}`, { method: verb, headers, ...sent });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
}

const proto = (text: string): object => ({
  message: { messageId: "m", role: "ROLE_USER", content: [{ text }] },
});

describe("one task over both transports", () => {
  it("B-V5: a task that is sent over one is read, listed and canceled over the other", async () => {
    const { body } = await call("POST", "/agents/asker/message:send", sendParams("hi"));
    const { id } = body.task;
    expect(await rpcResult(`${server.url}/agents/asker`, V1.get, { id })).toEqual(body.task);
    const sent = V1.taskIn(await rpcResult(`${server.url}/agents/asker`, V1.send, V1.sendParams("hi")));
    expect((await call("GET", `/agents/asker/tasks/${sent.id}`)).body).toEqual(sent);
    const listed = (await call("GET", "/agents/asker/tasks")).body;
    expect(listed).toEqual(await rpcResult(`${server.url}/agents/asker`, V1.list, {}));
    const canceled = await call("POST", `/agents/asker/tasks/${sent.id}:cancel`);
    expect(V1.stateOf(canceled.body)).toBe("canceled");
  });

  it("B-S8: readers over every transport get the same events in the same order, each in its own form", async () => {
    const stream = await openRest("POST", "/agents/puppet/v1/message:stream", sendParamsV03("go"));
    const id: string = (await stream.next())?.data.id;
    puppet.send(id, ctx => ctx.status("ready"));
    await until(async () => (await rpcResult(puppetUrl, V1.get, { id })).status.message !== undefined);
    const readers = [
      await openRest("GET", `/agents/puppet/tasks/${id}:subscribe`),
      await openRest("GET", `/agents/puppet/v1/tasks/${id}:subscribe`),
      await openStream(puppetUrl, V1.subscribe, { id }),
      await openStream(puppetUrl, V03.subscribe, { id }),
    ];
    const snapshots = await Promise.all(readers.map(reader => reader.next()));
    for (const text of ["one ", "two ", "three "]) puppet.send(id, ctx => ctx.text(text));
    puppet.end(id);
    const [v1, v03, ...rpc] = await Promise.all(readers.map(reader => reader.all()));
    const schema = (await stream.all()).filter(event => Number(event.id) > Number(snapshots[0]?.id));
    const [v1Rpc, v03Rpc] = rpc.map(events => events.map(({ id, data }) => ({ id, data: data.result })));
    expect(plain(v1)).toEqual(v1Rpc);
    expect(plain(schema)).toEqual(v03Rpc);
    expect(v03?.map(event => event.id)).toEqual(v1?.map(event => event.id));
    expect(v03?.map(({ data }) => data.artifactUpdate?.artifact.parts).filter(Boolean)).toEqual(
      ["one ", "two ", "three "].map(text => [{ text }]),
    );
    expect(v03?.at(-1)?.data.statusUpdate).toMatchObject({ final: true });
  });

  it("B-S10: a stream is resumed over the other transport", async () => {
    const stream = await openRest("POST", "/agents/puppet/message:stream", sendParams("go"));
    const id: string = (await stream.next())?.data.task.id;
    const last = Number((await stream.next())?.id);
    stream.close();
    puppet.send(id, ctx => ctx.text("missed"));
    puppet.end(id);
    const after = { "last-event-id": String(last) };
    const rest = await (await openStream(puppetUrl, V1.subscribe, { id }, after)).all();
    expect(idsOf(rest)).toEqual([last + 1, last + 2]);
    expect(foldText(rest)).toBe("missed");
  });

  it("D10: a key that was used over one transport is the same call over the other", async () => {
    const params = sendParams("once");
    const keyed = { ...V1_HEADERS, "idempotency-key": "both" };
    const first = await call("POST", "/agents/echo/message:send", params, keyed);
    const again = await rpcResult(`${server.url}/agents/echo`, V1.send, params, keyed);
    expect(V1.taskIn(again).id).toBe(first.body.task.id);
    const other = await call("POST", "/agents/echo/message:send", sendParams("another"), keyed);
    expect([other.status, other.body.error.details[0].reason]).toEqual([409, "KEY_REUSED"]);
  });
});

describe("errors", () => {
  it("B-V5, B-V7: have the same message and the same details over both transports", async () => {
    const wrong: [method: string, params: Loose, verb: string, path: string, body?: Loose][] = [
      [V1.get, { id: "nope" }, "GET", "/tasks/nope"],
      [V1.cancel, { id: "nope" }, "POST", "/tasks/nope:cancel"],
      [V1.subscribe, { id: "nope" }, "GET", "/tasks/nope:subscribe"],
      [V1.list, { pageSize: 0 }, "GET", "/tasks?pageSize=0"],
      [V1.list, { status: "DONE" }, "GET", "/tasks?status=DONE"],
      [V1.list, { statusTimestampAfter: "now" }, "GET", "/tasks?statusTimestampAfter=now"],
      [V1.send, { message: {} }, "POST", "/message:send", { message: {} }],
      [V1.extendedCard, {}, "GET", "/extendedAgentCard"],
    ];
    for (const [method, params, verb, path, body] of wrong) {
      const { message, data } = await rpcError(server.url, method, params, { "a2a-version": "1.0" });
      const reply = await call(verb, path, body);
      expect(reply.body.error).toMatchObject({ code: reply.status, message, details: data });
    }
  });

  it("B-V5: v0.3 has the codes of JSON-RPC in them", async () => {
    const wrong: [method: string, params: Loose, verb: string, path: string][] = [
      [V03.get, { id: "nope" }, "GET", "/v1/tasks/nope"],
      [V03.cancel, { id: "nope" }, "POST", "/v1/tasks/nope:cancel"],
      [V03.list, { pageSize: 0 }, "GET", "/v1/tasks?pageSize=0"],
      [V03.extendedCard, {}, "GET", "/v1/card"],
    ];
    for (const [method, params, verb, path] of wrong)
      expect((await call(verb, path, undefined, {})).body).toEqual(
        await rpcError(server.url, method, params),
      );
  });

  it("B-V12: a body that violates the rules of HTTP+JSON does not reach the agent", async () => {
    for (const body of ["[]", "1", '"text"', "true"])
      expect((await raw("/message:send", body, "application/json")).status).toBe(400);
    expect((await raw("/message:send", "{}", "application/x-www-form-urlencoded")).status).toBe(415);
    expect((await raw("/v1/message:send", "{}", "text/html")).status).toBe(415);
    expect((await raw("/message:send", "", "text/html")).status).toBe(400);
  });

  it("B-V8: unknown query parameters are ignored, also names of Object.prototype", async () => {
    const { id } = (await call("POST", "/message:send", sendParams("hi"))).body.task;
    const strange = "__proto__=1&__proto__=2&constructor=3&toString=4&historyLength=0";
    const { status, body } = await call("GET", `/tasks/${id}?${strange}`);
    expect([status, body.id, body.history]).toEqual([200, id, undefined]);
  });
});

describe("forms of v0.3", () => {
  it("R9: a response has the form of its request, whichever form came first", async () => {
    const post = async (body: object) => (await call("POST", "/v1/message:send", body, V03_HEADERS)).body;
    expect(await post(proto("hi"))).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect(await post(sendParamsV03("hi"))).toMatchObject({ kind: "task", status: { state: "completed" } });
    expect(await post(proto("hi"))).toMatchObject({ task: { history: [{ content: [{ text: "hi" }] }] } });
  });

  it("R10: the version decides whether /v1 is v0.3 or a tenant of v1.0", async () => {
    const older = await call("POST", "/v1/message:send", proto("hi"), V03_HEADERS);
    expect(older.headers.get("a2a-version")).toBe("0.3");
    const newer = await call("POST", "/v1/message:send", sendParams("hi"));
    expect(newer.headers.get("a2a-version")).toBe("1.0");
  });
});

const V03_HEADERS = { "content-type": "application/json" };

const raw = (path: string, body: string, type: string): Promise<Response> =>
  fetch(`${server.url}${path}`, { method: "POST", body, headers: { "content-type": type } });

const plain = (events: readonly SseEvent[] | undefined) => events?.map(({ id, data }) => ({ id, data }));

/** Reads a stream over HTTP+JSON like one over JSON-RPC. */
async function openRest(verb: string, path: string, body?: unknown): Promise<Stream> {
  const controller = new AbortController();
  const response = await fetch(`${server.url}${path}`, {
    method: verb,
    headers: { "content-type": "application/json" },
    signal: controller.signal,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return toStream(response, controller);
}
