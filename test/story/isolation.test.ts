import type { ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { asker, createScriptedAgent } from "../support/agents.ts";
import { type GuardedServer, type Issued, serveGuarded } from "../support/callers.ts";
import { rpc, sendParams } from "../support/client.ts";
import { createGrpcClient, type GrpcClient } from "../support/grpc.ts";
import { type Loose, rpcResult } from "../support/official-dialects.ts";

/**
 * The response for a task of another caller is that for a missing task, byte by byte, for every operation in
 * every dialect.
 */

const puppet = createScriptedAgent();
/** Returns the number of messages in its context. */
const rememberer: AgentDefinition = {
  name: "rememberer",
  async *run(_task, ctx) {
    yield ctx.text(`${(await ctx.history).length} earlier messages`);
  },
};
let guarded: GuardedServer;
let grpc: GrpcClient;
let alice: Issued;
let others: readonly (readonly [string, Issued])[] = [];
/** Ids of alice's tasks by agent and state, and one that does not exist. */
let asking = "";
let working = "";
const ABSENT = "01980000-0000-7000-8000-000000000000";

beforeAll(async () => {
  guarded = await serveGuarded([asker, puppet.definition, rememberer]);
  grpc = createGrpcClient(new URL(guarded.url).host);
  alice = await guarded.issue("alice", { tenants: ["acme"] });
  others = [
    ["another caller of the same tenant", await guarded.issue("mallory", { tenants: ["acme"] })],
    ["a caller of the same name in another tenant", await guarded.issue("alice", { tenants: ["beta"] })],
    [
      "the same caller with a token for another agent",
      await guarded.issue("alice", { tenants: ["acme"], agents: ["rememberer"] }),
    ],
  ];
  const at = (agent: string): string => `${guarded.url}/agents/${agent}`;
  asking = (await rpcResult(at("asker"), "SendMessage", sendParams("hi"), alice.headers)).task.id;
  const configuration = { returnImmediately: true };
  working = (
    await rpcResult(at("puppet"), "SendMessage", { ...sendParams("go"), configuration }, alice.headers)
  ).task.id;
  const config = { taskId: asking, id: "hook", url: "https://c.example/hook" };
  await rpc(at("asker"), "CreateTaskPushNotificationConfig", config, alice.headers);
});
afterAll(async () => {
  grpc.close();
  puppet.end(working);
  await guarded.stop();
});

interface Shot {
  readonly verb: string;
  readonly path: string;
  readonly version?: string;
  readonly body?: object;
}
const call = (path: string, method: string, params: object, version?: string): Shot => ({
  verb: "POST",
  path,
  body: { jsonrpc: "2.0", id: 1, method, params },
  ...(version !== undefined && { version }),
});
const rest = (verb: string, path: string, version: string, body?: object): Shot => ({
  verb,
  path,
  version,
  ...(body && { body }),
});

/** A whole response, without the requested id. */
async function fire(shot: Shot, caller: Issued, id: string): Promise<string> {
  const { verb, path, version, body } = shot;
  const put = (text: string): string => text.replaceAll("ID", id);
  const reply = await fetch(guarded.url + put(path), {
    method: verb,
    headers: {
      ...caller.headers,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...(version !== undefined && { "a2a-version": version }),
    },
    ...(body && { body: put(JSON.stringify(body)) }),
  });
  const headers = [...reply.headers].filter(([name]) => name !== "date" && name !== "x-request-id");
  return JSON.stringify([reply.status, headers, await reply.text()]).replaceAll(id, "ID");
}

const text = { role: "user", messageId: "m", parts: [{ kind: "text", type: "text", text: "hi" }] };
const PUSH = { url: "https://c.example/hook" };

/** Every operation on one task of one agent. */
const shotsAt = (agent: string): readonly Shot[] => {
  const at = `/agents/${agent}`;
  const [lg, orloj, arbiter] = [`/a2a/${agent}`, `/v1/agent-systems/${agent}/a2a`, `/v1/a2a/agents/${agent}`];
  const taskAt = `${at}/tasks/ID`;
  const message = { kind: "message", ...text, taskId: "ID" };
  return [
    call(at, "GetTask", { id: "ID" }, "1.0"),
    call(at, "CancelTask", { id: "ID" }, "1.0"),
    call(at, "SubscribeToTask", { id: "ID" }, "1.0"),
    call(at, "SendMessage", sendParams("hi", { messageId: "m", taskId: "ID" }), "1.0"),
    call(at, "SendStreamingMessage", sendParams("hi", { messageId: "m", taskId: "ID" }), "1.0"),
    call(at, "CreateTaskPushNotificationConfig", { taskId: "ID", ...PUSH }, "1.0"),
    call(at, "GetTaskPushNotificationConfig", { taskId: "ID", id: "hook" }, "1.0"),
    call(at, "ListTaskPushNotificationConfigs", { taskId: "ID" }, "1.0"),
    call(at, "DeleteTaskPushNotificationConfig", { taskId: "ID", id: "hook" }, "1.0"),
    rest("GET", taskAt, "1.0"),
    rest("POST", `${taskAt}:cancel`, "1.0", {}),
    rest("GET", `${taskAt}:subscribe`, "1.0"),
    rest("POST", `${at}/message:send`, "1.0", sendParams("hi", { messageId: "m", taskId: "ID" })),
    rest("POST", `${taskAt}/pushNotificationConfigs`, "1.0", PUSH),
    rest("GET", `${taskAt}/pushNotificationConfigs`, "1.0"),
    rest("GET", `${taskAt}/pushNotificationConfigs/hook`, "1.0"),
    rest("DELETE", `${taskAt}/pushNotificationConfigs/hook`, "1.0"),
    ...["tasks/get", "tasks/cancel", "tasks/resubscribe"].map(method => call(at, method, { id: "ID" })),
    ...["message/send", "message/stream"].map(method => call(at, method, { message })),
    call(at, "tasks/pushNotificationConfig/set", { taskId: "ID", pushNotificationConfig: PUSH }),
    ...["get", "list", "delete"].map(verb =>
      call(at, `tasks/pushNotificationConfig/${verb}`, { id: "ID", pushNotificationConfigId: "hook" }),
    ),
    rest("GET", `${at}/v1/tasks/ID`, "0.3"),
    rest("POST", `${at}/v1/tasks/ID:cancel`, "0.3", {}),
    rest("GET", `${at}/v1/tasks/ID:subscribe`, "0.3"),
    rest("GET", `${at}/v1/tasks/ID/pushNotificationConfigs`, "0.3"),
    call(at, "tasks/pushNotification/get", { id: "ID" }),
    call(at, "tasks/pushNotification/set", { id: "ID", pushNotificationConfig: PUSH }),
    ...["tasks/get", "tasks/cancel"].map(method => call(lg, method, { id: "ID", contextId: "c" })),
    ...["tasks/get", "tasks/cancel"].map(method => call(orloj, method, { id: "ID" })),
    ...["tasks/get", "tasks/cancel"].map(method => call("/a2a", method, { id: "ID" })),
    ...["tasks/get", "tasks/cancel", "tasks/resubscribe"].map(method => call(arbiter, method, { id: "ID" })),
    rest("POST", "/v1/requests/ID/cancel", "1.0", {}),
    rest("GET", "/v1/requests/ID/events", "1.0"),
  ];
};

/** The whole gRPC error. */
async function refusedAt(
  method: string,
  json: object,
  caller: Issued,
  agent: string,
  id: string,
): Promise<string> {
  const stream = grpc.open(method, json, { ...caller.headers, "a2a-agent": agent });
  const { error } = await stream.ended();
  const { code, details, metadata } = error as ServiceError;
  const bytes = metadata
    .get("grpc-status-details-bin")
    .map(one => Buffer.from(one as Buffer).toString("latin1"));
  return JSON.stringify([code, details, bytes, metadata.get("a2a-version")]).replaceAll(id, "ID");
}

describe.each([0, 1, 2])("for caller no. %i", at => {
  const caller = (): Issued => (others[at] as (typeof others)[number])[1];

  it("a task of another caller is missing, in the same bytes", async () => {
    for (const [agent, id] of [
      ["asker", asking],
      ["puppet", working],
    ] as const)
      for (const shot of shotsAt(agent)) {
        const [foreign, absent] = [await fire(shot, caller(), id), await fire(shot, caller(), ABSENT)];
        expect(foreign, `${shot.verb} ${shot.path} ${JSON.stringify(shot.body)}`).toBe(absent);
      }
  });

  it("the same over gRPC", async () => {
    for (const [agent, id] of [
      ["asker", asking],
      ["puppet", working],
    ] as const)
      for (const [method, toJson] of [
        ["GetTask", (one: string) => ({ id: one })],
        ["SubscribeToTask", (one: string) => ({ id: one })],
        ["SendMessage", (one: string) => sendParams("hi", { taskId: one, messageId: "m" })],
        ["SendStreamingMessage", (one: string) => sendParams("hi", { taskId: one, messageId: "m" })],
      ] as const) {
        const foreign = await refusedAt(method, toJson(id), caller(), agent, id);
        expect([method, foreign]).toEqual([
          method,
          await refusedAt(method, toJson(ABSENT), caller(), agent, ABSENT),
        ]);
      }
  });
});

it("the owner gets another response: the requests are valid", async () => {
  const reading = shotsAt("asker").filter(({ verb, path, body }) =>
    body
      ? /"(GetTask|tasks\/get)"/.test(JSON.stringify(body)) && path !== "/a2a/asker"
      : /ID$/.test(path) && verb === "GET",
  );
  expect(reading.length).toBeGreaterThanOrEqual(7);
  for (const shot of reading)
    expect(await fire(shot, alice, asking), shot.path).not.toBe(await fire(shot, alice, ABSENT));
});

it("alice's tasks are unchanged", async () => {
  const at = (agent: string): string => `${guarded.url}/agents/${agent}`;
  const task = await rpcResult(at("asker"), "GetTask", { id: asking }, alice.headers);
  expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  expect(task.history).toHaveLength(1);
  const run = await rpcResult(at("puppet"), "GetTask", { id: working }, alice.headers);
  expect(run.status.state).toBe("TASK_STATE_WORKING");
});

describe("names that callers give", () => {
  const at = (): string => `${guarded.url}/agents/rememberer`;
  const send = async (caller: Issued, message: object, more: Record<string, string> = {}): Promise<Loose> =>
    (await rpcResult(at(), "SendMessage", sendParams("hi", message), { ...caller.headers, ...more })).task;
  const textOf = (task: Loose): string => task.artifacts[0].parts[0].text;

  it("a context of the same name is another context", async () => {
    const contextId = "a context of alice's";
    for (const [count, caller] of [0, 2].map(one => [one, alice] as const))
      expect(textOf(await send(caller, { contextId }))).toBe(`${count} earlier messages`);
    for (const [, caller] of others.slice(0, 2)) {
      expect(textOf(await send(caller, { contextId }))).toBe("0 earlier messages");
      const listed = await rpcResult(at(), "ListTasks", { contextId }, caller.headers);
      expect([listed.totalSize, listed.tasks.length]).toEqual([1, 1]);
    }
  });

  it("an Idempotency-Key of the same name is another key", async () => {
    const key = { "idempotency-key": "the key" };
    const message = { messageId: "the message" };
    const mine = await send(alice, message, key);
    expect((await send(alice, message, key)).id).toBe(mine.id);
    for (const [, caller] of others.slice(0, 2)) {
      const theirs = await send(caller, message, key);
      expect(theirs.id).not.toBe(mine.id);
      // Another call with a used key would be refused.
      expect(
        (await send(caller, { messageId: "another" }, { "idempotency-key": "another key" })).id,
      ).toBeDefined();
    }
  });

  it("the id that a caller gave to a task is visible to that caller only", async () => {
    const task = (id: string) => ({ id, message: { role: "user", parts: [{ type: "text", text: "hi" }] } });
    const asked = `${guarded.url}/agents/asker`;
    await rpcResult(asked, "tasks/send", task("my-task"), alice.headers);
    for (const [, caller] of others.slice(0, 2)) {
      const absent = await fire(call("/agents/asker", "tasks/get", { id: "ID" }), caller, "no-task");
      expect(await fire(call("/agents/asker", "tasks/get", { id: "ID" }), caller, "my-task")).toBe(absent);
      const own = await rpcResult(asked, "tasks/send", task("my-task"), caller.headers);
      expect(own.status.state).toBe("input-required");
    }
    const mine = await rpcResult(asked, "tasks/get", { id: "my-task" }, alice.headers);
    expect(mine.status.state).toBe("input-required");
  });

  it("lists and counts are separate for each caller", async () => {
    const before = await rpcResult(at(), "ListTasks", {}, alice.headers);
    await send((others[0] as (typeof others)[number])[1], {});
    expect(await rpcResult(at(), "ListTasks", {}, alice.headers)).toEqual(before);
  });
});
