import { expect, it } from "vitest";
import type { Json } from "../lib/json.ts";
import type { Part } from "../model/index.ts";
import { withVerdict } from "./crash-answer.ts";

const text = (words: string): Part => ({ kind: "text", text: words });
const data = (value: Json): Part => ({ kind: "data", data: value });
const kinds = (...parts: readonly Part[]): string =>
  withVerdict({ type: "message", message: { messageId: "m", role: "user", parts } })
    .map(event => (event.type === "message" && event.again ? "again" : event.type))
    .join(", ");

it.each(["yes", "Y", " Yes, please.", "OK!", "okay then", "Go ahead", "retry", "Run it again"])(
  "%j is a yes: the turn is run again",
  words => expect(kinds(text(words))).toBe("again"),
);

it.each(["no", "N", "No, thanks", "nope", "Stop!", "cancel it", "don't", "Don’t do it", "do not run it"])(
  "%j is a no: the task ends",
  words => expect(kinds(text(words))).toBe("again, status"),
);

it.each([
  "",
  "?",
  "What happened?",
  "yesterday",
  "nothing of that kind",
  "notably",
  "the other one",
  "please don't",
])("%j is neither: the question stays open", words => expect(kinds(text(words))).toBe("answered"));

it("data may answer as well, by itself or as the member of an object", () => {
  expect(kinds(data(true))).toBe("again");
  expect(kinds(data({ answer: "yes" }))).toBe("again");
  expect(kinds(data({ again: false }))).toBe("again, status");
  expect(kinds(data(1))).toBe("answered");
  expect(kinds(data(null), text("yes"))).toBe("again");
});
