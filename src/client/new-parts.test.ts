import fc from "fast-check";
import { expect, test } from "vitest";
import { type Part, textOf } from "../model/index.ts";
import { NOTHING_SEEN, unseenAppended, unseenWhole } from "./new-parts.ts";

const text = (said: string): Part => ({ kind: "text", text: said });
const data = (value: number): Part => ({ kind: "data", data: value });

test("a first snapshot is all new", () => {
  const parts = [text("a"), data(1)];
  expect(unseenWhole(parts, NOTHING_SEEN)).toEqual({
    parts,
    seen: { text: "a", others: 1 },
    replaced: false,
  });
});

test("a snapshot that repeats what was shown has nothing new", () => {
  expect(unseenWhole([text("ab"), data(1)], { text: "ab", others: 1 }).parts).toEqual([]);
});

test("of a longer snapshot only the rest is new", () => {
  const { parts } = unseenWhole([text("ab"), data(1), text("cd"), data(2)], { text: "abc", others: 1 });
  expect(parts).toEqual([text("d"), data(2)]);
});

test("an artifact that was replaced by another text is shown whole", () => {
  const parts = [text("other")];
  expect(unseenWhole(parts, { text: "ab", others: 0 })).toMatchObject({ parts, replaced: true });
});

test("whatever arrives, by pieces or by snapshots at any time, is shown exactly once", () => {
  const part = fc.oneof(fc.string().map(text), fc.nat().map(data));
  const arrival = fc.record({ parts: fc.array(part), snapshot: fc.boolean() });
  fc.assert(
    fc.property(fc.array(arrival), arrivals => {
      let seen = NOTHING_SEEN;
      const all: Part[] = [];
      const shown: Part[] = [];
      for (const { parts, snapshot } of arrivals) {
        all.push(...parts);
        const news = snapshot ? unseenWhole(all, seen) : unseenAppended(parts, seen);
        shown.push(...news.parts);
        seen = news.seen;
      }
      expect(textOf(shown)).toBe(textOf(all));
      expect(shown.filter(one => one.kind === "data")).toEqual(all.filter(one => one.kind === "data"));
    }),
  );
});
