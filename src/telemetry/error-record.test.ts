import { expect, it } from "vitest";
import { LIMITS } from "../model/index.ts";
import { toErrorRecord } from "./error-record.ts";

const SECRET = "Bearer abcdefghijklmnop";
const charsIn = (value: unknown): number => JSON.stringify(value).length;

it("keeps the name, the message, the code, the stack and the causes", () => {
  const cause = Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" });
  const kept = toErrorRecord(new RangeError("too far", { cause }));
  expect(kept).toMatchObject({
    name: "RangeError",
    message: "too far",
    stack: expect.stringMatching(/^RangeError: too far\n +at /),
    causes: [{ name: "TypeError", message: "fetch failed", code: "ECONNREFUSED" }],
  });
  const gathered = toErrorRecord(new AggregateError([new Error("a"), "b"], "both"));
  expect(gathered.causes?.map(one => one.message)).toEqual(["a", "b"]);
});

it("leaves out secrets, also where a text is cut", () => {
  const inside = new Error(`refused: ${SECRET}`);
  expect(JSON.stringify(toErrorRecord(new Error(SECRET, { cause: inside })))).not.toContain("abcdefgh");
  for (let before = 0; before < 40; before++) {
    const text = `${"x".repeat(LIMITS.errorCharsMax / 4 - before)} ${SECRET}`;
    expect(JSON.stringify(toErrorRecord(new Error(text)))).not.toContain("abcd");
  }
});

it("is bounded, however long or deep the error is", () => {
  const long = "long ".repeat(1_000_000);
  let error: Error = new Error(long);
  for (let i = 0; i < 100; i++) error = new Error(long, { cause: error });
  expect(charsIn(toErrorRecord(error))).toBeLessThan(2 * LIMITS.errorCharsMax);
  const many = Array.from({ length: 1_000 }, () => new AggregateError([error, error, error], long));
  expect(charsIn(toErrorRecord(new AggregateError(many)))).toBeLessThan(2 * LIMITS.errorCharsMax);
  const circle: Error & { cause?: unknown } = new Error("around");
  circle.cause = circle;
  expect(charsIn(toErrorRecord(circle))).toBeLessThan(2 * LIMITS.errorCharsMax);
});

it.each([
  ["a text", "just words", { name: "string", message: "just words" }],
  ["nothing", undefined, { name: "undefined", message: "undefined" }],
  ["null", null, { name: "null", message: "null" }],
  [
    "an object",
    { reason: "no", password: "hunter22" },
    { name: "object", message: expect.stringContaining("no") },
  ],
  ["a symbol", Symbol("s"), { name: "symbol", message: "Symbol(s)" }],
  ["a function", () => 1, { name: "function" }],
])("takes whatever was thrown: %s", (_, thrown, kept) => {
  expect(toErrorRecord(thrown)).toMatchObject(kept);
  expect(JSON.stringify(toErrorRecord(thrown))).not.toContain("hunter22");
});

it("does not throw, whatever the error does when it is read", () => {
  const hostile = new Error("x");
  Object.defineProperty(hostile, "message", {
    get() {
      throw new Error("no");
    },
  });
  const { proxy, revoke } = Proxy.revocable(new Error("gone"), {});
  revoke();
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  for (const thrown of [hostile, proxy, circle, Object.create(null), new Error("y", { cause: hostile })])
    expect(toErrorRecord(thrown)).toMatchObject({ name: expect.any(String), message: expect.any(String) });
});

it("has nothing in it that a database would refuse", () => {
  const { message } = toErrorRecord(new Error("a\0b\ud800c"));
  expect(message).toBe("a\ufffdb\ufffdc");
});
