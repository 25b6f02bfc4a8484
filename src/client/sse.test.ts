import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readSse, type SseEvent } from "./sse.ts";

const MAX = 1_000_000;

async function* inChunks(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...places, bytes.length]) {
    yield bytes.subarray(from, to);
    from = to;
  }
}

async function all(events: AsyncIterable<SseEvent>): Promise<readonly SseEvent[]> {
  const list: SseEvent[] = [];
  for await (const one of events) list.push(one);
  return list;
}

async function read(text: string, cuts: readonly number[] = [], max = MAX): Promise<readonly SseEvent[]> {
  return all(readSse(inChunks(new TextEncoder().encode(text), cuts), max));
}

const event = (data: string, id?: string, name = "message"): SseEvent =>
  id === undefined ? { event: name, data } : { event: name, data, id };

const TABLE: readonly [sentence: string, text: string, events: readonly SseEvent[]][] = [
  ["one event is one data line and a blank line", "data: a\n\n", [event("a")]],
  ["the space after the colon may be missing", "data:a\n\n", [event("a")]],
  ["only one space after the colon is taken away", "data:  a\n\n", [event(" a")]],
  ["several data lines are joined by newlines", "data: a\ndata: b\ndata\n\n", [event("a\nb\n")]],
  ["lines may end with CRLF", "id: 7\r\ndata: a\r\n\r\ndata: b\r\n\r\n", [event("a", "7"), event("b", "7")]],
  ["lines may end with CR", "data: a\r\rdata: b\r\r", [event("a"), event("b")]],
  ["comments are no events", ": heartbeat\n\ndata: a\n: more\n\n", [event("a")]],
  [
    "an id holds until another one comes",
    "id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n",
    [event("a", "1"), event("b", "1"), event("c", "2")],
  ],
  ["an empty id is an id", "id: 1\ndata: a\n\nid\ndata: b\n\n", [event("a", "1"), event("b", "")]],
  ["an id with NUL is ignored", "id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n", [event("a", "1"), event("b", "1")]],
  [
    "an event may have a name",
    "event: error\ndata: a\n\ndata: b\n\n",
    [event("a", undefined, "error"), event("b")],
  ],
  ["fields without data make no event", "event: x\nid: 3\nretry: 10\n\ndata: a\n\n", [event("a", "3")]],
  ["unknown fields are ignored", "foo: bar\ndata: a\n\n", [event("a")]],
  ["an event that was cut off is thrown away", "data: a\n\ndata: half", [event("a")]],
  ["an event without its blank line is thrown away", "data: a\n\ndata: half\n", [event("a")]],
  ["a byte order mark is skipped", "\uFEFFdata: a\n\n", [event("a")]],
  ["letters of more than one byte survive", "data: žluťoučký 🐎 \u2028\n\n", [event("žluťoučký 🐎 \u2028")]],
  ["an empty body has no events", "", []],
];

describe("reading server-sent events", () => {
  test.each(TABLE)("%s", async (_sentence, text, events) => {
    expect(await read(text)).toEqual(events);
  });

  test.each(TABLE)("%s, also when every byte is a chunk", async (_sentence, text, events) => {
    const everywhere = Array.from({ length: new TextEncoder().encode(text).length }, (_, at) => at);
    expect(await read(text, everywhere)).toEqual(events);
  });

  test("the position of chunk boundaries makes no difference", async () => {
    const line = fc.string({ unit: "grapheme" }).map(text => text.replace(/[\r\n\0]/g, ""));
    const block = fc.record({ data: fc.array(line, { minLength: 1, maxLength: 3 }), id: fc.option(line) });
    const ending = fc.constantFrom("\n", "\r\n", "\r");
    await fc.assert(
      fc.asyncProperty(fc.array(block), ending, fc.array(fc.nat()), async (blocks, end, cuts) => {
        const text = blocks.map(one => written(one, end)).join("");
        expect(await read(text, cuts)).toEqual(await read(text));
        expect((await read(text)).map(one => one.data)).toEqual(blocks.map(one => one.data.join("\n")));
      }),
    );
  });

  test("any bytes are read without an error", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat()), async (bytes, cuts) => {
        const whole = await all(readSse(inChunks(bytes, []), MAX));
        expect(await all(readSse(inChunks(bytes, cuts), MAX))).toEqual(whole);
      }),
    );
  });

  test("records that end with U+001E, as Mastra sends them, are events; so are fields after one", async () => {
    const datas = async (text: string, cuts: readonly number[] = []): Promise<string[]> =>
      (await read(text, cuts)).map(({ data }) => data);
    expect(await datas('{"a":1}\u001e{"b":2}\u001e')).toEqual(['{"a":1}', '{"b":2}']);
    expect(await datas('{"a":1}\u001e{"b":2}\u001e', [3, 8, 9])).toEqual(['{"a":1}', '{"b":2}']);
    expect(await datas('data: {"a":1}\n\n\u001edata: {"b":2}\n\n\u001e')).toEqual(['{"a":1}', '{"b":2}']);
  });

  test("an event without an end is refused", async () => {
    const lines = `data: ${"x".repeat(60)}\ndata: ${"x".repeat(60)}`;
    await expect(read(lines, [40, 80, 120], 100)).rejects.toThrow("more than 100 characters");
  });
});

function written(block: { data: readonly string[]; id: string | null }, end: string): string {
  const lines = block.data.map(data => `data: ${data}`);
  return [...(block.id === null ? [] : [`id: ${block.id}`]), ...lines, "", ""].join(end);
}
