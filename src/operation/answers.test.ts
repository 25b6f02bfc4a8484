import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../lib/json.ts";
import type { Message, Part, Task } from "../model/index.ts";
import { Fault } from "../model/index.ts";
import { type MessageEvent, toAnswerEvent } from "./answers.ts";

const text = (value: string): Part => ({ kind: "text", text: value });
const data = (value: Json): Part => ({ kind: "data", data: value });
const resume = (...answers: Json[]): Part => data({ resume: answers });

function answer(parts: readonly Part[], asks: readonly string[] | undefined, answers?: JsonObject) {
  const task = { status: { state: "input-required", at: 0, asks }, answers } as unknown as Task;
  const message: Message = { messageId: "m", role: "user", parts };
  const given: MessageEvent = { type: "message", message, key: { name: "k", digest: "d" } };
  const event = toAnswerEvent(task, given);
  expect(event).toMatchObject({ message, key: given.key });
  return event;
}

const BOTH = ["a", "b"];

describe("a message to a task that asked", () => {
  it.each([
    ["no question with an id, and gets a text", undefined, [text("yes")], undefined],
    ["no question with an id, and gets a list", undefined, [resume({ id: "a", value: 1 })], undefined],
    ["two questions, and gets a text", BOTH, [text("yes")], undefined],
    ["two questions, and gets data", BOTH, [data({ a: 1 })], undefined],
    ["one question, and gets a text", ["a"], [text("ye"), text("s")], { a: "yes" }],
    ["one question, and gets data", ["a"], [data({ choice: 1 })], { a: { choice: 1 } }],
    ["one question, and gets both", ["a"], [data({ choice: 1 }), text("yes")], { a: "yes" }],
    ["one question, and gets a file", ["a"], [{ kind: "url", url: "https://x.example/" }], undefined],
    [
      "two questions, and gets all",
      BOTH,
      [resume({ id: "b", value: null }, { id: "a", value: [1] })],
      { a: [1], b: null },
    ],
    [
      "two questions, in two lists",
      BOTH,
      [resume({ id: "a", value: 1 }), resume({ id: "b", value: 2 })],
      { a: 1, b: 2 },
    ],
    [
      "two questions, one of them twice",
      BOTH,
      [resume({ id: "a", value: 1 }, { id: "b", value: 2 }, { id: "a", value: 3 })],
      { a: 3, b: 2 },
    ],
  ] as const)("begins the next turn: it asked %s", (_, asks, parts, answers) => {
    const event = answer(parts, asks);
    expect(event.type).toBe("message");
    expect("answers" in event ? event.answers : undefined).toEqual(answers);
  });

  it("is recorded while another question is open, and the last answer begins the next turn", () => {
    const first = answer([resume({ id: "a", value: 1 })], BOTH);
    expect(first).toMatchObject({ type: "answered", answers: { a: 1 } });
    for (const rest of [[resume({ id: "b", value: 2 })], [text("2")]])
      expect(answer(rest, BOTH, { a: 1 })).toMatchObject({
        type: "message",
        answers: { b: expect.anything() },
      });
    expect(answer([resume({ id: "a", value: 3 })], BOTH, { a: 1 })).toMatchObject({
      type: "answered",
      answers: { a: 3 },
    });
  });

  it.each([
    [data({ resume: "a" }), "message.parts[0].data.resume"],
    [data({ resume: null }), "message.parts[0].data.resume"],
    [data({ resume: [] }), "message.parts[0].data.resume"],
    [
      data({ resume: Array.from({ length: 101 }, () => ({ id: "a", value: 1 })) }),
      "message.parts[0].data.resume",
    ],
    [resume("a"), "message.parts[0].data.resume[0]"],
    [resume({ id: "a" }), "message.parts[0].data.resume[0]"],
    [resume({ value: 1 }), "message.parts[0].data.resume[0].id"],
    [resume({ id: "a", value: 1 }, { id: "c", value: 1 }), "message.parts[0].data.resume[1].id"],
    [resume({ id: "__proto__", value: 1 }), "message.parts[0].data.resume[0].id"],
  ])("is refused with the path of the error: %j", (part, field) => {
    const refusal = (() => {
      try {
        return answer([part], BOTH);
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(Fault);
    expect(refusal).toMatchObject({ code: "invalid-params", details: { field } });
  });
});
