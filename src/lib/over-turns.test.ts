import { expect, it } from "vitest";
import { visitOverTurns } from "./over-turns.ts";

it("visits all items in order, and lets other work run in between", async () => {
  const items = Array.from({ length: 25 }, (_, i) => i);
  const seen: number[] = [];
  const atTurns: number[] = [];
  const watch = (): void => {
    atTurns.push(seen.length);
    if (seen.length < items.length) setImmediate(watch);
  };
  setImmediate(watch);
  await visitOverTurns(items, 10, item => seen.push(item));
  expect(seen).toEqual(items);
  expect(atTurns[0]).toBe(10);
});
