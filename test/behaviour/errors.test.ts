import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, createScriptedAgent, echo } from "../support/agents.ts";
import { rpc } from "../support/client.ts";
import {
  fieldsOf,
  type Loose,
  OFFICIAL_DIALECTS,
  rpcError,
  rpcResult,
  startTask,
  untilState,
  V1,
} from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/README.md#versions-extensions-errors: errors. */

const UNKNOWN = "01890000-0000-7000-8000-000000000000";
const puppet = createScriptedAgent();
const dull = { ...echo, name: "dull", streaming: false };
const discreet = { ...echo, name: "discreet", push: false };
const needy = { ...echo, name: "needy", extensions: [{ uri: "urn:needed", required: true }] };

let server: TestServer;
let root: string;
const at = (name: string): string => `${server.url}/agents/${name}`;
beforeAll(async () => {
  server = await serve([echo, dull, discreet, needy, asker, puppet.definition], { bodyBytesMax: 20_000 });
  root = server.url;
});
afterAll(() => server.stop());

/** A push config, and the config of a task, in the spelling of both versions. */
const HOOK = { url: "https://a.example", pushNotificationConfig: { url: "https://a.example" } };
const UNKNOWN_CONFIG = { taskId: UNKNOWN, id: UNKNOWN, pushNotificationConfigId: "x" };

/** One call for each error that callers can cause: url, operation, params, code, reason. */
type Case = readonly [
  what: string,
  name: string,
  make: (dialect: Loose) => [string, unknown],
  code: number,
  reason: string,
];
const CASES: readonly Case[] = [
  ["get of an unknown task", "echo", t => [t.get, { id: UNKNOWN }], -32001, "TASK_NOT_FOUND"],
  ["cancel of an unknown task", "echo", t => [t.cancel, { id: UNKNOWN }], -32001, "TASK_NOT_FOUND"],
  ["subscription to an unknown task", "echo", t => [t.subscribe, { id: UNKNOWN }], -32001, "TASK_NOT_FOUND"],
  [
    "message to an unknown task",
    "echo",
    t => [t.send, t.sendParams("x", { taskId: UNKNOWN })],
    -32001,
    "TASK_NOT_FOUND",
  ],
  ["extended card", "echo", t => [t.extendedCard, {}], -32004, "UNSUPPORTED_OPERATION"],
  [
    "stream of an agent without streaming",
    "dull",
    t => [t.stream, t.sendParams("x")],
    -32004,
    "UNSUPPORTED_OPERATION",
  ],
  [
    "message without the extension",
    "needy",
    t => [t.send, t.sendParams("x")],
    -32008,
    "EXTENSION_SUPPORT_REQUIRED",
  ],
  [
    "a picture",
    "echo",
    t => [t.send, t.sendParams("x", { parts: [picture(t)] })],
    -32005,
    "CONTENT_TYPE_NOT_SUPPORTED",
  ],
  ["set push", "discreet", t => [t.push[0], { ...UNKNOWN_CONFIG, ...HOOK }], -32003, PUSH()],
  ["get push", "discreet", t => [t.push[1], UNKNOWN_CONFIG], -32003, PUSH()],
  ["list push", "discreet", t => [t.push[2], UNKNOWN_CONFIG], -32003, PUSH()],
  ["delete push", "discreet", t => [t.push[3], UNKNOWN_CONFIG], -32003, PUSH()],
  [
    "set push for an unknown task",
    "echo",
    t => [t.push[0], { ...UNKNOWN_CONFIG, ...HOOK }],
    -32001,
    "TASK_NOT_FOUND",
  ],
  ["get push of an unknown task", "echo", t => [t.push[1], UNKNOWN_CONFIG], -32001, "TASK_NOT_FOUND"],
  ["list push of an unknown task", "echo", t => [t.push[2], UNKNOWN_CONFIG], -32001, "TASK_NOT_FOUND"],
  ["delete push of an unknown task", "echo", t => [t.push[3], UNKNOWN_CONFIG], -32001, "TASK_NOT_FOUND"],
  ["unknown method", "echo", t => [`${t.get}Nonsense`, {}], -32601, "METHOD_NOT_FOUND"],
  ["missing id", "echo", t => [t.get, {}], -32602, "INVALID_PARAMS"],
];
function PUSH(): string {
  return "PUSH_NOTIFICATION_NOT_SUPPORTED";
}
const picture = (dialect: Loose): object =>
  dialect === V1
    ? { raw: "aGk=", mediaType: "image/png" }
    : { kind: "file", file: { bytes: "aGk=", mimeType: "image/png" } };

describe.each(CASES)("%s", (_, name, make, code, reason) => {
  it(`B-V5: is ${code} in every dialect`, async () => {
    for (const dialect of OFFICIAL_DIALECTS) {
      const error = await rpcError(at(name), ...make(dialect), { "a2a-version": dialect.version });
      expect(error.code).toBe(code);
      expect(error.message).toMatch(/.{10,}/);
    }
  });

  it("B-V7: in v1 has code, message and details, each with its type, and nothing else", async () => {
    const error = await rpcError(at(name), ...make(V1), { "a2a-version": "1.0" });
    expect(Object.keys(error).sort()).toEqual(["code", "data", "message"]);
    for (const detail of error.data)
      expect(detail["@type"]).toMatch(/^type\.googleapis\.com\/google\.rpc\.\w+$/);
    expect(error.data[0]).toMatchObject({
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason,
      domain: expect.stringMatching(/.+/),
    });
    if (code > -32100 && code <= -32001) expect(error.data[0].domain).toBe("a2a-protocol.org");
    for (const value of Object.values(error.data[0].metadata ?? {}))
      expect(value).toEqual(expect.any(String));
  });

  it("in v0.3 has a code and a message, no details of v1", async () => {
    const dialect = OFFICIAL_DIALECTS[1];
    const error = await rpcError(at(name), ...make(dialect), { "a2a-version": "0.3" });
    expect(Object.keys(error).sort()).toEqual(["code", "message"]);
  });
});

describe.each(OFFICIAL_DIALECTS)("$name", dialect => {
  it("B-V5: a push configuration inside a send is PushNotificationNotSupported, and no task is created", async () => {
    const config = { url: "https://client.example/hook" };
    const configuration =
      dialect === V1 ? { taskPushNotificationConfig: config } : { pushNotificationConfig: config };
    const contextId = `push-${dialect.name}`;
    for (const method of [dialect.send, dialect.stream]) {
      const error = await rpcError(
        at("discreet"),
        method,
        dialect.sendParams("hi", { contextId }, { configuration }),
      );
      expect(error.code).toBe(-32003);
    }
    expect((await rpcResult(at("discreet"), dialect.list, { contextId })).totalSize).toBe(0);
  });

  it("B-V5: push and extended cards are supported exactly if the card declares them", async () => {
    const cardAt = async (url: string): Promise<Loose> =>
      (await fetch(`${url}/.well-known/agent-card.json`)).json();
    const card = await cardAt(root);
    expect(card.capabilities).toMatchObject({ pushNotifications: true, extendedAgentCard: false });
    expect((await cardAt(at("discreet"))).capabilities).toMatchObject({ pushNotifications: false });
    expect(card.supportsAuthenticatedExtendedCard).toBe(false);
    expect((await rpcError(root, dialect.extendedCard, undefined)).code).toBe(-32004);
  });

  it("B-V6: every operation on a task of another agent returns the error for a missing task", async () => {
    const { id } = await startTask(at("puppet"), dialect, "mine");
    await untilState(at("puppet"), id, "working");
    for (const method of [dialect.get, dialect.cancel, dialect.subscribe]) {
      const foreign = await rpcError(at("asker"), method, { id });
      const absent = await rpcError(at("asker"), method, { id: UNKNOWN });
      expect(JSON.stringify(foreign).replaceAll(id, "")).toBe(JSON.stringify(absent).replaceAll(UNKNOWN, ""));
    }
    puppet.end(id);
    await untilState(at("puppet"), id, "completed");
  });

  it("B-V8: unknown members are ignored, at every depth", async () => {
    const part = { ...dialect.textPart("hi"), future: { deep: [1, 2] } };
    const message = { parts: [part], future: true, generation: "7" };
    const more = { configuration: { future: 1 }, future: null, constructor: 1 };
    const task = dialect.taskIn(await rpcResult(root, dialect.send, dialect.sendParams("", message, more)));
    expect(dialect.stateOf(task)).toBe("completed");
    expect(JSON.stringify(task)).not.toContain("future");
    const got = await rpcResult(root, dialect.get, { id: task.id, future: [], name: "x" });
    expect(got.id).toBe(task.id);
    expect((await rpcResult(root, dialect.list, { future: {} })).pageSize).toBe(50);
  });

  it("B-V8: null is the same as absent", async () => {
    const message = {
      contextId: null,
      taskId: null,
      metadata: null,
      extensions: null,
      referenceTaskIds: null,
    };
    const more = { configuration: null, metadata: null };
    const task = dialect.taskIn(await rpcResult(root, dialect.send, dialect.sendParams("hi", message, more)));
    expect(dialect.stateOf(task)).toBe("completed");
    expect((await rpcResult(root, dialect.get, { id: task.id, historyLength: null })).history).toHaveLength(
      1,
    );
  });

  it("B-V9: a body over the limit is 413 with -32600, in the dialect", async () => {
    const reply = await rpc(root, dialect.send, dialect.sendParams("x".repeat(20_001)), {
      "a2a-version": dialect.version,
    });
    expect(reply.status).toBe(413);
    expect(reply.body).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32600 } });
    expect(reply.headers.get("a2a-version")).toBe(dialect.version);
    expect(Array.isArray(reply.body.error.data)).toBe(dialect === V1);
  });

  it("B-V9: JSON-RPC errors have HTTP status 200", async () => {
    for (const [, name, make] of CASES) {
      const reply = await fetch(at(name), {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": dialect.version },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: make(dialect)[0], params: make(dialect)[1] }),
      });
      await reply.text();
      expect(reply.status).toBe(200);
    }
  });

  it("B-V9: an unknown agent is 404, and the id is returned", async () => {
    const reply = await rpc(at("nobody"), dialect.send, dialect.sendParams("hi"));
    expect(reply.status).toBe(404);
    expect(reply.body).toMatchObject({ jsonrpc: "2.0", id: expect.any(Number), error: { code: -32602 } });
  });
});

it("B-V7: an error about a parameter names the field and the reason", async () => {
  const error = await rpcError(root, "GetTask", { id: 5 });
  expect(fieldsOf(error)).toEqual(["id"]);
  expect(error.data[1].fieldViolations[0].description).toContain("string");
});

it("B-V7: an error about a task names the task", async () => {
  expect((await rpcError(root, "GetTask", { id: UNKNOWN })).data[0].metadata).toEqual({ taskId: UNKNOWN });
});
