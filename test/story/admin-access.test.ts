import { afterEach, beforeEach, expect, it } from "vitest";
import { adminGet, adminPost } from "../support/admin-client.ts";
import { echo } from "../support/agents.ts";
import { type GuardedServer, type Issued, serveGuarded } from "../support/callers.ts";
import { rpc, sendParams } from "../support/client.ts";

/** Who sees and may do what in the admin API. */

let guarded: GuardedServer;
let alice: Issued;
let bob: Issued;
let admin: Issued;
let taskId = "";
beforeEach(async () => {
  guarded = await serveGuarded([echo]);
  const reader = ["send", "read", "console:read"] as const;
  alice = await guarded.issue("alice", { grants: reader });
  bob = await guarded.issue("bob", { grants: [...reader, "console:act"], tenants: ["other"] });
  admin = await guarded.issue("ops", { grants: ["admin"] });
  const { body } = await rpc(`${guarded.url}/agents/echo`, "SendMessage", sendParams("hi"), alice.headers);
  taskId = body.result.task.id;
});
afterEach(() => guarded.stop());

const get = (path: string, { headers }: Issued) => adminGet(guarded.url, path, headers);

it("a caller sees its own tasks; absent and foreign tasks look the same; an operator sees all", async () => {
  expect((await adminGet(guarded.url, "/me")).status).toBe(401);
  const plain = await guarded.issue("carol");
  expect((await get("/me", plain)).status).toBe(403);
  expect((await get("/tasks", alice)).json.tasks).toHaveLength(1);
  expect((await get("/tasks", bob)).json.tasks).toEqual([]);
  expect((await get("/tasks/counts", bob)).json.total).toBe(0);
  expect((await get("/contexts", bob)).json.contexts).toEqual([]);
  expect((await get("/tasks", admin)).json.tasks).toMatchObject([{ principal: "alice", tenant: "default" }]);
  const absent = taskId.replace(/.$/, last => (last === "0" ? "1" : "0"));
  for (const tail of ["", "/events", "/events/stream", "/dialects", "/frames", "/curl"]) {
    const foreign = await get(`/tasks/${taskId}${tail}`, bob);
    expect(foreign).toEqual(await get(`/tasks/${absent}${tail}`, bob));
    expect(foreign.status).toBe(404);
    if (tail !== "/events/stream") expect((await get(`/tasks/${taskId}${tail}`, alice)).status).toBe(200);
  }
  // Neither another tenant nor another caller can be chosen.
  expect((await get("/tasks?tenant=default", bob)).status).not.toBe(200);
  expect((await get("/tasks?caller=alice", bob)).json.tasks).toEqual([]);
});

it("only operators see log lines, figures, configuration and tokens", async () => {
  for (const path of ["/server", "/server/figures", "/server/config", "/server/limits", "/logs", "/tokens"]) {
    expect([path, (await get(path, alice)).status]).toEqual([path, 403]);
    expect([path, (await get(path, admin)).status]).toEqual([path, 200]);
  }
  expect((await get(`/tasks/${taskId}/logs`, alice)).status).toBe(403);
});

it("a reader cannot act, and acting on a foreign task looks like an absent one", async () => {
  const redeliver = (caller: Issued) =>
    adminPost(guarded.url, "/deliveries/redeliver", { taskId }, caller.headers);
  expect((await redeliver(alice)).status).toBe(403);
  expect((await redeliver(bob)).status).toBe(404);
  expect(await redeliver(admin)).toMatchObject({ status: 200, json: { redelivered: 0 } });
  const request = { principal: "dora", permissions: ["read", "console:read"] };
  expect((await adminPost(guarded.url, "/tokens", request, alice.headers)).status).toBe(403);
  const made = await adminPost(guarded.url, "/tokens", request, admin.headers);
  expect(made).toMatchObject({ status: 201, json: { token: { principal: "dora" } } });
  expect(
    (await adminGet(guarded.url, "/me", { authorization: `Bearer ${made.json.secret}` })).json.isOperator,
  ).toBe(false);
});

it("a console that is read only refuses every change, also of operators", async () => {
  await guarded.stop();
  guarded = await serveGuarded([echo], { console: "read" });
  admin = await guarded.issue("ops", { grants: ["admin"] });
  expect((await get("/me", admin)).json).toMatchObject({ console: "read", mayAct: false, isOperator: true });
  const reply = await adminPost(guarded.url, "/tokens", { principal: "x" }, admin.headers);
  expect([reply.status, reply.json.error.message]).toEqual([403, "The console of this server is read only"]);
});
