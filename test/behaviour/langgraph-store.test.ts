import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { echo } from "../support/agents.ts";
import { type GuardedServer, serveGuarded } from "../support/callers.ts";

/** The store and the crons of LangGraph's API, with the unmodified client of its SDK. */

let guarded: GuardedServer;
let alice: Client;
let bob: Client;
const clientOf = async (name: string): Promise<Client> => {
  const { headers } = await guarded.issue(name, { tenants: ["acme"] });
  return new Client({
    apiUrl: guarded.url,
    apiKey: null,
    defaultHeaders: headers,
    callerOptions: { maxRetries: 0 },
  });
};
const statusOf = async (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => 200,
    error => (error as { status: number }).status,
  );

beforeAll(async () => {
  const embed = async (texts: readonly string[]) =>
    texts.map(text => ["cat", "dog"].map(word => (text.includes(word) ? 1 : 0.01)));
  guarded = await serveGuarded([echo], { items: { embed, fields: ["text"] } });
  alice = await clientOf("alice");
  bob = await clientOf("bob");
});
afterAll(() => guarded.stop());

describe("the store", () => {
  test("puts, gets, searches and deletes items", async () => {
    await alice.store.putItem(["notes", "ada"], "1", { text: "a cat", n: 1 });
    await alice.store.putItem(["notes", "bob"], "2", { text: "a dog", n: 2 });
    const item = await alice.store.getItem(["notes", "ada"], "1");
    expect(item).toMatchObject({ namespace: ["notes", "ada"], key: "1", value: { text: "a cat", n: 1 } });
    expect(Date.parse(item?.createdAt ?? "")).toBeGreaterThan(0);
    expect(await alice.store.getItem(["notes", "ada"], "none")).toBeNull();
    const keys = async (options: Parameters<Client["store"]["searchItems"]>[1]) =>
      (await alice.store.searchItems(["notes"], options)).items.map(one => one.key);
    expect(await keys({})).toEqual(["2", "1"]);
    expect(await keys({ filter: { n: { $gt: 1 } } })).toEqual(["2"]);
    expect(await keys({ query: "cat" })).toEqual(["1", "2"]);
    expect(await keys({ limit: 1, offset: 1 })).toEqual(["1"]);
    expect((await alice.store.searchItems(["notes"], { query: "cat" })).items[0]?.score).toBeGreaterThan(0.9);
    expect(await alice.store.listNamespaces({})).toEqual({
      namespaces: [
        ["notes", "ada"],
        ["notes", "bob"],
      ],
    });
    expect(await alice.store.listNamespaces({ prefix: ["notes"], maxDepth: 1 })).toEqual({
      namespaces: [["notes"]],
    });
    await alice.store.deleteItem(["notes", "ada"], "1");
    expect(await alice.store.getItem(["notes", "ada"], "1")).toBeNull();
  });

  test("items expire after their minutes, and other callers have none of them", async () => {
    await alice.store.putItem(["ttl"], "short", { n: 1 }, { ttl: 0.001, index: false });
    await expect.poll(() => alice.store.getItem(["ttl"], "short", { refreshTtl: false })).toBeNull();
    await alice.store.putItem(["mine"], "k", { n: 1 });
    expect(await bob.store.getItem(["mine"], "k")).toBeNull();
    expect((await bob.store.searchItems([])).items).toEqual([]);
    await bob.store.deleteItem(["mine"], "k");
    expect(await alice.store.getItem(["mine"], "k")).not.toBeNull();
  });

  test("bad input is 422, and callers without credentials are 401", async () => {
    const send = (verb: string, path: string, body?: unknown, headers: object = {}) =>
      fetch(`${guarded.url}${path}`, {
        method: verb,
        headers: { ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    expect((await send("GET", "/store/items?namespace=a&key=k")).status).toBe(401);
    const { headers } = await guarded.issue("carol", { tenants: ["acme"] });
    for (const body of [
      {},
      { namespace: "a", key: "k", value: {} },
      { namespace: ["a.b"], key: "k", value: {} },
      { namespace: ["a"], key: "k", value: 7 },
      { namespace: [], key: "k", value: {} },
      { namespace: ["a"], key: "k", value: {}, ttl: "x" },
    ]) {
      const reply = await send("PUT", "/store/items", body, headers);
      expect([JSON.stringify(body), reply.status]).toEqual([JSON.stringify(body), 422]);
      expect(await reply.json()).toHaveProperty("detail");
    }
    expect(
      (await send("POST", "/store/items/search", { namespace_prefix: [], filter: { a: { $x: 1 } } }, headers))
        .status,
    ).toBe(422);
  });
});

describe("crons", () => {
  test("are created, read, changed, found and deleted", async () => {
    const created = await alice.crons.create("echo", {
      schedule: "0 9 * * mon-fri",
      timezone: "Europe/Berlin",
      input: { messages: [{ role: "user", content: "hi" }] },
      metadata: { colour: "red" },
      endTime: "2030-01-01T00:00:00Z",
    });
    expect(created).toMatchObject({
      schedule: "0 9 * * mon-fri",
      end_time: "2030-01-01T00:00:00.000Z",
      thread_id: null,
    });
    const { cron_id: id, next_run_date: next } = created as unknown as {
      cron_id: string;
      next_run_date: string;
    };
    expect(
      new Date(next).toLocaleString("en-GB", {
        timeZone: "Europe/Berlin",
        hour: "numeric",
        minute: "numeric",
      }),
    ).toBe("09:00");
    const thread = await alice.threads.create();
    const inThread = await alice.crons.createForThread(thread.thread_id, "echo", {
      schedule: "@daily",
      enabled: false,
    });
    expect(inThread).toMatchObject({ thread_id: thread.thread_id, next_run_date: null });
    expect(await alice.crons.search({ metadata: { colour: "red" } })).toMatchObject([{ cron_id: id }]);
    expect(await alice.crons.search({ threadId: thread.thread_id })).toHaveLength(1);
    expect(await alice.crons.search({ enabled: true, sortBy: "created_at", sortOrder: "asc" })).toHaveLength(
      1,
    );
    expect(await alice.crons.count({ assistantId: "echo" })).toBe(2);
    const changed = await alice.crons.update(id, {
      schedule: "*/5 * * * *",
      enabled: false,
      endTime: null,
    } as never);
    expect(changed).toMatchObject({
      schedule: "*/5 * * * *",
      enabled: false,
      end_time: null,
      next_run_date: null,
    });
    expect(await bob.crons.count()).toBe(0);
    expect(await statusOf(bob.crons.update(id, { enabled: true }))).toBe(404);
    expect(await statusOf(bob.crons.delete(id))).toBe(404);
    await alice.crons.delete(id);
    expect(await statusOf(alice.crons.delete(id))).toBe(404);
  });

  test("bad input is refused with its reason", async () => {
    expect(await statusOf(alice.crons.create("echo", { schedule: "60 * * * *" }))).toBe(422);
    expect(await statusOf(alice.crons.create("echo", { schedule: "* * * * *", timezone: "Mars/Base" }))).toBe(
      422,
    );
    expect(await statusOf(alice.crons.create("echo", { schedule: "* * * * *", endTime: "soon" }))).toBe(422);
    expect(await statusOf(alice.crons.create("nowhere", { schedule: "* * * * *" }))).toBe(404);
    const absent = "01980000-0000-7000-8000-000000000000";
    expect(await statusOf(alice.crons.createForThread(absent, "echo", { schedule: "* * * * *" }))).toBe(404);
  });
});
