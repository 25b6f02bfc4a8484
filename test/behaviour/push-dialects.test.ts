import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScriptedAgent } from "../support/agents.ts";
import { openStream, rpc } from "../support/client.ts";
import { type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { openReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * docs/dialects/README.md R16: the payloads of a webhook, by the dialect in which its config was set. The
 * task itself is created and ended in v1.
 */

const puppet = createScriptedAgent();
let server: TestServer;
let hook: Receiver;
beforeAll(async () => {
  server = await serve([puppet.definition]);
  hook = await openReceiver();
});
afterAll(async () => {
  await server.stop();
  await hook.close();
});

interface Registered {
  readonly dialect: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly method: string;
  params(taskId: string, url: string): Loose;
  /** The last payload of its webhook, without ids and times. */
  readonly last: Loose;
  readonly type?: string;
  /** The number of payloads for an artifact in two chunks. */
  readonly pieces: number;
}

const kind = (taskId: string, url: string): Loose => ({ taskId, pushNotificationConfig: { url } });
const type = (id: string, url: string): Loose => ({ id, pushNotificationConfig: { url } });
const KIND = "tasks/pushNotificationConfig/set";
const TYPE = "tasks/pushNotification/set";
const TEXT = { kind: "text", text: "one two" };
const V03_TASK = { kind: "task", status: { state: "completed" }, artifacts: [{ parts: [TEXT] }] };

const REGISTERED: readonly Registered[] = [
  {
    dialect: "v1",
    path: "/agents/puppet",
    method: "CreateTaskPushNotificationConfig",
    params: (taskId, url) => ({ taskId, url }),
    last: { statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } },
    type: "application/a2a+json",
    pieces: 2,
  },
  { dialect: "v03", path: "/agents/puppet", method: KIND, params: kind, last: V03_TASK, pieces: 1 },
  {
    dialect: "v02",
    path: "/agents/puppet",
    headers: { "a2a-version": "0.2" },
    method: KIND,
    params: kind,
    last: V03_TASK,
    pieces: 1,
  },
  {
    dialect: "v01",
    path: "/agents/puppet",
    method: TYPE,
    params: type,
    last: {
      sessionId: expect.any(String),
      status: { state: "completed" },
      artifacts: [{ index: 0, parts: [{ type: "text", text: "one two" }] }],
    },
    pieces: 1,
  },
  {
    dialect: "simple",
    path: "/agents/puppet",
    method: TYPE,
    params: (id, webhookUrl) => ({ id, pushNotificationConfig: { webhookUrl } }),
    last: { type: "TaskStatusUpdateEvent", status: { state: "completed" }, final: true },
    pieces: 2,
  },
  {
    dialect: "langgraph",
    path: "/a2a/puppet",
    headers: { accept: "application/json" },
    method: KIND,
    params: kind,
    last: { ...V03_TASK, artifacts: [{ name: "Assistant Response", parts: [TEXT] }] },
    pieces: 1,
  },
  {
    dialect: "orloj",
    path: "/v1/agent-systems/puppet/a2a",
    method: TYPE,
    params: type,
    last: {
      status: { state: "completed", message: { role: "agent", parts: [{ type: "text", text: "one two" }] } },
      artifacts: [{ name: "response", index: 0 }],
    },
    pieces: 1,
  },
];

async function begin(): Promise<string> {
  const sent = V1.sendParams("go", {}, { configuration: V1.nonBlocking });
  return (await rpcResult(`${server.url}/agents/puppet`, V1.send, sent)).task.id;
}

/** Whether its payloads have artifacts while the task is running. */
const isEnd = (text: string): boolean => /completed/i.test(text);
const hasWords = ({ text }: Received): boolean => /"one ?"|"two"|"one two"/.test(text) && !isEnd(text);

describe.each(REGISTERED)("R16: a webhook that was set in $dialect", one => {
  it("B-P9: gets the task in that dialect, whichever dialect changes it", async () => {
    const taskId = await begin();
    const url = `${hook.url}/${one.dialect}`;
    const { body } = await rpc(server.url + one.path, one.method, one.params(taskId, url), one.headers ?? {});
    expect(body.error).toBeUndefined();
    puppet.send(taskId, ctx => ctx.text("one "));
    await hook.find(({ path }) => path === `/${one.dialect}`);
    puppet.send(taskId, ctx => ctx.text("two", { last: true }));
    puppet.end(taskId);
    const last = await hook.find(({ path, text }) => path === `/${one.dialect}` && isEnd(text));
    expect(last.body).toMatchObject(one.last);
    expect(last.headers["content-type"]).toBe(one.type ?? "application/json");
    expect(hook.at(`/${one.dialect}`).filter(hasWords)).toHaveLength(one.pieces);
  });

  it("D7: gets nothing of artifacts, if it requests status changes only", async () => {
    const taskId = await begin();
    const path = `/${one.dialect}/status`;
    const headers = { ...one.headers, "dragoman-push-events": "status" };
    await rpc(server.url + one.path, one.method, one.params(taskId, hook.url + path), headers);
    puppet.send(taskId, ctx => ctx.text("one ", { last: true }));
    puppet.end(taskId);
    await hook.find(got => got.path === path && isEnd(got.text));
    expect(hook.at(path).filter(hasWords)).toEqual([]);
  });
});

it("R16: a webhook that a message in Arbiter's dialect has named gets the task in that dialect", async () => {
  const url = `${hook.url}/arbiter`;
  const message = { role: "user", messageId: "m", parts: [{ kind: "text", text: "go" }] };
  const params = { message, configuration: { pushNotificationConfig: { url } } };
  const events = await openStream(`${server.url}/v1/a2a/agents/puppet`, "message/stream", params);
  const { taskId } = (await events.next())?.data.result ?? {};
  puppet.send(taskId, ctx => ctx.text("one two", { last: true }));
  puppet.end(taskId);
  const last = await hook.find(({ path, text }) => path === "/arbiter" && isEnd(text));
  expect(last.body).toMatchObject({
    kind: "task",
    status: { state: "completed", message: { parts: [TEXT] } },
    metadata: { "x-arbiter.agent_id": "puppet" },
  });
  expect(hook.at("/arbiter").filter(hasWords)).toEqual([]);
  events.close();
});
