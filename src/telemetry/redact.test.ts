import { expect, it } from "vitest";
import { redact, scrub } from "./redact.ts";

const SECRETS: readonly (readonly [string, string])[] = [
  ["Authorization: Bearer abc.def-123456", "Authorization: Bearer [redacted]"],
  ["postgres://user:hunter2@db/tasks", "postgres://[redacted]@db/tasks"],
  ['{"api_key":"k-123456"}', '{"api_key":"[redacted]"}'],
  ["?token=abcdef&x=1", "?token=[redacted]&x=1"],
  ["got eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abcdef here", "got [redacted] here"],
  ["key sk-abcdefghijklmnop1234", "key [redacted]"],
  ["4,000 tokens were spent", "4,000 tokens were spent"],
  ["a plain sentence", "a plain sentence"],
];

it.each(SECRETS)("%s", (text, expected) => {
  expect(scrub(text)).toBe(expected);
});

it("members are judged by their names, at any depth; counts of tokens are none", () => {
  expect(
    redact({
      headers: { Authorization: "x", "x-api-key": "y", accept: "z" },
      list: [{ clientSecret: "s" }],
      inputTokens: 3,
      password: "",
    }),
  ).toEqual({
    headers: { Authorization: "[redacted]", "x-api-key": "[redacted]", accept: "z" },
    list: [{ clientSecret: "[redacted]" }],
    inputTokens: 3,
    password: "",
  });
});

it("of an error stays what went wrong, and not the request that a library hung on it", () => {
  const cause = Object.assign(new Error("connect to https://me:pw@host failed"), { code: "ECONNREFUSED" });
  const error = Object.assign(new Error("no reply", { cause }), {
    config: { headers: { Authorization: "Bearer abcdefgh" } },
  });
  const told = redact({ err: error }) as { err: Record<string, unknown> };
  expect(told.err).toMatchObject({
    type: "Error",
    message: "no reply",
    cause: { message: "connect to https://[redacted]@host failed", code: "ECONNREFUSED" },
  });
  expect(told.err).not.toHaveProperty("config");
});

it("what knows how to be written down is asked", () => {
  const at = new Date(0);
  expect(redact({ at, url: new URL("https://a:b@host/x") })).toEqual({
    at: at.toISOString(),
    url: "https://[redacted]@host/x",
  });
});

it("is bounded, and does not run in circles", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  expect(JSON.stringify(redact(circle)).length).toBeLessThan(200);
  expect(JSON.stringify(redact("x".repeat(100_000))).length).toBeLessThan(20_000);
  expect(redact(Array.from({ length: 1_000 }, (_, i) => i))).toHaveLength(100);
});
