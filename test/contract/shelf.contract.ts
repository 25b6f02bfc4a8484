import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Json } from "../../src/lib/json.ts";
import type { AgentName, ContextId } from "../../src/model/index.ts";
import type { StorageArea, StorageRange } from "../../src/ports/index.ts";
import { alice, bob, ECHO, refusal, Stage, type StoreUnderTest } from "./stage.ts";

/** What is put away beside the log, in any store. */
export function shelfContract(name: string, create: () => StoreUnderTest): void {
  describe(`the shelf in the ${name} store`, () => {
    let on: Stage;
    beforeEach(() => {
      on = new Stage(create());
      on.start();
    });
    afterEach(() => on.end());

    const place: StorageArea = { scope: alice, agent: ECHO, area: "c" };
    const put = (values: Record<string, Json | undefined>, at = place): Promise<void> =>
      on.store.storage.put(
        at,
        Object.entries(values).map(([key, value]) => ({ key, value })),
      );
    const get = (key: string, at = place): Promise<Json | undefined> => on.store.storage.get(at, key);
    const keys = async (range: Partial<StorageRange>): Promise<string[]> =>
      (await on.store.storage.list(place, { prefix: "", max: 100, ...range })).map(one => one.key);

    it("gives back what was put there, replaced and taken away", async () => {
      await put({ a: { deep: [1, "ü", null] }, b: "x" });
      expect(await get("a")).toEqual({ deep: [1, "ü", null] });
      await put({ a: 2, b: undefined });
      expect([await get("a"), await get("b"), await get("c")]).toEqual([2, undefined, undefined]);
    });

    it("shows nothing before it is committed", async context => {
      if (on.under.shared)
        return context.skip("nobody knows which of two questions to a database comes first");
      const done = put({ a: 1 });
      expect(await get("a")).toBeUndefined();
      await done;
      expect(await get("a")).toBe(1);
    });

    it("makes changes in the order of their calls, whether they are awaited or not", async () => {
      // To write a long value takes longer than a short one.
      const values = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? "x".repeat(500_000) : i));
      await Promise.all(values.map(value => put({ a: value })));
      expect(await get("a")).toBe(19);
    });

    it("lists by prefix, in both directions, from a place and up to a number", async () => {
      await put({ "k/1": 1, "k/2": 2, "k/3": 3, l: 4, j: 5 });
      expect(await keys({ prefix: "k/" })).toEqual(["k/1", "k/2", "k/3"]);
      expect(await keys({ prefix: "k/", backwards: true, max: 2 })).toEqual(["k/3", "k/2"]);
      expect(await keys({ prefix: "k/", beyond: "k/1" })).toEqual(["k/2", "k/3"]);
      expect(await keys({ prefix: "k/", beyond: "k/3", backwards: true })).toEqual(["k/2", "k/1"]);
      expect(await keys({ prefix: "zz" })).toEqual([]);
    });

    it("is another one for every caller, agent and name", async () => {
      await put({ a: 1 });
      const others = [
        { ...place, scope: bob },
        { ...place, agent: "other" as AgentName },
        { ...place, shelf: "d" },
      ];
      for (const other of others) expect(await get("a", other)).toBeUndefined();
    });

    it("takes no key without characters and none that is too long", async () => {
      expect(await refusal(put({ "": 1 }))).toBe("too-large");
      expect(await refusal(put({ ["k".repeat(2_000)]: 1 }))).toBe("too-large");
      expect(await keys({})).toEqual([]);
    });

    it("the shelf of a context goes with its last task, and no other", async () => {
      const contextId = on.mint() as ContextId;
      const mine = { ...place, shelf: contextId };
      await on.completeTask({ contextId });
      on.now += 1_000;
      await on.completeTask({ contextId });
      await put({ a: 1 }, mine);
      await put({ a: 1 });
      on.now += 500;
      await on.store.maintenance.sweep(ECHO, { ageMs: 1_000 });
      expect(await get("a", mine)).toBe(1);
      on.now += 10_000;
      await on.store.maintenance.sweep(ECHO, { ageMs: 1_000 });
      expect([await get("a", mine), await get("a")]).toEqual([undefined, 1]);
    });

    if (create().lasting)
      it("survives a restart", async () => {
        await put({ a: 1 });
        await on.reopen();
        expect(await get("a")).toBe(1);
      });
  });
}
