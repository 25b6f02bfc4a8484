import fc from "fast-check";
import { expect, it } from "vitest";
import { type Seq, type Step, type TaskEvent, toTextAppend } from "../../model/index.ts";
import { joinPacked, packEvents, unpackEvents } from "./packed-events.ts";

const anyEvent: fc.Arbitrary<TaskEvent> = fc.oneof(
  fc.tuple(fc.constantFrom("a", "b", '"]'), fc.string()).map(([id, text]) => toTextAppend(id, text)),
  fc.constant<TaskEvent>({ type: "cancel" }),
  fc.string().map(
    (text): TaskEvent => ({
      type: "artifact",
      artifact: { artifactId: "a", name: text, parts: [{ kind: "text", text }] },
      append: false,
      last: true,
      join: false,
    }),
  ),
);

it("unpacking returns the packed events in order, with their numbers and times", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), anyEvent), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 0, max: 1_000 }),
      (given, before) => {
        const recorded = given.map(([at, event], i) => ({ seq: (before + i + 1) as Seq, at, event }));
        const text = packEvents(recorded.map(one => ({ ...one }) as unknown as Step));
        expect(unpackEvents(text, before + given.length)).toEqual(
          recorded.map(({ seq, at, event }) => ({ seq, at, event })),
        );
      },
    ),
  );
});

it("rows that were joined have the events of all", () => {
  const commit = fc.array(anyEvent, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(commit, { minLength: 1, maxLength: 6 }), commits => {
      const steps = commits.map((events, at) => events.map(event => ({ at, event })));
      const rows = steps.map(row => packEvents(row.map(one => ({ ...one }) as unknown as Step)));
      const joined = unpackEvents(joinPacked(rows), null);
      expect(joined.map(({ at, event }) => ({ at, event }))).toEqual(steps.flat());
      expect(joined.map(({ seq }) => seq)).toEqual(joined.map((_, i) => i + 1));
    }),
  );
});
