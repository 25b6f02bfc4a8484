import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { type Binding, bindingsOf, expectMeaning, type Method } from "../support/bindings.ts";
import { bearer, type GuardedServer, type Issued, serveGuarded } from "../support/callers.ts";
import { rpc, sendParams } from "../support/client.ts";
import { createGrpcClient, refusedBy } from "../support/grpc.ts";
import type { Loose } from "../support/official-dialects.ts";
import { openRaw } from "../support/raw.ts";

/** Authentication on every transport and in every dialect, before the request is read. */

const puppet = createScriptedAgent();
let guarded: GuardedServer;
let bindings: readonly Binding[] = [];
let alice: Issued;
beforeAll(async () => {
  guarded = await serveGuarded([echo, puppet.definition]);
  bindings = bindingsOf(guarded.url, "echo");
  alice = await guarded.issue("alice");
});
afterAll(async () => {
  for (const binding of bindings) binding.close();
  await guarded.stop();
});

const MESSAGE = { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] } };
const ASKED: readonly (readonly [Method, Loose])[] = [
  ["SendMessage", MESSAGE],
  ["SendStreamingMessage", MESSAGE],
  ["GetTask", { id: "x" }],
  ["ListTasks", {}],
  ["CancelTask", { id: "x" }],
  ["SubscribeToTask", { id: "x" }],
  ["CreateTaskPushNotificationConfig", { taskId: "x", url: "https://c.example/hook" }],
  ["GetTaskPushNotificationConfig", { taskId: "x", id: "y" }],
  ["ListTaskPushNotificationConfigs", { taskId: "x" }],
  ["DeleteTaskPushNotificationConfig", { taskId: "x", id: "y" }],
  ["GetExtendedAgentCard", {}],
];
/** The v0.3 gRPC service has no list methods. */
const hasMethod = ({ name }: Binding, method: Method): boolean =>
  name !== "0.3 gRPC" || method !== "ListTasks";
const BAD: readonly (readonly [string, Record<string, string>])[] = [
  ["nothing", {}],
  ["an unknown token", bearer(`drg_${"x".repeat(43)}`)],
  ["something else", bearer("hunter2")],
];

describe("a caller without valid credentials", () => {
  it.each(BAD)("is refused on every transport, whatever the operation: %s", async (_, headers) => {
    for (const binding of bindings)
      for (const [method, params] of ASKED.filter(([one]) => hasMethod(binding, one)))
        expectMeaning(await binding.call(method, params, headers), "unauthenticated");
  });

  it("gets its JSON-RPC id back if the body is there, and null if there is none or it is large", async () => {
    const idOf = async (body: string): Promise<unknown> => {
      const headers = { "content-type": "application/json" };
      const reply = await fetch(`${guarded.url}/agents/echo`, { method: "POST", headers, body });
      expect(reply.status).toBe(401);
      return ((await reply.json()) as { id: unknown }).id;
    };
    const call = { jsonrpc: "2.0", method: "SendMessage", params: MESSAGE };
    for (const id of ["a", 7, null]) expect(await idOf(JSON.stringify({ ...call, id }))).toBe(id);
    for (const body of ["", "{", "null", "[1]", JSON.stringify(call), JSON.stringify({ ...call, id: {} })])
      expect(await idOf(body)).toBeNull();
    expect(await idOf(JSON.stringify({ ...call, id: 8, more: "x".repeat(20_000) }))).toBeNull();
  });

  it("gets a challenge over HTTP, with the error of the credentials that it sent", async () => {
    const challenge = async (path: string, init: RequestInit): Promise<[number, string | null]> => {
      const reply = await fetch(guarded.url + path, init);
      return [reply.status, reply.headers.get("www-authenticate")];
    };
    const none = 'Bearer realm="dragoman"';
    const bad = `${none}, error="invalid_token", error_description="Unsupported token type"`;
    const post = { method: "POST", body: "{}" };
    for (const [path, init] of [
      ["/", post],
      ["/agents/echo", post],
      ["/agents/nobody", post],
      ["/a2a/echo", post],
      ["/a2a", post],
      ["/v1/agent-systems/echo/a2a", post],
      ["/v1/a2a/agents/echo", post],
      ["/message:send", post],
      ["/tasks", {}],
      ["/tasks/x", {}],
      ["/v1/tasks/x", {}],
      ["/v1/requests/x/events", {}],
      ["/agent/authenticatedExtendedCard", {}],
      ["/admin/tokens", {}],
    ] as const) {
      expect([path, ...(await challenge(path, init))]).toEqual([path, 401, none]);
      const headers = bearer("hunter2");
      expect([path, ...(await challenge(path, { ...init, headers }))]).toEqual([path, 401, bad]);
    }
  });

  it("gets the official messages over gRPC", async () => {
    const client = createGrpcClient(new URL(guarded.url).host);
    const error = await refusedBy(client.ask("GetTask", { id: "x" }));
    expect(error.code).toBe(status.UNAUTHENTICATED);
    expect(error.metadata.get("www-authenticate")).toEqual(['Bearer realm="dragoman"']);
    const { json } = await client.ask("SendMessage", sendParams("hello"), alice.headers);
    expect(json.task.artifacts[0].parts[0].text).toBe("hello");
    const stream = client.open("SendStreamingMessage", sendParams("hello"));
    expect((await stream.ended()).error).toMatchObject({ code: status.UNAUTHENTICATED });
    client.close();
  });

  it("is answered before its body has arrived, and can use the same connection again", async () => {
    const socket = openRaw(guarded.url);
    const head = "Host: localhost\r\nContent-Type: application/json\r\n";
    socket.write(`POST / HTTP/1.1\r\n${head}Content-Length: 10\r\n\r\n{"a":`);
    expect(await socket.reply()).toMatchObject({ status: 401 });
    socket.write("1}   ");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "GetTask", params: { id: "x" } });
    const known = `Authorization: Bearer ${alice.secret}\r\nA2A-Version: 1.0\r\n`;
    socket.write(`POST / HTTP/1.1\r\n${head}${known}Content-Length: ${body.length}\r\n\r\n${body}`);
    const reply = await socket.reply();
    expect([reply?.status, JSON.parse(reply?.body ?? "").id]).toEqual([200, 7]);
    socket.destroy();
  });

  it("is refused before its message is read", async () => {
    for (const path of ["/", "/a2a", "/a2a/echo", "/v1/a2a/agents/echo", "/message:send"]) {
      const headers = { "a2a-version": "99", "content-type": "text/plain" };
      const reply = await fetch(guarded.url + path, { method: "POST", headers, body: "{{{" });
      expect([path, reply.status]).toEqual([path, 401]);
    }
  });

  it("is refused if it sends two tokens, even if one is valid", async () => {
    const socket = openRaw(guarded.url);
    const lines = [`Authorization: Bearer ${alice.secret}`, "Authorization: Bearer hunter2"];
    for (const [first, second] of [lines, lines.toReversed()]) {
      socket.write(`GET /tasks HTTP/1.1\r\nHost: localhost\r\n${first}\r\n${second}\r\n\r\n`);
      expect(await socket.reply()).toMatchObject({ status: 401 });
    }
    socket.destroy();
  });

  it("can read public cards and documents", async () => {
    for (const path of [
      "/.well-known/agent-card.json",
      "/agents/echo/.well-known/agent-card.json",
      "/.well-known/agent.json",
      "/agentCard",
      "/v1/agent-systems/echo/.well-known/agent-card.json",
      "/v1/a2a/agents/echo/agent-card.json",
      "/agents",
      "/openapi.json",
    ]) {
      const reply = await fetch(guarded.url + path);
      expect([path, reply.status]).toEqual([path, 200]);
      expect(reply.headers.get("cache-control")).toContain("public");
    }
  });

  it("gets the token error for a card request as well", async () => {
    const reply = await fetch(`${guarded.url}/agents`, { headers: bearer("hunter2") });
    expect(reply.status).toBe(401);
  });
});

describe("a caller with valid credentials", () => {
  it("gets its response on every transport", async () => {
    for (const binding of bindings) {
      const meaning = await binding.call("SendMessage", MESSAGE, alice.headers);
      expectMeaning(meaning, ['task completed ["hi"] (hi)']);
      expectMeaning(await binding.call("GetTask", { id: "x" }, alice.headers), "task-not-found");
    }
  });

  it("has the permissions of its token, and a refusal names the missing one", async () => {
    const needed: Readonly<Partial<Record<Method, string>>> = {
      SendMessage: "send",
      SendStreamingMessage: "send",
      GetTask: "read",
      ListTasks: "read",
      CancelTask: "cancel",
      SubscribeToTask: "read",
      CreateTaskPushNotificationConfig: "push",
      GetTaskPushNotificationConfig: "read",
      ListTaskPushNotificationConfigs: "read",
      DeleteTaskPushNotificationConfig: "push",
    };
    const { headers } = await guarded.issue("nobody", { grants: [] });
    for (const [method, params] of ASKED.filter(([one]) => one !== "GetExtendedAgentCard")) {
      for (const binding of bindings.filter(one => hasMethod(one, method)))
        expectMeaning(await binding.call(method, params, headers), "forbidden");
      const { body, status: http, headers: got } = await rpc(guarded.url, method, params, headers);
      expect([method, http, body.error.message]).toEqual([
        method,
        403,
        `The scope "${needed[method]}" is required; the caller has: none`,
      ]);
      expect(got.get("www-authenticate")).toBe(
        `Bearer realm="dragoman", error="insufficient_scope", scope="${needed[method]}"`,
      );
    }
  });

  it("needs another scope for a push config that it sends with a message", async () => {
    const { headers } = await guarded.issue("sender", { grants: ["send"] });
    const configuration = { taskPushNotificationConfig: { url: "https://c.example/hook" } };
    const { body } = await rpc(guarded.url, "SendMessage", { ...sendParams("hi"), configuration }, headers);
    expect(body.error.message).toContain('The scope "push"');
  });

  it("gets a card that shared caches must not store", async () => {
    const reply = await fetch(`${guarded.url}/.well-known/agent-card.json`, { headers: alice.headers });
    expect(reply.headers.get("cache-control")).toBe("private, no-cache");
    expect(reply.headers.get("vary")).toBe("A2A-Version, Authorization");
  });

  it("is refused with the reason when its token has expired", async () => {
    const late = await guarded.issue("late", { expiresAt: Date.now() - 1 });
    const reply = await rpc(guarded.url, "GetTask", { id: "x" }, late.headers);
    expect([reply.status, reply.body.error.message]).toEqual([401, "The token has expired"]);
    const gone = await guarded.issue("gone");
    expect((await rpc(guarded.url, "GetTask", { id: "x" }, gone.headers)).status).toBe(200);
    await guarded.revoke(gone.id);
    await expect
      .poll(async () => (await rpc(guarded.url, "GetTask", { id: "x" }, gone.headers)).body.error.message)
      .toBe("The token was revoked");
  });
});

describe("administrators", () => {
  const admin = async (
    verb: string,
    path: string,
    caller: Issued,
    body?: object,
  ): Promise<[number, Loose]> => {
    const reply = await fetch(`${guarded.url}/admin/tokens${path}`, {
      method: verb,
      headers: caller.headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return [reply.status, await reply.json()];
  };

  it("create, list and revoke tokens over HTTP", async () => {
    const root = await guarded.issue("root", { grants: ["admin"] });
    const options = { principal: "carol", tenants: ["acme"], scopes: ["read"], agents: ["echo"], name: "n" };
    const [created, made] = await admin("POST", "", root, { ...options, expiresInSeconds: 60 });
    expect([created, made]).toMatchObject([201, { ...options, token: expect.stringMatching(/^drg_/) }]);
    const [, listed] = await admin("GET", "", root);
    const mine = listed.tokens.find((one: Loose) => one.id === made.id);
    expect(mine).toMatchObject({ principal: "carol", revokedAt: null });
    expect(JSON.stringify(listed)).not.toContain(made.token.slice(4));
    const get = (): Promise<Loose> => rpc(guarded.url, "GetTask", { id: "x" }, bearer(made.token));
    expect((await get()).status).toBe(200);
    expect(await admin("DELETE", `/${made.id}`, root)).toMatchObject([200, { id: made.id }]);
    expect((await get()).status).toBe(401);
    expect(await admin("DELETE", "/nothing", root)).toMatchObject([404, { error: { code: 404 } }]);
  });

  it("get the reason for an invalid request", async () => {
    const root = await guarded.issue("root", { grants: ["admin"] });
    for (const [options, field] of [
      [{}, "principal"],
      [{ principal: "a\nb" }, "principal"],
      [{ principal: "a", tenants: [] }, "tenants"],
      [{ principal: "a", scopes: ["everything"] }, "scopes"],
      [{ principal: "a", agents: "echo" }, "agents"],
      [{ principal: "a", expiresInSeconds: 0 }, "expiresInSeconds"],
      [{ principal: "a", expiresInSeconds: 1e300 }, "expiresInSeconds"],
      [{ principal: "a", name: 7 }, "name"],
    ] as const) {
      const [code, body] = await admin("POST", "", root, options);
      expect([code, body.error.message.split(" ")[0]]).toEqual([400, field]);
    }
  });

  it("need the admin permission: all other permissions together do not suffice", async () => {
    for (const verb of ["GET", "POST"])
      expect(await admin(verb, "", alice)).toMatchObject([403, { error: { status: "PERMISSION_DENIED" } }]);
    expect((await admin("DELETE", "/x", alice))[0]).toBe(403);
  });
});
