import { AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { toWire } from "./wire.ts";

test("messages are flat, wherever they are", () => {
  const message = new AIMessageChunk({ content: "hi", id: "1", response_metadata: { at: undefined } });
  const wire = toWire([message, { messages: [new HumanMessage("go")], inner: new Map() }]);
  expect(wire).toMatchObject([
    { type: "ai", content: "hi", id: "1", tool_call_chunks: [] },
    { messages: [{ type: "human", content: "go" }], inner: {} },
  ]);
  expect(wire).toEqual(JSON.parse(JSON.stringify(wire)));
});

test("a message in an instance of another class is flat as well", () => {
  class Box {
    readonly held = new ToolMessage({ content: "done", tool_call_id: "7" });
  }
  expect(toWire({ box: new Box() })).toMatchObject({ box: { held: { type: "tool", tool_call_id: "7" } } });
});

test("other values have their form in JSON", () => {
  const at = new Date(0);
  class Named {
    readonly #hidden = 1;
    readonly name = "n";
    toJSON = () => ({ named: this.name, hidden: this.#hidden });
  }
  const value = {
    ...{ text: "a", count: 1, none: null, flag: true, at, named: new Named(), nan: Number.NaN },
    ...{ gone: undefined, method: () => 1, symbol: Symbol("s"), list: [undefined, () => 1, 2] },
    ...{
      map: new Map([[1, 2]]),
      bytes: new Uint8Array([1]),
      bare: Object.assign(Object.create(null), { a: 1 }),
    },
  };
  expect(toWire(value)).toEqual(JSON.parse(JSON.stringify(value)));
  expect(toWire(undefined)).toBeNull();
  expect(toWire(() => 1)).toBeNull();
  expect(toWire({ big: 12n, failed: new TypeError("no") })).toEqual({
    big: "12",
    failed: { name: "TypeError", message: "no" },
  });
  const proto = JSON.parse('{"__proto__":{"a":1}}') as object;
  expect(JSON.stringify(toWire(proto))).toBe('{"__proto__":{"a":1}}');
});

test("a cycle is an error, and deep values are converted", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  expect(() => toWire(cycle)).toThrow(TypeError);
  let deep: unknown = new HumanMessage("deep");
  for (let i = 0; i < 300; i++) deep = [deep];
  expect(JSON.stringify(toWire(deep))).toContain('"type":"human"');
});
