import { Client } from "@langchain/langgraph-sdk";
import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";
import { afterEach, expect, test } from "vitest";
import type { CustomAuth } from "../../src/ports/index.ts";
import { toCustomAuth } from "../../src/server/load-functions.ts";
import { echo } from "../support/agents.ts";
import { rpc, sendParams } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Custom authentication and authorization, as `auth` of a langgraph.json names it, with the Auth of LangGraph's SDK. */

let server: TestServer;
afterEach(() => server.stop());

const USERS = ["alice", "bob", "reader"];
const createAuth = (): Auth =>
  new Auth().authenticate(async request => {
    const name = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
    if (!USERS.includes(name)) throw new HTTPException(401, { message: "Unknown user" });
    return { identity: name, permissions: name === "reader" ? ["read"] : ["read", "write"], org: "acme" };
  });

async function start(auth: Auth): Promise<void> {
  const settings = { auth: ["custom"], authFile: "auth.ts" } as const;
  server = await serve([echo], settings, { customAuth: toCustomAuth(auth) as CustomAuth });
}
const clientOf = (name: string): Client =>
  new Client({
    apiUrl: server.url,
    apiKey: null,
    defaultHeaders: { authorization: `Bearer ${name}` },
    callerOptions: { maxRetries: 0 },
  });
const statusOf = async (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => 200,
    error => (error as { status: number }).status,
  );

test("every route needs a user that authenticate accepts", async () => {
  await start(createAuth());
  const paths = [
    "/assistants/search",
    "/threads",
    "/threads/search",
    "/store/items/search",
    "/runs/crons/search",
  ];
  for (const path of paths) {
    const call = (headers: Record<string, string>) =>
      fetch(`${server.url}${path}`, { method: "POST", headers, body: "{}" });
    expect([path, (await call({})).status]).toEqual([path, 401]);
    const refused = await call({ authorization: "Bearer eve" });
    expect([path, refused.status, await refused.json()]).toEqual([path, 401, { detail: "Unknown user" }]);
    expect([path, (await call({ authorization: "Bearer alice" })).status]).toEqual([path, 200]);
  }
  expect((await fetch(`${server.url}/info`)).status).toBe(200);
  expect((await fetch(`${server.url}/ok`)).status).toBe(200);
});

test("handlers stamp metadata, and their filters hide what does not match, as 404", async () => {
  let isStrict = false;
  const auth = createAuth()
    .on("threads:create", ({ value, user }) => {
      value.metadata = { ...value.metadata, owner: user.identity, org: (user as { org?: string }).org };
    })
    .on("threads", ({ user }) =>
      isStrict ? { owner: `not ${user.identity}` } : { owner: user.identity, org: { $eq: "acme" } },
    );
  await start(auth);
  const alice = clientOf("alice");
  const thread = await alice.threads.create({ metadata: { colour: "red" } });
  expect(thread.metadata).toMatchObject({ owner: "alice", org: "acme", colour: "red" });
  const id = thread.thread_id;
  expect(await alice.threads.search()).toHaveLength(1);
  expect((await alice.threads.get(id)).thread_id).toBe(id);
  isStrict = true;
  expect(await alice.threads.search()).toEqual([]);
  expect(await statusOf(alice.threads.get(id))).toBe(404);
  expect(await statusOf(alice.threads.update(id, { metadata: { x: 1 } }))).toBe(404);
  expect(await statusOf(alice.threads.getState(id))).toBe(404);
  expect(await statusOf(alice.threads.delete(id))).toBe(404);
});

test("a handler that returns false or throws refuses the call with 403, over A2A too", async () => {
  const asked: string[] = [];
  const auth = createAuth()
    .on("*", ({ event, permissions }) => {
      asked.push(event);
      return permissions.includes("write");
    })
    .on("store", ({ permissions }) => {
      if (!permissions.includes("write")) throw new HTTPException(403, { message: "Read only" });
    });
  await start(auth);
  const [alice, reader] = [clientOf("alice"), clientOf("reader")];
  await alice.store.putItem(["a"], "k", { n: 1 });
  expect(await statusOf(reader.store.putItem(["a"], "k", { n: 1 }))).toBe(403);
  expect(await statusOf(reader.threads.create())).toBe(403);
  expect(await statusOf(reader.assistants.search())).toBe(403);
  expect(await statusOf(reader.crons.create("echo", { schedule: "@daily" }))).toBe(403);
  const send = (name: string) =>
    rpc(server.url, "SendMessage", sendParams("hi"), { authorization: `Bearer ${name}` });
  expect((await send("alice")).body.result).toBeDefined();
  expect(JSON.stringify((await send("reader")).body.error)).toContain("Forbidden");
  expect(asked).toEqual(
    expect.arrayContaining(["threads:create", "assistants:search", "crons:create", "threads:create_run"]),
  );
});

test("a handler moves the namespace of items, and what is moved stays there", async () => {
  const auth = createAuth().on("store", ({ value, user }) => {
    const { namespace } = value as { namespace?: string[] };
    value.namespace = [user.identity, ...(namespace ?? [])] as never;
  });
  await start(auth);
  const alice = clientOf("alice");
  await alice.store.putItem(["notes"], "k", { n: 1 });
  expect((await alice.store.getItem(["notes"], "k"))?.namespace).toEqual(["alice", "notes"]);
  expect((await alice.store.searchItems(["notes"])).items.map(item => item.key)).toEqual(["k"]);
  expect(await alice.store.listNamespaces()).toEqual({ namespaces: [["alice", "notes"]] });
});

test("without a handler for an event, callers still reach nothing of others", async () => {
  await start(createAuth().on("assistants:search", () => true));
  const [alice, bob] = [clientOf("alice"), clientOf("bob")];
  const thread = await alice.threads.create();
  const assistant = await alice.assistants.create({ graphId: "echo", name: "mine" });
  await alice.store.putItem(["a"], "k", { n: 1 });
  const cron = (await alice.crons.create("echo", { schedule: "@daily" })) as unknown as { cron_id: string };
  expect(await statusOf(bob.threads.get(thread.thread_id))).toBe(404);
  expect(await bob.threads.search()).toEqual([]);
  expect(await statusOf(bob.threads.delete(thread.thread_id))).toBe(404);
  expect(await statusOf(bob.assistants.get(assistant.assistant_id))).toBe(404);
  expect((await bob.assistants.search()).map(one => one.name)).toEqual(["echo"]);
  expect(await bob.store.getItem(["a"], "k")).toBeNull();
  expect(await statusOf(bob.crons.delete(cron.cron_id))).toBe(404);
  expect(await statusOf(bob.crons.createForThread(thread.thread_id, "echo", { schedule: "@daily" }))).toBe(
    404,
  );
});

test("handlers are asked on every route that begins, waits for or streams a run", async () => {
  const refused: string[] = [];
  const auth = createAuth().on("threads:create_run", ({ user }) => {
    if (user.identity === "reader") refused.push("asked");
    return user.identity !== "reader";
  });
  await start(auth);
  const thread = await clientOf("reader").threads.create();
  const paths = ["runs", "runs/wait", "runs/stream"].flatMap(path => [
    `/${path}`,
    `/threads/${thread.thread_id}/${path}`,
  ]);
  const body = JSON.stringify({
    assistant_id: "echo",
    input: { messages: [{ role: "user", content: "hi" }] },
  });
  for (const path of paths) {
    const call = (name: string) =>
      fetch(`${server.url}${path}`, { method: "POST", headers: { authorization: `Bearer ${name}` }, body });
    expect([path, (await call("reader")).status]).toEqual([path, 403]);
    // The thread is another caller's.
    const other = await call("alice");
    await other.text();
    expect([path, other.status]).toEqual([path, path.startsWith("/threads") ? 404 : 200]);
  }
  expect(refused).toHaveLength(paths.length);
});

test("a thread of another caller is not reached by config.configurable.thread_id", async () => {
  await start(createAuth());
  const thread = await clientOf("alice").threads.create();
  const send = (name: string, path: string, thread_id: string) =>
    fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${name}` },
      body: JSON.stringify({
        assistant_id: "echo",
        input: { messages: [{ role: "user", content: "secret words" }] },
        config: { configurable: { thread_id } },
      }),
    }).then(reply => reply.text());
  await send("alice", `/threads/${thread.thread_id}/runs/wait`, thread.thread_id);
  await send("bob", "/runs/wait", thread.thread_id);
  const state = await clientOf("alice").threads.getState(thread.thread_id);
  expect((state.values as { messages: unknown[] }).messages).toHaveLength(2);
  const runs = await clientOf("alice").runs.list(thread.thread_id);
  expect(runs).toHaveLength(1);
});
