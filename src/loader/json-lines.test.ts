import { expect, test } from "vitest";
import { findLines } from "./json-lines.ts";

test("each member has the line of its key", () => {
  const text = `{
  "a": 1, "b": { "c": [ { "d": 2 },
    { "d": "{\\"x\\": 1}",
      "e\\n": null } ] },

  "f":
    true, "a b": [1, [2, {"g": 3}]]
}`;
  expect(Object.fromEntries(findLines(text))).toEqual({
    a: 2,
    b: 2,
    "b.c": 2,
    "b.c.0.d": 2,
    "b.c.1.d": 3,
    "b.c.1.e\n": 4,
    f: 6,
    "a b": 7,
    "a b.1.1.g": 7,
  });
});

test("a text without members has none", () => {
  for (const text of ["{}", "[]", "7", '"a:b"', "[1,2]"]) expect(findLines(text).size).toBe(0);
});

test("costs linear time", () => {
  const text = `{"a":"${'\\"'.repeat(500_000)}","b":[${"1,".repeat(500_000)}1]}`;
  expect(findLines(text).size).toBe(2);
});
