import { getStore, InMemoryStore, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { expect, test } from "vitest";
import {
  ai,
  asNode,
  chain,
  graphAgent,
  type Node,
  responseText,
  runTurn,
} from "../../../test/support/graph-turns.ts";
import { createTestItems } from "../../../test/support/turn.ts";
import { createGraphStore } from "./store.ts";

type Store = NonNullable<LangGraphRunnableConfig["store"]>;
const answer = (value: unknown) => ({ messages: [ai(JSON.stringify(value))] });
const withStore = (work: (store: Store) => Promise<unknown>): Node =>
  (async (_state: unknown, config: LangGraphRunnableConfig) =>
    answer(await work(config.store as Store))) as Node;

test("nodes find the long-term memory of the caller as their store", async () => {
  const graph = chain({
    first: withStore(async store => {
      await store.put(["notes", "ada"], "1", { text: "hello", n: 1 });
      await store.put(["notes", "bob"], "2", { text: "world", n: 2 });
      const item = await store.get(["notes", "ada"], "1");
      return [item?.value, item?.createdAt instanceof Date, await store.get(["notes"], "none")];
    }),
    second: withStore(async store => {
      const found = await store.search(["notes"], { filter: { n: { $gt: 1 } } });
      await store.delete(["notes", "ada"], "1");
      return [found.map(item => [item.namespace, item.key]), (await store.search(["notes"])).length];
    }),
  }).compile();
  const conversation = await runTurn(graphAgent(graph, { separator: "|" }), "go");
  const [first, second] = responseText(conversation).split("|");
  expect(JSON.parse(first as string)).toEqual([{ text: "hello", n: 1 }, true, null]);
  expect(JSON.parse(second as string)).toEqual([[[["notes", "bob"], "2"]], 1]);
  expect((await conversation.items.get(["notes", "bob"], "2"))?.value).toEqual({ text: "world", n: 2 });
});

test("so do subgraphs, and functions that call getStore()", async () => {
  const inner = chain({
    deep: (async () => {
      await getStore()?.put(["deep"], "k", { n: 1 });
      return answer((await getStore()?.get(["deep"], "k"))?.value);
    }) as Node,
  }).compile();
  const conversation = await runTurn(graphAgent(chain({ sub: asNode(inner) }).compile()), "go");
  expect(responseText(conversation)).toBe('{"n":1}');
});

test("a graph that is compiled with a store uses its own", async () => {
  const own = new InMemoryStore();
  const node = withStore(async store => {
    await store.put(["a"], "k", { n: 1 });
    return "done";
  });
  const conversation = await runTurn(graphAgent(chain({ node }).compile({ store: own })), "go");
  expect((await own.get(["a"], "k"))?.value).toEqual({ n: 1 });
  expect(await conversation.items.get(["a"], "k")).toBeUndefined();
});

test("an error of the store is an error of the node", async () => {
  const node = withStore(async store => {
    await store.put(["a"], "k", { text: "x".repeat(2_000_000) }).catch(error => {
      throw new Error(`refused: ${error.message}`);
    });
  });
  await expect(runTurn(graphAgent(chain({ node }).compile()), "go")).rejects.toThrow(
    /^refused: The value of an item/,
  );
});

test("batch runs operations in order, as LangGraph's own stores take them", async () => {
  const [ours, theirs] = [createGraphStore(createTestItems()), new InMemoryStore()];
  const plain = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (key, one) => (/edAt$/.test(key) ? "time" : one)));
  const operations = [
    [
      { namespace: ["a", "b"], key: "1", value: { n: 1 } },
      { namespace: ["a", "c"], key: "2", value: { n: 2 } },
      { namespace: ["z"], key: "3", value: { n: 3 } },
    ],
    [
      { namespace: ["a", "b"], key: "1" },
      { namespace: ["a", "b"], key: "none" },
    ],
    [{ namespacePrefix: ["a", "b"], limit: 10, offset: 0 }],
    [{ matchConditions: [{ matchType: "prefix", path: ["a"] }], maxDepth: 1, limit: 10, offset: 0 }],
    [{ matchConditions: [{ matchType: "suffix", path: ["*", "c"] }], limit: 10, offset: 0 }],
    [{ namespace: ["a", "b"], key: "1", value: null }],
    [{ namespace: ["a", "b"], key: "1" }],
  ];
  for (const batch of operations)
    expect(plain(await ours.batch(batch as never))).toEqual(plain(await theirs.batch(batch as never)));
});
