import { afterAll, beforeAll, expect, it } from "vitest";
import { adminGet, adminPost } from "../support/admin-client.ts";
import { asker, echo, replier } from "../support/agents.ts";
import { rpc, sendParams } from "../support/client.ts";
import type { Loose } from "../support/official-dialects.ts";
import { createJudge, operationsIn } from "../support/openapi.ts";
import { openReceiver } from "../support/receiver.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** The OpenAPI document of the admin API describes what the server sends, every member of it. */

const broken = {
  name: "broken",
  run: (): string => {
    throw new Error("the disk of the agent is gone", { cause: new Error("no space") });
  },
};

const folder = tempFolder();
let server: TestServer;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
let api: Loose;
const vars: Record<string, string> = { agent: "echo", section: "guide", page: "push.md" };

beforeAll(async () => {
  receiver = await openReceiver();
  server = await serve([echo, asker, replier, broken], {
    data: folder.path,
    signCards: true,
    pushAllowLoopback: true,
  });
  const send = async (agent: string, text: string, configuration = {}): Promise<Loose> => {
    const params = { ...sendParams(text), configuration };
    return ((await rpc(`${server.url}/agents/${agent}`, "SendMessage", params)).body as Loose).result;
  };
  await send("asker", "a question");
  await send("replier", "hello");
  await send("broken", "fail");
  const { task } = await send("echo", "an apple", { taskPushNotificationConfig: { url: receiver.url } });
  vars.id = task.id;
  vars.contextId = task.contextId;
  api = (await adminGet(server.url, "/openapi.json")).json;
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
  folder.remove();
});

it("every route has a schema of its response, and of its body", () => {
  for (const { verb, path, operation } of operationsIn(api)) {
    const [content] = Object.values<Loose>(Object.values<Loose>(operation.responses)[0].content);
    const route = `${verb} ${path}`;
    expect([route, Object.keys(content.schema).length > 0]).toEqual([route, true]);
    expect([route, operation.requestBody !== undefined]).toEqual([route, verb === "POST"]);
  }
});

it("what the server sends is valid, for every route that is read", async () => {
  const judge = createJudge(api);
  let judged = 0;
  for (const { verb, path, operation } of operationsIn(api)) {
    const schema = operation.responses["200"]?.content["application/json"]?.schema;
    if (verb !== "GET" || !schema || path.endsWith("/openapi.json")) continue;
    const target = path.replace("/admin/v1", "").replace(/\{(\w+)\}/g, (_, name) => vars[name] ?? "");
    const query = path.endsWith("/{contextId}") ? "?agent=echo" : "";
    const { status, json } = await adminGet(server.url, `${target}${query}`);
    expect([path, status]).toEqual([path, 200]);
    expect([path, judge(schema, json)]).toEqual([path, ""]);
    judged += 1;
  }
  expect(judged).toBeGreaterThan(18);
});

it("a failed task has its error, a waiting one its question", async () => {
  const judge = createJudge(api);
  const { tasks } = (await adminGet(server.url, "/tasks?state=failed")).json;
  const detail = (await adminGet(server.url, `/tasks/${tasks[0].id}`)).json;
  expect(detail.runs[0].error.causes[0].message).toBe("no space");
  expect(judge({ $ref: "#/components/schemas/TaskDetail" }, detail)).toBe("");
  const { tasks: waiting } = (await adminGet(server.url, "/inbox")).json;
  expect(judge({ $ref: "#/components/schemas/InboxRow" }, waiting[0])).toBe("");
});

it("the response of a change is valid, too", async () => {
  const judge = createJudge(api);
  const reply = await adminPost(server.url, "/deliveries/redeliver", { taskId: vars.id, from: "start" });
  const { content } = api.paths["/admin/v1/deliveries/redeliver"].post.responses["200"];
  expect([reply.status, judge(content["application/json"].schema, reply.json)]).toEqual([200, ""]);
});
