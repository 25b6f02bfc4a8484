import { expect, it } from "vitest";
import { toScope } from "../../auth/scope.ts";
import { LIMITS, type Step, type TaskId } from "../../model/index.ts";
import type { Journal } from "./backend.ts";
import { createEntry, type Entry } from "./entry.ts";
import { createCache } from "./tail-cache.ts";

function hold(count: number): { readonly entry: Entry; look(): number } {
  const cache = createCache({ ...LIMITS, journal: {} as Journal });
  const entry = createEntry("t" as TaskId, toScope("tenant", "somebody"));
  cache.hold(entry);
  entry.steps = Array.from({ length: count }, (_, i) => ({ seq: i + 1 }) as Step);
  entry.seq = entry.committed = count;
  const look = (): number => {
    cache.hush();
    return entry.steps.length;
  };
  return { entry, look };
}

it("a log that has fallen silent leaves memory at the second look", () => {
  const { look } = hold(4);
  expect([look(), look()]).toEqual([4, 0]);
});

it("one to which something is added in between stays, and so does one that is being written", () => {
  const { entry, look } = hold(4);
  look();
  entry.steps.push({ seq: 5 } as Step);
  entry.seq = entry.committed = 5;
  expect(look()).toBe(5);
  entry.dirty = true;
  expect([look(), look()]).toEqual([5, 5]);
  entry.dirty = false;
  expect(look()).toBe(0);
});

it("the more was said, the longer it stays: there may be readers who are not that far", () => {
  const { look } = hold(160);
  const looks = Array.from({ length: 12 }, look);
  expect(looks.indexOf(0)).toBe(10);
});
