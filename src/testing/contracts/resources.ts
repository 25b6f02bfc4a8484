import { toScope } from "../../auth/scope.ts";
import type { TaskId } from "../../model/index.ts";
import type { FoundTask, NewResource, Resource, ResourceRange } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import { AGENTS, alice, bob, faultCode, StoreHarness, type StoreUnderTest, status } from "./store-harness.ts";

/** Records of callers beside their tasks, and the removal of single tasks, in any store. */
export function resourcesContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("records of callers", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
      on.start();
    });
    afterEach(() => on.close());

    const made = (id: string, at: number, more: Partial<NewResource> = {}): NewResource => ({
      id,
      createdAt: at,
      updatedAt: 1_000 - at,
      value: { name: id },
      ...more,
    });
    const put = (resource: NewResource, expected: "absent" | number = "absent"): Promise<Resource> =>
      on.store.resources.put(alice, "context", resource, expected);
    const ids = async (range: Partial<ResourceRange> = {}): Promise<string[]> => {
      const whole = { by: "createdAt", backwards: true, max: 100, ...range } as const;
      return (await on.store.resources.list(alice, "context", whole)).map(one => one.id);
    };

    it("creates, changes and removes a record, and counts its changes", async () => {
      expect(await put(made("a", 1))).toEqual({ ...made("a", 1), rev: 1 });
      const changed = made("a", 1, { value: { name: "ü", deep: [1, null] }, expiresAt: 5 });
      expect(await put(changed, 1)).toEqual({ ...changed, rev: 2 });
      expect(await on.store.resources.find(alice, "context", "a")).toEqual({ ...changed, rev: 2 });
      expect(await on.store.resources.remove(alice, "context", "a")).toBe(true);
      expect(await on.store.resources.remove(alice, "context", "a")).toBe(false);
      expect(await on.store.resources.find(alice, "context", "a")).toBeNull();
    });

    it("refuses a change that does not know the last one", async () => {
      await put(made("a", 1));
      expect(await faultCode(put(made("a", 1)))).toBe("conflict");
      expect(await faultCode(put(made("a", 1), 2))).toBe("conflict");
      expect(await faultCode(put(made("b", 1), 1))).toBe("conflict");
      const both = await Promise.all([faultCode(put(made("a", 1), 1)), faultCode(put(made("a", 1), 1))]);
      expect(both.toSorted()).toEqual(["accepted", "conflict"]);
    });

    it("lists by either time, in both directions, page by page", async () => {
      for (const [id, at] of [
        ["a", 1],
        ["b", 2],
        ["c", 2],
        ["d", 3],
      ] as const)
        await put(made(id, at));
      expect(await ids()).toEqual(["d", "c", "b", "a"]);
      expect(await ids({ backwards: false })).toEqual(["a", "b", "c", "d"]);
      expect(await ids({ by: "updatedAt" })).toEqual(["a", "c", "b", "d"]);
      expect(await ids({ max: 2 })).toEqual(["d", "c"]);
      expect(await ids({ beyond: { at: 2, id: "c" } })).toEqual(["b", "a"]);
      expect(await ids({ backwards: false, beyond: { at: 2, id: "b" } })).toEqual(["c", "d"]);
    });

    it("is separate for every tenant, caller and kind", async () => {
      await put(made("a", 1));
      const whole = { by: "createdAt", backwards: true, max: 9 } as const;
      for (const [scope, kind] of [
        [bob, "context"],
        [toScope("other", "alice"), "context"],
        [alice, "assistant"],
      ] as const) {
        expect(await on.store.resources.find(scope, kind, "a")).toBeNull();
        expect(await on.store.resources.list(scope, kind, whole)).toEqual([]);
        expect(await on.store.resources.remove(scope, kind, "a")).toBe(false);
      }
    });

    it("finds expired records of all callers", async () => {
      await put(made("a", 1, { expiresAt: 20 }));
      await put(made("b", 1));
      await on.store.resources.put(bob, "context", made("c", 1, { expiresAt: 10 }), "absent");
      const found = await on.store.resources.expired("context", 20, 10);
      expect(found.map(({ id, scope }) => [id, scope.principal])).toEqual([
        ["c", "bob"],
        ["a", "alice"],
      ]);
      expect(await on.store.resources.expired("context", 15, 10)).toHaveLength(1);
    });

    it("keeps records over a restart", async context => {
      if (!on.under.isPersistent) return context.skip();
      await put(made("a", 1));
      await on.reopen();
      expect(await ids()).toEqual(["a"]);
    });

    for (const storage of ["keep", "delete"] as const)
      it(`${storage}s the storage of a context with its last task`, async () => {
        const taskId = await on.createTask();
        const [run] = await on.store.runs.claim("w", AGENTS, 1);
        await on.store.log.append(alice, taskId, [status("completed")], { run: run as never });
        const { task } = (await on.store.tasks.get(alice, taskId)) as FoundTask;
        const area = { scope: alice, agent: task.agent, area: task.contextId };
        await on.store.storage.put(area, [{ key: "k", value: 1 }]);
        expect(await on.store.maintenance.remove(alice, taskId, storage)).toBe(true);
        expect(await on.store.storage.get(area, "k")).toBe(storage === "keep" ? 1 : undefined);
      });

    it("removes a settled task of the caller, and no other", async () => {
      const taskId = await on.createTask();
      expect(await on.store.maintenance.remove(alice, taskId, "delete")).toBe(false);
      const [run] = await on.store.runs.claim("w", AGENTS, 1);
      await on.store.log.append(alice, taskId, [status("completed")], { run: run as never });
      expect(await on.store.maintenance.remove(bob, taskId, "delete")).toBe(false);
      expect(await on.store.maintenance.remove(alice, taskId, "delete")).toBe(true);
      expect(await on.store.tasks.get(alice, taskId)).toBeNull();
      expect(await on.store.maintenance.remove(alice, on.newId() as TaskId, "delete")).toBe(false);
    });
  });
}
