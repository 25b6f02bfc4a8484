import { expect, test } from "vitest";
import type { ThreadSnapshot } from "../../ports/index.ts";
import type { StoredTuple } from "./checkpointer.ts";
import { SnapshotCache } from "./snapshot-cache.ts";

const stored = (...texts: string[]): StoredTuple => ({
  ns: "",
  id: "1",
  texts,
  toTuple: () => Promise.reject(new Error("not needed")),
});
const snapshot = (count: number) => ({ values: { count } }) as unknown as ThreadSnapshot;

test("a snapshot is found while the same texts are stored", () => {
  const cache = new SnapshotCache(100_000);
  cache.put("a", stored("checkpoint", "write"), snapshot(1));
  expect(cache.find("a", stored("checkpoint", "write"))).toEqual(snapshot(1));
  expect(cache.find("b", stored("checkpoint", "write"))).toBeUndefined();
  expect(cache.find("a", stored("checkpoint", "other"))).toBeUndefined();
  expect(cache.find("a", stored("checkpoint"))).toBeUndefined();
  expect(cache.find("a", stored("checkpoint", "write", "more"))).toBeUndefined();
});

test("a snapshot of a changed checkpoint replaces the earlier one", () => {
  const cache = new SnapshotCache(100_000);
  cache.put("a", stored("checkpoint"), snapshot(1));
  cache.put("a", stored("changed"), snapshot(2));
  expect(cache.find("a", stored("checkpoint"))).toBeUndefined();
  expect(cache.find("a", stored("changed"))).toEqual(snapshot(2));
});

test("the least recently used snapshots go when their bytes exceed the maximum", () => {
  const text = "x".repeat(1_000);
  const cache = new SnapshotCache(11_000);
  cache.put("a", stored(text), snapshot(1));
  cache.put("b", stored(text), snapshot(2));
  cache.find("a", stored(text));
  cache.put("c", stored(text), snapshot(3));
  expect(cache.find("a", stored(text))).toEqual(snapshot(1));
  expect(cache.find("b", stored(text))).toBeUndefined();
  expect(cache.find("c", stored(text))).toEqual(snapshot(3));
  cache.put("d", stored("x".repeat(10_000)), snapshot(4));
  expect(cache.find("d", stored("x".repeat(10_000)))).toBeUndefined();
  expect(cache.find("a", stored(text))).toEqual(snapshot(1));
});
