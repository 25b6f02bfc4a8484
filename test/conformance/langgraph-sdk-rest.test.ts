import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lgAgents } from "../support/lg-agents.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Crons, store and the rest of the official client; with the other files every method of it is called. */

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await serve(lgAgents());
  client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
});
afterAll(() => server.stop());

it("crons are created, found, changed and deleted", async () => {
  const { thread_id } = await client.threads.create();
  const schedule = "0 0 1 1 *";
  const own = await client.crons.create("steps", {
    schedule,
    input: { trail: [] },
    metadata: { of: "none" },
  });
  const bound = await client.crons.createForThread(thread_id, "steps", { schedule, input: { trail: [] } });
  expect(bound).toMatchObject({ thread_id, schedule });
  expect((await client.crons.search({ threadId: thread_id })).map(one => one.cron_id)).toEqual([
    bound.cron_id,
  ]);
  expect(await client.crons.count({})).toBe(2);
  const changed = await client.crons.update(own.cron_id, { schedule: "30 6 * * *", enabled: false });
  expect(changed).toMatchObject({ cron_id: own.cron_id, schedule: "30 6 * * *", enabled: false });
  for (const { cron_id } of [own, bound]) await client.crons.delete(cron_id);
  expect(await client.crons.count({})).toBe(0);
});

it("items of the store are written, read, found and deleted", async () => {
  await client.store.putItem(["users", "ada"], "food", { likes: "pizza" });
  expect(await client.store.getItem(["users", "ada"], "food")).toMatchObject({ value: { likes: "pizza" } });
  const found = await client.store.searchItems(["users"], { filter: { likes: "pizza" } });
  expect(found.items.map(one => one.key)).toEqual(["food"]);
  expect(await client.store.listNamespaces({ prefix: ["users"] })).toEqual({
    namespaces: [["users", "ada"]],
  });
  await client.store.deleteItem(["users", "ada"], "food");
  expect(await client.store.getItem(["users", "ada"], "food")).toBeNull();
});

it("the metadata of a state is changed", async () => {
  const { thread_id } = await client.threads.create({ metadata: { a: 1 } });
  await client.threads.patchState(thread_id, { b: 2 });
  expect((await client.threads.get(thread_id)).metadata).toEqual({ a: 1, b: 2 });
});
