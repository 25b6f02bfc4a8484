import fc from "fast-check";
import { expect, test } from "vitest";
import { type Part, textOf } from "../model/index.ts";
import { appendParts, findNewParts, NOTHING_SEEN } from "./new-parts.ts";

const text = (said: string): Part => ({ kind: "text", text: said });
const data = (value: number): Part => ({ kind: "data", data: value });

test("a first snapshot is all new", () => {
  const parts = [text("a"), data(1)];
  expect(findNewParts(parts, NOTHING_SEEN)).toEqual({
    parts,
    seen: { text: "a", others: 1 },
    replaced: false,
  });
});

test("a snapshot that repeats known parts has nothing new", () => {
  expect(findNewParts([text("ab"), data(1)], { text: "ab", others: 1 }).parts).toEqual([]);
});

test("of a longer snapshot only the rest is new", () => {
  const { parts } = findNewParts([text("ab"), data(1), text("cd"), data(2)], { text: "abc", others: 1 });
  expect(parts).toEqual([text("d"), data(2)]);
});

test("an artifact that was replaced by another text is all new", () => {
  const parts = [text("other")];
  expect(findNewParts(parts, { text: "ab", others: 0 })).toMatchObject({ parts, replaced: true });
});

test("every part is reported exactly once, in any mix of appends and snapshots", () => {
  const part = fc.oneof(fc.string().map(text), fc.nat().map(data));
  const arrival = fc.record({ parts: fc.array(part), snapshot: fc.boolean() });
  fc.assert(
    fc.property(fc.array(arrival), arrivals => {
      let seen = NOTHING_SEEN;
      const all: Part[] = [];
      const shown: Part[] = [];
      for (const { parts, snapshot } of arrivals) {
        all.push(...parts);
        const news = snapshot ? findNewParts(all, seen) : appendParts(parts, seen);
        shown.push(...news.parts);
        seen = news.seen;
      }
      expect(textOf(shown)).toBe(textOf(all));
      expect(shown.filter(one => one.kind === "data")).toEqual(all.filter(one => one.kind === "data"));
    }),
  );
});
