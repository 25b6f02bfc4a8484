import { expect, it } from "vitest";
import type { Json } from "../lib/json.ts";
import type { Part } from "../model/index.ts";
import { toCrashAnswerEvents } from "./crash-answer.ts";

const text = (value: string): Part => ({ kind: "text", text: value });
const data = (value: Json): Part => ({ kind: "data", data: value });
const kinds = (...parts: readonly Part[]): string =>
  toCrashAnswerEvents({ type: "message", message: { messageId: "m", role: "user", parts } })
    .map(event => (event.type === "message" && event.again ? "again" : event.type))
    .join(", ");

it.each([
  text("run-again"),
  text(" Yes\n"),
  text("true"),
  data({ answer: "run-again" }),
  data({ answer: true }),
  data("yes"),
  data(true),
])("%j repeats the turn", part => expect(kinds(part)).toBe("again"));

it.each([text("cancel"), text("NO"), data({ answer: "cancel" }), data({ answer: "no" }), data(false)])(
  "%j cancels the task",
  part => expect(kinds(part)).toBe("again, status"),
);

it.each([
  text(""),
  text("Yes, please."),
  text("okay"),
  text("no idea"),
  text("What happened?"),
  data(1),
  data({ again: true }),
  data({ answer: "maybe" }),
])("%j is no answer: the question stays open", part => expect(kinds(part)).toBe("answered"));

it("without an answer in the data the text counts", () =>
  expect(kinds(data(null), text("yes"))).toBe("again"));
