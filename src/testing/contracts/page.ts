import { type ContextId, LIMITS, type TaskId, taskSize, type View } from "../../model/index.ts";
import type { Run } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import { AGENTS, alice, bob, ECHO, StoreHarness, type StoreUnderTest, status } from "./store-harness.ts";

const MIB = 1024 * 1024;
const WHOLE: View = { artifacts: true };

/** Pages of a list are bounded by bytes, in any store. */
export function pageContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("list pages", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
    });
    afterEach(() => on.close());

    /** Creates settled tasks with a message of `bytes` bytes each, the newest last. */
    async function make(sizes: readonly number[]): Promise<TaskId[]> {
      const ids: TaskId[] = [];
      for (const size of sizes) {
        const parts = [{ kind: "text", text: "x".repeat(size) }];
        ids.push(await on.createTask({ message: { message: { messageId: "m", role: "user", parts } } }));
        for (const run of await on.store.runs.claim("w", AGENTS, 10))
          await on.store.log.append(alice, run.task.id, [status("completed")], { run });
      }
      return ids;
    }

    async function pages(pageSize: number, view: View = WHOLE) {
      const found = [];
      for (let pageToken = ""; ; ) {
        const page = await on.store.tasks.list(
          alice,
          ECHO,
          { pageSize, ...(pageToken && { pageToken }) },
          view,
        );
        found.push(page);
        pageToken = page.nextPageToken;
        if (pageToken === "" || found.length > 100) return found;
      }
    }
    const idsOf = (found: Awaited<ReturnType<typeof pages>>): string[] =>
      found.flatMap(page => page.tasks.map(task => task.id));

    for (const how of ["in memory", "from the backend"])
      it(`a page ends before it has too many bytes, and the next one continues there (${how})`, async () => {
        on.start();
        const ids = await make(Array.from({ length: 12 }, () => MIB));
        if (how === "from the backend" && on.under.isPersistent) await on.reopen();
        const found = await pages(10);
        expect(idsOf(found)).toEqual(ids.toReversed());
        expect(found.length).toBeGreaterThan(2);
        for (const page of found) {
          expect(page.totalSize).toBe(12);
          expect(page.pageSize).toBe(10);
          const sizes = page.tasks.map(task => taskSize(task, WHOLE));
          expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(LIMITS.pageBytesMax);
        }
      });

    it("the total follows every change, by state too", async () => {
      on.start();
      const totals = async (): Promise<number[]> => {
        const filters = [{}, { state: "working" }, { state: "completed" }, { state: "failed" }] as const;
        const found = filters.map(filter => on.store.tasks.list(alice, ECHO, { pageSize: 9, ...filter }));
        return (await Promise.all(found)).map(page => page.totalSize);
      };
      expect(await totals()).toEqual([0, 0, 0, 0]);
      const [first, second] = [await on.createTask(), await on.createTask()];
      await on.createTask({ created: { quiet: true, shown: false } });
      const runs = await on.store.runs.claim("w", AGENTS, 10);
      expect(await totals()).toEqual([2, 2, 0, 0]);
      const runOf = (id: TaskId) => runs.find(run => run.task.id === id) as Run;
      await on.complete(runOf(first));
      await on.store.log.append(alice, second, [status("failed")], { run: runOf(second) });
      expect(await totals()).toEqual([2, 0, 1, 1]);
      const quiet = runs.find(run => run.task.id !== first && run.task.id !== second) as Run;
      await on.store.log.append(alice, quiet.task.id, [{ type: "shown" }], { state: "working" });
      expect(await totals()).toEqual([3, 1, 1, 1]);
      on.now += LIMITS.keyMs + 1;
      await on.store.maintenance.sweep(ECHO, { ageMs: 1 });
      expect(await totals()).toEqual([1, 1, 0, 0]);
    });

    it("a task larger than a page is a page of its own", async () => {
      on.start();
      const ids = await make([10, 2 * LIMITS.pageBytesMax, 10, 2 * LIMITS.pageBytesMax]);
      if (on.under.isPersistent) await on.reopen();
      const found = await pages(10);
      expect(idsOf(found)).toEqual(ids.toReversed());
      expect(found.map(page => page.tasks.length)).toEqual([1, 1, 1, 1]);
    });

    it("parts of a task that are not requested do not count if the tasks are in memory", async () => {
      on.start({ tailCacheBytesMax: 64 * MIB });
      const ids = await make(Array.from({ length: 8 }, () => MIB));
      for (const id of ids) await on.store.tasks.get(alice, id);
      const found = await pages(10, { artifacts: true, historyMax: 0 });
      expect(found).toHaveLength(1);
      expect(idsOf(found)).toEqual(ids.toReversed());
    });

    it("small tasks fill a page up to its size", async () => {
      on.start();
      const ids = await make(Array.from({ length: 7 }, () => 100));
      const found = await pages(3);
      expect(found.map(page => page.tasks.length)).toEqual([3, 3, 1]);
      expect(idsOf(found)).toEqual(ids.toReversed());
    });

    it("returns the ids of the newest tasks without reading the tasks", async () => {
      on.start();
      const ids = await make([100, 3 * LIMITS.pageBytesMax, 100]);
      expect(await on.store.tasks.newest(alice, ECHO, { max: 2 })).toEqual(ids.toReversed().slice(0, 2));
      expect(await on.store.tasks.newest(alice, "other" as typeof ECHO, { max: 2 })).toEqual([]);
    });

    it("returns the newest tasks of one context, in the states that are asked for", async () => {
      on.start();
      const contextId = "chat" as ContextId;
      const begin = async (state: Parameters<typeof status>[0], scope = alice): Promise<TaskId> => {
        const id = await on.createTask({ contextId, scope });
        await on.store.log.append(scope, id, [status(state)], { run: await on.claimRun(id) });
        return id;
      };
      await on.createTask();
      await begin("input-required", bob);
      const done = await begin("completed");
      const asks = await begin("input-required");
      const asksToo = await begin("input-required");
      const newest = (filter: object): Promise<readonly TaskId[]> =>
        on.store.tasks.newest(alice, ECHO, { contextId, max: 10, ...filter });
      expect(await newest({})).toEqual([asksToo, asks, done]);
      expect(await newest({ max: 1 })).toEqual([asksToo]);
      expect(await newest({ states: ["input-required"] })).toEqual([asksToo, asks]);
      expect(await newest({ states: ["working", "failed"] })).toEqual([]);
      expect(await newest({ contextId: "another" })).toEqual([]);
    });
  });
}
