import type { Item, ItemChange, ItemRange } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import { alice, bob, faultCode, StoreHarness, type StoreUnderTest } from "./store-harness.ts";

/** Items of callers, in any store. */
export function itemsContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("items", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
      on.start();
    });
    afterEach(() => on.close());

    const change = (path: string, value: ItemChange["value"], more: Partial<ItemChange> = {}): ItemChange => {
      const labels = path.split("/");
      return { namespace: labels.slice(0, -1), key: labels.at(-1) as string, value, ...more };
    };
    const put = async (
      path: string,
      value: ItemChange["value"],
      more?: Partial<ItemChange>,
    ): Promise<void> => {
      on.now += 1;
      await on.store.items.put(alice, [change(path, value, more)]);
    };
    const get = (path: string, scope = alice): Promise<Item | undefined> =>
      on.store.items.get(scope, change(path, undefined));
    const pathOf = ({ namespace, key }: Item): string => [...namespace, key].join("/");
    const list = (range: Partial<ItemRange> = {}, scope = alice): Promise<readonly Item[]> =>
      on.store.items.list(scope, { prefix: [], max: 100, withVectors: false, ...range });
    const paths = async (range?: Partial<ItemRange>): Promise<readonly string[]> =>
      (await list(range)).map(pathOf);

    it("reads items that were put, replaced and deleted", async () => {
      await put("users/ada/prefs", { theme: "dark", deep: [1, "ü", null] });
      const first = await get("users/ada/prefs");
      expect(first).toEqual({
        namespace: ["users", "ada"],
        key: "prefs",
        value: { theme: "dark", deep: [1, "ü", null] },
        createdAt: on.now,
        updatedAt: on.now,
        expiresAt: undefined,
        vectors: [],
      });
      await put("users/ada/prefs", { theme: "light" });
      const second = await get("users/ada/prefs");
      expect(second).toMatchObject({
        value: { theme: "light" },
        createdAt: first?.createdAt,
        updatedAt: on.now,
      });
      await put("users/ada/prefs", undefined);
      expect(await get("users/ada/prefs")).toBeUndefined();
    });

    it("applies all changes of a put or none", async () => {
      const changes = [change("a/1", { n: 1 }), change("a/2", { n: 2 }), change("a/1", { n: 3 })];
      await on.store.items.put(alice, changes);
      expect([(await get("a/1"))?.value, (await get("a/2"))?.value]).toEqual([{ n: 3 }, { n: 2 }]);
      const bad = [change("a/1", { n: 4 }), { namespace: ["a."], key: "x", value: {} }];
      expect(await faultCode(on.store.items.put(alice, bad))).toBe("invalid-params");
      expect((await get("a/1"))?.value).toEqual({ n: 3 });
    });

    it("lists a namespace and those below it, the item that was changed last first, page by page", async () => {
      for (const path of ["a/1", "a/b/2", "ab/3", "a/b/c/4", "z/5"]) await put(path, {});
      await put("a/1", { changed: true });
      expect(await paths()).toEqual(["a/1", "z/5", "a/b/c/4", "ab/3", "a/b/2"]);
      expect(await paths({ prefix: ["a"] })).toEqual(["a/1", "a/b/c/4", "a/b/2"]);
      expect(await paths({ prefix: ["a", "b"] })).toEqual(["a/b/c/4", "a/b/2"]);
      const [first, second] = await list({ max: 2 });
      expect([first, second].map(item => pathOf(item as Item))).toEqual(["a/1", "z/5"]);
      expect(await paths({ max: 2, after: second })).toEqual(["a/b/c/4", "ab/3"]);
    });

    it("pages lose no item among those that were changed at the same time", async () => {
      const changes = Array.from({ length: 7 }, (_, i) => change(`n/k${i % 3}/${i}`, { i }));
      await on.store.items.put(alice, changes);
      const seen: string[] = [];
      for (
        let page = await list({ max: 2 });
        page.length > 0;
        page = await list({ max: 2, after: page.at(-1) })
      )
        seen.push(...page.map(pathOf));
      expect(seen).toEqual((await list()).map(pathOf));
      expect(new Set(seen).size).toBe(7);
    });

    it("lists each namespace once, in order", async () => {
      for (const path of ["b/1", "a/1", "a/2", "a/x/1", "ab/1"]) await put(path, {});
      const namespaces = (prefix: readonly string[], after?: readonly string[], max = 10) =>
        on.store.items.listNamespaces(alice, { prefix, after, max });
      expect(await namespaces([])).toEqual([["a"], ["a", "x"], ["ab"], ["b"]]);
      expect(await namespaces(["a"])).toEqual([["a"], ["a", "x"]]);
      expect(await namespaces([], ["a"], 2)).toEqual([["a", "x"], ["ab"]]);
      expect(await namespaces([], ["b"])).toEqual([]);
    });

    it("keeps vectors, and returns them when they are asked for", async () => {
      const vectors = [new Float32Array([1, 0.5, -2]), new Float32Array([0, 3])];
      await put("a/1", {}, { vectors });
      await put("a/2", {});
      const [second, first] = await list({ withVectors: true });
      expect([first?.vectors, second?.vectors]).toEqual([vectors, []]);
      expect((await list())[1]?.vectors).toEqual([]);
    });

    it("an item whose time to live is over is invisible, and deleted by a sweep", async () => {
      await put("a/short", { n: 1 }, { ttlMs: 1_000 });
      await put("a/long", { n: 2 }, { ttlMs: 10_000 });
      await put("a/always", { n: 3 });
      expect((await get("a/short"))?.expiresAt).toBe(((await get("a/short"))?.updatedAt as number) + 1_000);
      on.now += 1_000;
      expect(await get("a/short")).toBeUndefined();
      expect(await paths()).toEqual(["a/always", "a/long"]);
      // It begins anew: the item that expired is no earlier version of it.
      await put("a/short", { n: 4 }, { ttlMs: 1_000 });
      expect((await get("a/short"))?.createdAt).toBe(on.now);
      on.now += 1_000;
      expect(await on.store.items.sweep(10)).toBe(1);
      expect(await on.store.items.sweep(10)).toBe(0);
      expect(await paths()).toEqual(["a/always", "a/long"]);
    });

    it("a refresh begins the time to live anew", async () => {
      await put("a/1", {}, { ttlMs: 1_000 });
      await put("a/2", {});
      on.now += 900;
      const ids = [change("a/1", {}), change("a/2", {}), change("a/none", {})];
      await on.store.items.refresh(alice, ids);
      on.now += 900;
      const [one, two] = [await get("a/1"), await get("a/2")];
      expect([one?.expiresAt, two?.expiresAt]).toEqual([on.now + 100, undefined]);
      on.now += 100;
      await on.store.items.refresh(alice, ids);
      expect(await get("a/1")).toBeUndefined();
    });

    it("items of other callers do not exist", async () => {
      await put("a/1", { mine: true });
      expect(await get("a/1", bob)).toBeUndefined();
      expect(await list({}, bob)).toEqual([]);
      expect(await on.store.items.listNamespaces(bob, { prefix: [], max: 10 })).toEqual([]);
      await on.store.items.put(bob, [change("a/1", undefined)]);
      await on.store.items.put(bob, [change("a/2", { bob: true })]);
      expect((await get("a/1"))?.value).toEqual({ mine: true });
      expect(await get("a/2")).toBeUndefined();
    });

    it("rejects namespaces and keys that are not valid", async () => {
      const ids = {
        "no namespace": { namespace: [], key: "k" },
        "an empty label": { namespace: ["a", ""], key: "k" },
        "a period in a label": { namespace: ["a.b"], key: "k" },
        NUL: { namespace: ["a"], key: "k\0" },
        "half a surrogate pair": { namespace: ["a"], key: "\ud800" },
        "an empty key": { namespace: ["a"], key: "" },
        "a long key": { namespace: ["a"], key: "k".repeat(1_000) },
        "many labels": { namespace: Array.from({ length: 100 }, () => "a"), key: "k" },
      };
      for (const [what, id] of Object.entries(ids)) {
        const code = await faultCode(on.store.items.put(alice, [{ ...id, value: {} }]));
        expect([what, code]).toEqual([what, "invalid-params"]);
      }
    });

    it("rejects a value that is too large", async () => {
      const value = { text: "x".repeat(2_000_000) };
      expect(await faultCode(put("a/1", value))).toBe("too-large");
    });

    if (create().isPersistent)
      it("survives a restart", async () => {
        await put("a/1", { n: 1 }, { vectors: [new Float32Array([1])] });
        await on.reopen();
        expect((await get("a/1"))?.value).toEqual({ n: 1 });
        expect((await list({ withVectors: true }))[0]?.vectors).toEqual([new Float32Array([1])]);
      });
  });
}
