import { describe, expect, test } from "vitest";
import { findIn, openAtFirst } from "./json-tree.ts";

describe("what is open at first", () => {
  test("a small value is open to the depth that was asked for", () => {
    const inner = { c: {} };
    const value = { a: [inner] };
    expect([...openAtFirst(value, 2)]).toEqual([value, value.a]);
    expect(openAtFirst("text", 3).size).toBe(0);
  });

  test("a large value has a bounded number of rows", () => {
    const dense = Array.from({ length: 100 }, () =>
      Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => 1)),
    );
    expect(openAtFirst(dense, 3).size).toBe(4);
    expect(
      openAtFirst(
        Array.from({ length: 1e5 }, () => 1),
        3,
      ).size,
    ).toBe(1);
  });
});

describe("a search", () => {
  test("opens the branches around names and values, wherever they are", () => {
    const value = { list: [...Array.from({ length: 500 }, () => 0), { deep: "A Needle" }], needles: 1 };
    const { count, isComplete, branches } = findIn(value, "needle");
    expect({ count, isComplete }).toEqual({ count: 2, isComplete: true });
    expect([...branches]).toEqual(expect.arrayContaining([value, value.list, value.list[500]]));
  });

  test("ends after many results, and does not go down without end", () => {
    const { count, isComplete } = findIn(
      Array.from({ length: 1000 }, () => "x"),
      "x",
    );
    expect({ count, isComplete }).toEqual({ count: 200, isComplete: false });
    const deep = Array.from({ length: 5000 }).reduce<unknown>(inner => ({ inner }), "needle");
    expect(findIn(deep, "needle").count).toBe(0);
  });

  test("numbers in a list are no names", () => {
    expect(findIn(["a", "b"], "1").count).toBe(0);
  });
});
