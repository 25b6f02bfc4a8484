import fc from "fast-check";
import { expect, it } from "vitest";
import { ChurnMap } from "./churn-map.ts";

it("behaves as a Map under any sequence of insertions and deletions", () => {
  const step = fc.record({ key: fc.integer({ min: 0, max: 40 }), isDeletion: fc.boolean() });
  const burst = fc.record({ step, times: fc.integer({ min: 1, max: 200 }) });
  fc.assert(
    fc.property(fc.array(burst, { maxLength: 30 }), bursts => {
      const churn = new ChurnMap<number, number>();
      const map = new Map<number, number>();
      let value = 0;
      for (const { step, times } of bursts)
        for (let i = 0; i < times; i++) {
          const key = (step.key + i) % 50;
          if (step.isDeletion && i % 2 === 0) expect(churn.delete(key)).toBe(map.delete(key));
          else {
            value += 1;
            churn.set(key, value);
            map.set(key, value);
          }
          expect(churn.get(key)).toBe(map.get(key));
          expect(churn.has(key)).toBe(map.has(key));
        }
      expect(churn.size).toBe(map.size);
      expect([...churn]).toEqual([...map]);
      expect([...churn.keys()]).toEqual([...map.keys()]);
      expect([...churn.values()]).toEqual([...map.values()]);
      const seen: number[] = [];
      churn.forEach(one => void seen.push(one));
      expect(seen).toEqual([...map.values()]);
      expect(churn.first()).toBe(map.values().next().value);
    }),
  );
});
