import { expect, test } from "vitest";
import { agent } from "../../src/agent/definition.ts";
import type { Json } from "../../src/lib/json.ts";
import { createTestServer, type TestCaller } from "../../src/testing/index.ts";

/** The long-term memory of callers, used by agents. */

const keeper = agent({
  name: "keeper",
  async run(task, ctx) {
    const [verb, key = "", ...words] = task.text.split(" ");
    if (verb === "keep") await ctx.items.put(["notes"], key, { text: words.join(" ") });
    const found = verb === "find" ? await ctx.items.search(["notes"], { query: key }) : [];
    const item = await ctx.items.get(["notes"], key);
    return ctx.data({ item: (item?.value ?? null) as Json, found: found.map(one => one.key) });
  },
});
const reader = agent({ ...keeper, name: "reader" });

const ask = async (caller: TestCaller, text: string): Promise<unknown> => (await caller.send(text)).data;

test("values outlive contexts, are shared by agents, and survive a restart", async () => {
  await using server = await createTestServer([keeper, reader]);
  await ask(server, "keep first hello");
  const other = server.caller({ agent: "reader" });
  expect(await ask(other, "get first")).toEqual({ item: { text: "hello" }, found: [] });
  await server.crash();
  expect(await ask(other, "get first")).toMatchObject({ item: { text: "hello" } });
});

test("each caller has its own", async () => {
  const apiKeys = [
    { key: "the secret key of alice", principal: "alice", tenant: "acme" },
    { key: "the secret key of bob", principal: "bob", tenant: "acme" },
    { key: "the secret key of another alice", principal: "alice", tenant: "beta" },
  ];
  await using server = await createTestServer({ agents: [keeper], auth: "api-key", apiKeys });
  const [alice, ...others] = apiKeys.map(({ key }) => server.caller({ headers: { "x-api-key": key } }));
  await ask(alice as TestCaller, "keep mine hello");
  expect(await ask(alice as TestCaller, "get mine")).toMatchObject({ item: { text: "hello" } });
  for (const other of others) {
    expect(await ask(other, "get mine")).toEqual({ item: null, found: [] });
    expect(await ask(other, "find hello")).toEqual({ item: null, found: [] });
  }
});

test("an embedding function of the config lets agents search by meaning", async () => {
  const embed = async (texts: readonly string[]) =>
    texts.map(text => [text.includes("cat") ? 1 : 0, text.includes("car") ? 1 : 0, 0.1]);
  await using server = await createTestServer({
    agents: [keeper],
    items: { embed, dims: 3, fields: ["text"] },
  });
  await ask(server, "keep one a cat");
  await ask(server, "keep two a car");
  expect(await ask(server, "find car")).toMatchObject({ found: ["two", "one"] });
  expect(await ask(server, "find cat")).toMatchObject({ found: ["one", "two"] });
});
