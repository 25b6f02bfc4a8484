import fc from "fast-check";
import { expect, it } from "vitest";
import { ChurnMap } from "./churn-map.ts";

it("is a map, whatever comes and goes", () => {
  const step = fc.record({ key: fc.integer({ min: 0, max: 40 }), goes: fc.boolean() });
  const burst = fc.record({ step, times: fc.integer({ min: 1, max: 200 }) });
  fc.assert(
    fc.property(fc.array(burst, { maxLength: 30 }), bursts => {
      const roll = new ChurnMap<number, number>();
      const map = new Map<number, number>();
      let value = 0;
      for (const { step, times } of bursts)
        for (let i = 0; i < times; i++) {
          const key = (step.key + i) % 50;
          if (step.goes && i % 2 === 0) expect(roll.delete(key)).toBe(map.delete(key));
          else {
            value += 1;
            roll.set(key, value);
            map.set(key, value);
          }
          expect(roll.get(key)).toBe(map.get(key));
          expect(roll.has(key)).toBe(map.has(key));
        }
      expect(roll.size).toBe(map.size);
      expect([...roll]).toEqual([...map]);
      expect([...roll.keys()]).toEqual([...map.keys()]);
      expect([...roll.values()]).toEqual([...map.values()]);
      const seen: number[] = [];
      roll.forEach(one => void seen.push(one));
      expect(seen).toEqual([...map.values()]);
      expect(roll.first()).toBe(map.values().next().value);
    }),
  );
});
