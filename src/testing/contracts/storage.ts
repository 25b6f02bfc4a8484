import type { Json } from "../../lib/json.ts";
import type { AgentName, ContextId } from "../../model/index.ts";
import type { StorageArea, StorageRange } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import { alice, bob, ECHO, faultCode, StoreHarness, type StoreUnderTest } from "./store-harness.ts";

/** Agent storage, in any store. */
export function storageContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("agent storage", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
      on.start();
    });
    afterEach(() => on.close());

    const area: StorageArea = { scope: alice, agent: ECHO, area: "c" };
    const put = (values: Record<string, Json | undefined>, at = area): Promise<void> =>
      on.store.storage.put(
        at,
        Object.entries(values).map(([key, value]) => ({ key, value })),
      );
    const get = (key: string, at = area): Promise<Json | undefined> => on.store.storage.get(at, key);
    const keys = async (range: Partial<StorageRange>): Promise<string[]> =>
      (await on.store.storage.list(area, { prefix: "", max: 100, ...range })).map(one => one.key);

    it("reads values that were written, replaced and deleted", async () => {
      await put({ a: { deep: [1, "ü", null] }, b: "x" });
      expect(await get("a")).toEqual({ deep: [1, "ü", null] });
      await put({ a: 2, b: undefined });
      expect([await get("a"), await get("b"), await get("c")]).toEqual([2, undefined, undefined]);
    });

    it("shows no value before it is committed", async context => {
      if (on.under.isShared) return context.skip("the order of two queries to a database is not defined");
      const done = put({ a: 1 });
      expect(await get("a")).toBeUndefined();
      await done;
      expect(await get("a")).toBe(1);
    });

    it("applies changes in the order of the calls, awaited or not", async () => {
      // A long value takes longer to write than a short one.
      const values = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? "x".repeat(500_000) : i));
      await Promise.all(values.map(value => put({ a: value })));
      expect(await get("a")).toBe(19);
    });

    it("lists by prefix, in both directions, from a key and up to a maximum", async () => {
      await put({ "k/1": 1, "k/2": 2, "k/3": 3, l: 4, j: 5 });
      expect(await keys({ prefix: "k/" })).toEqual(["k/1", "k/2", "k/3"]);
      expect(await keys({ prefix: "k/", backwards: true, max: 2 })).toEqual(["k/3", "k/2"]);
      expect(await keys({ prefix: "k/", beyond: "k/1" })).toEqual(["k/2", "k/3"]);
      expect(await keys({ prefix: "k/", beyond: "k/3", backwards: true })).toEqual(["k/2", "k/1"]);
      expect(await keys({ prefix: "zz" })).toEqual([]);
    });

    it("is separate for every caller, agent and area", async () => {
      await put({ a: 1 });
      const others = [
        { ...area, scope: bob },
        { ...area, agent: "other" as AgentName },
        { ...area, area: "d" },
      ];
      for (const other of others) expect(await get("a", other)).toBeUndefined();
    });

    it("rejects empty keys and keys that are too long", async () => {
      expect(await faultCode(put({ "": 1 }))).toBe("too-large");
      expect(await faultCode(put({ ["k".repeat(2_000)]: 1 }))).toBe("too-large");
      expect(await keys({})).toEqual([]);
    });

    it("the storage of a context is removed with its last task, and no other", async () => {
      const contextId = on.newId() as ContextId;
      const mine = { ...area, area: contextId };
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

    if (create().isPersistent)
      it("survives a restart", async () => {
        await put({ a: 1 });
        await on.reopen();
        expect(await get("a")).toBe(1);
      });
  });
}
