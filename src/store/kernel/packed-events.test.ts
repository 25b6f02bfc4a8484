import fc from "fast-check";
import { expect, it } from "vitest";
import { type Seq, type Step, type TaskEvent, toTextAppend } from "../../model/index.ts";
import { packEvents, unpackEvents } from "./packed-events.ts";

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
