import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIdGenerator, timeKey } from "./ids.ts";

describe("generated ids", () => {
  const start = Date.UTC(2026, 0, 1);

  it("are UUIDs of version 7 that ascend, as text and as keys, even if the clock stands still or is set back", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 2, maxLength: 200 }), moves => {
        let now = start;
        const newId = createIdGenerator({ now: () => now, randomHex: n => "f".repeat(2 * n) });
        const ids = moves.map(move => {
          now += move;
          return newId();
        });
        const keys = ids.map(id => timeKey(id) as number);
        for (const id of ids)
          expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect([...ids].sort()).toEqual(ids);
        keys.slice(1).forEach((key, i) => {
          expect(key).toBeGreaterThan(keys[i] as number);
        });
      }),
    );
  });

  it("5,000 in one millisecond are all different", () => {
    const newId = createIdGenerator({ now: () => start, randomHex: n => "0".repeat(2 * n) });
    expect(new Set(Array.from({ length: 5_000 }, newId)).size).toBe(5_000);
  });

  it("ids of other servers have no key", () => {
    for (const id of [
      "",
      "task-1",
      "00000000-0000-4000-8000-000000000000",
      "00000000-0000-7000-8000-000000000000",
    ])
      expect(timeKey(id)).toBeNull();
  });
});
