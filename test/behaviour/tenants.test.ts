import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, echo } from "../support/agents.ts";
import { bearer, type GuardedServer, type Issued, serveGuarded } from "../support/callers.ts";
import { rpc, sendParams } from "../support/client.ts";
import { createGrpcClient, refusedBy } from "../support/grpc.ts";
import { type Loose, rpcResult } from "../support/official-dialects.ts";
import { serve } from "../support/server.ts";

/** Tenants, their agents, and tokens that are limited to agents. */

const ours = { ...echo, name: "ours", tenants: ["acme"] };
const theirs = { ...echo, name: "theirs", tenants: ["beta"] };
const open = { ...asker, name: "open", access: "public" as const };
let guarded: GuardedServer;
let acme: Issued;
let beta: Issued;
let both: Issued;
let limited: Issued;
beforeAll(async () => {
  guarded = await serveGuarded([ours, theirs, echo, open]);
  acme = await guarded.issue("alice", { tenants: ["acme"] });
  beta = await guarded.issue("alice", { tenants: ["beta"] });
  both = await guarded.issue("alice", { tenants: ["acme", "beta"] });
  limited = await guarded.issue("alice", { tenants: ["acme"], agents: ["echo"] });
});
afterAll(() => guarded.stop());

const namesFor = async (caller: { headers: Record<string, string> }): Promise<readonly string[]> => {
  const reply = await fetch(`${guarded.url}/agents`, { headers: caller.headers });
  return ((await reply.json()) as Loose).agents.map((one: Loose) => one.name);
};
const statusOf = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
  (await fetch(guarded.url + path, { headers })).status;
const ANONYMOUS = { headers: {} };

describe("agents of some tenants", () => {
  it("are available to their callers only", async () => {
    expect(await namesFor(acme)).toEqual(["ours", "echo", "open"]);
    expect(await namesFor(beta)).toEqual(["theirs", "echo", "open"]);
    expect(await namesFor(limited)).toEqual(["echo"]);
    expect(await namesFor(ANONYMOUS)).toEqual(["echo", "open"]);
  });

  it("have cards for their callers only", async () => {
    for (const path of [
      "/agents/ours/.well-known/agent-card.json",
      "/agents/ours/agentCard",
      "/v1/agent-systems/ours/.well-known/agent-card.json",
      "/v1/a2a/agents/ours/agent-card.json",
    ]) {
      expect(await statusOf(path, acme.headers)).toBe(200);
      for (const { headers } of [beta, limited, ANONYMOUS]) expect(await statusOf(path, headers)).toBe(404);
    }
  });

  it("are called at / by callers that can see the default agent; other callers get the first agent that they can see", async () => {
    const cardFor = async (caller: { headers: Record<string, string> }): Promise<string> => {
      const reply = await fetch(`${guarded.url}/.well-known/agent-card.json`, { headers: caller.headers });
      return ((await reply.json()) as Loose).name;
    };
    expect(await cardFor(acme)).toBe("ours");
    expect(await cardFor(beta)).toBe("theirs");
    expect(await cardFor(limited)).toBe("echo");
    expect(await cardFor(ANONYMOUS)).toBe("echo");
  });

  it("look like unknown agents to other callers, in every dialect and on every transport", async () => {
    const hidden = { headers: limited.headers };
    const post = async (path: string, body: object, named: string): Promise<string> => {
      const headers = { ...hidden.headers, "content-type": "application/json", accept: "*/*" };
      const reply = await fetch(guarded.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      return `${reply.status} ${(await reply.text()).replaceAll(named, "NAME")}`;
    };
    const call = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
    const text = { role: "user", parts: [{ kind: "text", type: "text", text: "hi" }], messageId: "m" };
    for (const [path, body] of [
      ["/agents/NAME", call("SendMessage", sendParams("hi"))],
      ["/agents/NAME", call("message/send", { message: { kind: "message", ...text } })],
      ["/agents/NAME", call("tasks/send", { id: "t", message: text })],
      ["/agents/NAME/message:send", sendParams("hi")],
      ["/a2a/NAME", call("message/send", { message: { kind: "message", ...text } })],
      ["/v1/agent-systems/NAME/a2a", call("tasks/send", { id: "t", message: text })],
      ["/v1/a2a/agents/NAME", call("message/send", { message: { kind: "message", ...text } })],
    ] as const) {
      const [known, unknown] = await Promise.all(
        ["theirs", "nobody"].map(name => post(path.replace("NAME", name), body, name)),
      );
      expect(known).toBe(unknown);
    }
    const client = createGrpcClient(new URL(guarded.url).host);
    const errors = await Promise.all(
      ["theirs", "nobody"].map(tenant =>
        refusedBy(client.ask("SendMessage", { ...sendParams("hi"), tenant }, hidden.headers)),
      ),
    );
    const [known, unknown] = errors.map(({ code, details }) => [code, details.replace(/"\w+"/, '"NAME"')]);
    expect(known).toEqual(unknown);
    client.close();
  });
});

describe("B-V4: a tenant", () => {
  const list = async (params: object, caller: Issued): Promise<Loose> =>
    (await rpc(`${guarded.url}/agents/echo`, "ListTasks", params, caller.headers)).body;

  it("is named in parameters, in the path and in the field of gRPC; its tasks are separate", async () => {
    const send = (tenant: string, text: string): Promise<Loose> =>
      rpcResult(`${guarded.url}/agents/echo`, "SendMessage", { ...sendParams(text), tenant }, both.headers);
    const { id } = (await send("acme", "one")).task;
    await send("beta", "two");
    const idsIn = async (tenant: string): Promise<readonly string[]> =>
      (await list({ tenant }, both)).result.tasks.map((task: Loose) => task.id);
    expect(await idsIn("acme")).toContain(id);
    expect(await idsIn("beta")).not.toContain(id);
    expect(await statusOf(`/agents/echo/acme/tasks/${id}`, both.headers)).toBe(200);
    expect(await statusOf(`/agents/echo/beta/tasks/${id}`, both.headers)).toBe(404);
    const client = createGrpcClient(new URL(guarded.url).host);
    const metadata = { ...both.headers, "a2a-agent": "echo" };
    expect((await client.ask("GetTask", { id, tenant: "acme" }, metadata)).json.id).toBe(id);
    expect((await refusedBy(client.ask("GetTask", { id, tenant: "beta" }, metadata))).code).toBe(5);
    client.close();
  });

  it("of other callers looks like an unknown agent, whether it exists or not", async () => {
    const [known, unknown] = await Promise.all(
      ["beta", "gamma"].map(async tenant => {
        const { status, body } = await rpc(guarded.url, "ListTasks", { tenant }, acme.headers);
        const path = await fetch(`${guarded.url}/${tenant}/tasks`, { headers: acme.headers });
        const texts = [JSON.stringify(body.error), await path.text()];
        return [status, path.status, ...texts.map(text => text.replaceAll(tenant, "NAME"))];
      }),
    );
    expect(known).toEqual(unknown);
    const absent = await rpc(`${guarded.url}/agents/gamma`, "ListTasks", {}, acme.headers);
    expect([known?.[0], known?.[2]]).toEqual([
      absent.status,
      JSON.stringify(absent.body.error).replaceAll("gamma", "NAME"),
    ]);
  });

  it("must be named by a caller that has several", async () => {
    expect((await list({}, both)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("acme, beta"),
    });
  });

  it("can be any without authentication, and its tasks are separate", async () => {
    const server = await serve([echo]);
    const { id } = (await rpcResult(server.url, "SendMessage", { ...sendParams("one"), tenant: "acme" }))
      .task;
    expect((await rpcResult(server.url, "GetTask", { id, tenant: "acme" })).id).toBe(id);
    for (const params of [{ id }, { id, tenant: "beta" }])
      expect((await rpc(server.url, "GetTask", params)).body.error.code).toBe(-32001);
    await server.stop();
  });
});

describe("a public agent", () => {
  const call = (name: string, method: string, params: object, headers = {}) =>
    rpc(`${guarded.url}/agents/${name}`, method, params, headers);

  it("accepts callers without a token, and refuses invalid tokens", async () => {
    const { body } = await call("open", "SendMessage", sendParams("hi"));
    const { id } = body.result.task;
    expect((await call("open", "GetTask", { id })).body.result.id).toBe(id);
    const going = await call("open", "SendMessage", sendParams("this one", { taskId: id }));
    expect(going.body.result.task.status.state).toBe("TASK_STATE_COMPLETED");
    expect((await call("open", "GetTask", { id }, bearer("hunter2"))).status).toBe(401);
    expect((await call("open", "GetTask", { id }, acme.headers)).body.error.code).toBe(-32001);
  });

  it("refuses lists, webhooks and the extended card to anonymous callers", async () => {
    expect((await call("open", "ListTasks", {})).status).toBe(401);
    const push = { taskPushNotificationConfig: { url: "https://c.example/hook" } };
    expect((await call("open", "SendMessage", { ...sendParams("hi"), configuration: push })).status).toBe(
      401,
    );
    expect((await call("open", "GetExtendedAgentCard", {})).status).toBe(401);
  });

  it("makes nothing else public", async () => {
    for (const name of ["echo", "ours", "nobody"])
      expect((await call(name, "SendMessage", sendParams("hi"))).status).toBe(401);
    expect((await rpc(guarded.url, "SendMessage", sendParams("hi"))).status).toBe(401);
    expect((await call("open", "SendMessage", { ...sendParams("hi"), tenant: "acme" })).status).toBe(401);
  });

  it("has a card without security requirements", async () => {
    const card = async (name: string): Promise<Loose> =>
      (await fetch(`${guarded.url}/agents/${name}/.well-known/agent-card.json`)).json();
    expect((await card("open")).securitySchemes).toBeUndefined();
    expect((await card("echo")).securitySchemes).toBeDefined();
  });
});

describe("O3, A2: the rules of the vendors", () => {
  const task = (id: string) => ({ id, message: { role: "user", parts: [{ type: "text", text: "hi" }] } });

  it("Orloj: an agent that the caller may not see is unknown; the only public system is found at the shared path", async () => {
    const at = (name: string): string => `${guarded.url}/v1/agent-systems/${name}/a2a`;
    const anonymous = await rpc(at("echo"), "tasks/send", task("t1"));
    expect([anonymous.status, anonymous.body.error.code]).toEqual([401, -32003]);
    const reader = await guarded.issue("reader", { grants: ["read"] });
    const refused = await rpc(at("echo"), "tasks/send", task("t2"), reader.headers);
    expect([refused.status, refused.body.error.code]).toEqual([200, -32003]);
    const hidden = await rpc(at("ours"), "tasks/send", task("t3"), beta.headers);
    expect([hidden.status, hidden.body.error.code]).toEqual([200, -32003]);
    for (const url of [at("open"), `${guarded.url}/a2a`]) {
      const { body } = await rpc(url, "tasks/send", task(url));
      expect(body.result.status.state).toBe("input-required");
      expect((await rpc(url, "tasks/send", task(url), bearer("hunter2"))).status).toBe(401);
    }
    const found = await rpc(`${guarded.url}/a2a`, "tasks/get", { id: at("open") });
    expect(found.body.result.id).toBe(at("open"));
  });

  it("Arbiter: 401 before anything else; the agents and tasks of a tenant are separate", async () => {
    const at = (name: string): string => `${guarded.url}/v1/a2a/agents/${name}`;
    const version = { "a2a-version": "2.0" };
    expect((await rpc(at("echo"), "tasks/get", {}, version)).status).toBe(401);
    const known = await rpc(at("echo"), "tasks/get", {}, { ...acme.headers, ...version });
    expect([known.status, known.body.id, known.body.error.code]).toEqual([200, null, -32007]);
    const message = { kind: "message", role: "user", messageId: "m", parts: [{ kind: "text", text: "hi" }] };
    const sent = await rpc(at("ours"), "message/send", { message }, acme.headers);
    expect(sent.body.result.status.state).toBe("completed");
    const foreign = await rpc(at("ours"), "message/send", { message }, beta.headers);
    expect([foreign.status, foreign.body.error.code]).toEqual([200, -32001]);
    const { id } = sent.body.result;
    expect((await rpc(at("echo"), "tasks/get", { id }, beta.headers)).body.error.code).toBe(-32001);
    expect(await statusOf(`/v1/requests/${id}/events`, beta.headers)).toBe(404);
    // With a public agent, the id may be one of its tasks.
    expect(await statusOf(`/v1/requests/${id}/events`)).toBe(404);
  });
});
