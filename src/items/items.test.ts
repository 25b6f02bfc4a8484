import { beforeEach, describe, expect, test } from "vitest";
import { toScope } from "../auth/scope.ts";
import type { JsonObject } from "../lib/json.ts";
import { Fault } from "../model/index.ts";
import type { CallerItems } from "../ports/index.ts";
import { createMemoryBackend } from "../store/memory/backend.ts";
import { createSingleNodeItems } from "../store/single-node/items.ts";
import { createItems, type ItemsParts } from "./index.ts";
import { textsAt } from "./texts.ts";

const alice = toScope("acme", "alice");
let now = 0;

/** Over a backend in memory whose commits happen at once. */
function open(more: Partial<ItemsParts> = {}): CallerItems {
  const backend = createMemoryBackend();
  const writer = { write: async (part: () => void) => part() } as never;
  const store = createSingleNodeItems({ backend, writer, wallTime: () => now });
  const parts = { store, embed: undefined, fields: ["$"], ttlMs: undefined, refreshOnRead: true };
  return createItems({ ...parts, ...more })(alice);
}

beforeEach(() => {
  now = 1_000;
});

async function fill(items: CallerItems, values: Record<string, JsonObject>): Promise<void> {
  for (const [path, value] of Object.entries(values)) {
    now += 1;
    const labels = path.split("/");
    await items.put(labels.slice(0, -1), labels.at(-1) as string, value);
  }
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "accepted",
    error => (error instanceof Fault ? error.code : String(error)),
  );

describe("a filter", () => {
  const values = {
    "d/a": { type: "report", pages: 5, author: { name: "Ada", age: 36 }, tags: ["x"] },
    "d/b": { type: "report", pages: 15, author: { name: "Bob" }, at: "2026-02-01" },
    "d/c": { type: "note", pages: "20", at: "2026-03-01" },
  };
  test.each<[JsonObject, string]>([
    [{}, "cba"],
    [{ type: "report" }, "ba"],
    [{ type: { $eq: "report" } }, "ba"],
    [{ type: { $ne: "report" } }, "c"],
    [{ pages: { $gt: 5 } }, "cb"],
    [{ pages: { $gte: 5, $lt: 20 } }, "ba"],
    [{ pages: { $lte: 5 } }, "a"],
    [{ at: { $gt: "2026-02-15" } }, "c"],
    [{ author: { name: "Ada" } }, "a"],
    [{ author: { age: { $gt: 30 } } }, "a"],
    [{ tags: ["x"] }, "a"],
    [{ type: { $in: ["note", "memo"] } }, "c"],
    [{ type: { $nin: ["note"] } }, "ba"],
    [{ missing: null }, ""],
    [{ constructor: { $ne: 1 } }, "cba"],
  ])("%j", async (filter, expected) => {
    const items = open();
    await fill(items, values);
    expect((await items.search(["d"], { filter })).map(item => item.key).join("")).toBe(expected);
  });

  test("with an unknown operator is refused", async () => {
    expect(await codeOf(open().search(["d"], { filter: { a: { $regex: "x" } } }))).toBe("invalid-params");
  });
});

test("a search returns pages of what the filter leaves", async () => {
  const items = open();
  await fill(
    items,
    Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`n/k${i}`, { even: i % 2 === 0 }])),
  );
  const found = await items.search(["n"], { filter: { even: true }, limit: 3, offset: 100 });
  expect(found.map(item => item.key)).toEqual(["k48", "k46", "k44"]);
  expect(await items.search(["n"])).toHaveLength(10);
  expect(await items.search([], { limit: 1_000 })).toHaveLength(250);
  expect(await codeOf(items.search([], { limit: 5_000 }))).toBe("invalid-params");
  expect(await codeOf(items.search([], { offset: -1 }))).toBe("invalid-params");
});

describe("a search by meaning", () => {
  const WORDS = ["cat", "dog", "car"];
  const embedded: string[] = [];
  const embed = async (texts: readonly string[]) => {
    embedded.push(...texts);
    return texts.map(text => WORDS.map(word => (text.includes(word) ? 1 : 0.01)));
  };
  beforeEach(() => void (embedded.length = 0));

  test("returns the most similar first, with a score, and those without vectors last", async () => {
    const items = open({ embed, fields: ["text"] });
    await fill(items, {
      "m/1": { text: "a cat" },
      "m/2": { text: "a car" },
      "m/3": { text: "cat and dog" },
      "m/4": { other: 1 },
    });
    const found = await items.search(["m"], { query: "cat" });
    expect(found.map(item => item.key)).toEqual(["1", "3", "2", "4"]);
    expect(found[0]?.score).toBeCloseTo(1, 3);
    expect(found[3]).not.toHaveProperty("score");
    expect((await items.search(["m"], { query: "cat", limit: 1, offset: 1 })).map(item => item.key)).toEqual([
      "3",
    ]);
    expect(
      (await items.search(["m"], { query: "dog", filter: { text: "a car" } })).map(item => item.key),
    ).toEqual(["2"]);
    expect(embedded.slice(0, 3)).toEqual(["a cat", "a car", "cat and dog"]);
  });

  test("embeds the members that a put names, or none", async () => {
    const items = open({ embed });
    await items.put(["m"], "1", { a: "cat", b: ["dog", "car"] }, { index: ["b[*]"] });
    await items.put(["m"], "2", { a: "cat" }, { index: false });
    await items.put(["m"], "3", { a: "cat" });
    expect(embedded).toEqual(["dog", "car", '{"a":"cat"}']);
  });

  test("without an embedding function the query is ignored", async () => {
    const items = open();
    await fill(items, { "m/1": { text: "cat" }, "m/2": { text: "dog" } });
    expect((await items.search(["m"], { query: "cat" })).map(item => item.key)).toEqual(["2", "1"]);
  });

  test("a function that fails is a fault, and nothing is stored", async () => {
    const failing = open({ embed: () => Promise.reject(new Error("no key")) });
    expect(await codeOf(failing.put(["m"], "1", { a: 1 }))).toBe("unavailable");
    expect(await failing.get(["m"], "1")).toBeUndefined();
    const wrong = open({ embed: async () => [] });
    expect(await codeOf(wrong.put(["m"], "1", { a: 1 }))).toContain("one list of numbers");
  });
});

test("the time to live is the server's, or that of the put; reading begins it anew unless told otherwise", async () => {
  const items = open({ ttlMs: 100 });
  await items.put(["t"], "a", {});
  await items.put(["t"], "b", {}, { ttlMs: 1_000 });
  await items.put(["t"], "c", {}, { ttlMs: null });
  now += 60;
  await items.get(["t"], "a");
  now += 60;
  await items.search(["t"], { refresh: false });
  now += 60;
  expect((await items.search(["t"], { refresh: false })).map(item => item.key)).toEqual(["b", "c"]);
  now += 1_000;
  expect((await items.search(["t"])).map(item => item.key)).toEqual(["c"]);
});

test("namespaces are found by prefix, suffix and depth", async () => {
  const items = open();
  await fill(items, {
    "users/ada/prefs/1": {},
    "users/bob/prefs/1": {},
    "users/bob/notes/1": {},
    "docs/1": {},
  });
  const find = async (options: Parameters<CallerItems["listNamespaces"]>[0]) =>
    (await items.listNamespaces(options)).map(one => one.join("/"));
  expect(await find({})).toEqual(["docs", "users/ada/prefs", "users/bob/notes", "users/bob/prefs"]);
  expect(await find({ prefix: ["users", "bob"] })).toEqual(["users/bob/notes", "users/bob/prefs"]);
  expect(await find({ prefix: ["users", "*", "prefs"] })).toEqual(["users/ada/prefs", "users/bob/prefs"]);
  expect(await find({ suffix: ["prefs"] })).toEqual(["users/ada/prefs", "users/bob/prefs"]);
  expect(await find({ suffix: ["*", "notes"] })).toEqual(["users/bob/notes"]);
  expect(await find({ maxDepth: 2 })).toEqual(["docs", "users/ada", "users/bob"]);
  expect(await find({ maxDepth: 1, limit: 1, offset: 1 })).toEqual(["users"]);
  expect(await find({ prefix: ["a", "b", "c", "d"] })).toEqual([]);
});

test("namespaces are checked", async () => {
  for (const namespace of [[], [""], ["a.b"]]) {
    expect(await codeOf(open().put(namespace, "k", {}))).toBe("invalid-params");
    expect(await codeOf(open().get(namespace, "k"))).toBe("invalid-params");
    expect(await codeOf(open().delete(namespace, "k"))).toBe("invalid-params");
  }
});

test("texts are found by paths", () => {
  const value = {
    title: "t",
    n: 5,
    none: null,
    list: [{ x: "a" }, { x: "b" }, { y: "c" }],
    deep: { er: { est: "d" } },
  };
  const find = (path: string) => textsAt(value, path);
  expect(find("title")).toEqual(["t"]);
  expect(find("n")).toEqual(["5"]);
  expect(find("none")).toEqual([]);
  expect(find("list[*].x")).toEqual(["a", "b"]);
  expect(find("list[-1].y")).toEqual(["c"]);
  expect(find("list[7].y")).toEqual([]);
  expect(find("deep.er.est")).toEqual(["d"]);
  expect(find("deep")).toEqual(['{"er":{"est":"d"}}']);
  expect(find("deep.*.est")).toEqual(["d"]);
  expect(find("__proto__.x")).toEqual([]);
  expect(find("$")).toEqual([JSON.stringify(value)]);
});
