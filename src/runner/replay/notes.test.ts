import { expect, it } from "vitest";
import { LIMITS, type StepKey, type StepRecord } from "../../model/index.ts";
import { Mismatch, Notes } from "./notes.ts";

const place = (name: string, nth = 1, kind: StepKey["kind"] = "step"): StepKey => ({ kind, name, nth });

function notesOf(...places: readonly StepKey[]): Notes {
  const notes = new Notes();
  for (const one of places) notes.add({ ...one, value: `${one.name} ${one.nth}` });
  return notes;
}
const contentOf = async (found: Promise<StepRecord | null>): Promise<unknown> => (await found)?.value ?? null;

it("notes are found by kind, name and number, in any order, each once", async () => {
  const notes = notesOf(place("a"), place("b"), place("a", 2), place("a", 1, "sleep"));
  expect(await contentOf(notes.recall(place("b")))).toBe("b 1");
  expect(await contentOf(notes.recall(place("a", 2)))).toBe("a 2");
  expect(await contentOf(notes.recall(place("a")))).toBe("a 1");
  expect(await contentOf(notes.recall(place("a")))).toBeNull();
  expect(notes.isEmpty).toBe(false);
  expect(await contentOf(notes.recall(place("a", 1, "sleep")))).toBe("a 1");
});

it("work side by side: a new step waits until all on record were begun again", async () => {
  const notes = notesOf(place("b"), place("c"));
  const order: string[] = [];
  const recall = (name: string): Promise<void> =>
    notes.recall(place(name)).then(found => void order.push(found ? `${name} found` : `${name} new`));
  const news = [recall("a"), recall("d")];
  await recall("b");
  expect(order).toEqual(["b found"]);
  await Promise.all([...news, recall("c")]);
  expect(order.toSorted()).toEqual(["a new", "b found", "c found", "d new"]);
});

it("code that was changed: a new step is refused when nobody asks for those on record, and so is all that follows", async () => {
  const notes = notesOf(place("charge the card", 2));
  const begun = performance.now();
  await expect(notes.recall(place("charge"))).rejects.toThrow(
    /"charge the card" \(number 2 of that name\).* instead it began the step "charge"\./,
  );
  expect(performance.now() - begun).toBeGreaterThan(LIMITS.stepWaitMs - 50);
  expect(notes.mismatch).toBeInstanceOf(Mismatch);
  await expect(notes.recall(place("charge the card", 2))).rejects.toBe(notes.mismatch);
});

it("times, chances and sleeps wait for nothing, and need not be asked for again", async () => {
  const notes = notesOf(place("", 1, "now"), place("5", 1, "sleep"), place("a"));
  expect(await notes.recall(place("", 1, "random"))).toBeNull();
  expect(await notes.recall(place("6", 1, "sleep"))).toBeNull();
  expect(() => notes.check("it came to its end")).toThrow(/did the step "a".* instead it came to its end/);
  const others = notesOf(place("", 1, "now"));
  others.check("it came to its end");
});

it("whoever waits is told when the run stops", async () => {
  const notes = notesOf(place("a"));
  const waiting = notes.recall(place("b"));
  notes.close(new Error("the run was canceled"));
  await expect(waiting).rejects.toThrow("the run was canceled");
  await expect(notes.recall(place("a"))).rejects.toThrow("the run was canceled");
  expect(notes.mismatch).toBeUndefined();
});
