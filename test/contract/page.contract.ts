import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIMITS, type TaskId, taskSize, type View } from "../../src/model/index.ts";
import { AGENTS, alice, ECHO, StoreHarness, type StoreUnderTest, status } from "./store-harness.ts";

const MIB = 1024 * 1024;
const WHOLE: View = { artifacts: true };

/** Pages of a list are bounded by bytes, in any store. */
export function pageContract(name: string, create: () => StoreUnderTest): void {
  describe(`list pages of the ${name} store`, () => {
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

    it.each(["in memory", "from the backend"])(
      "a page ends before it has too many bytes, and the next one continues there (%s)",
      async how => {
        on.start();
        const ids = await make(Array.from({ length: 12 }, () => MIB));
        if (how === "read again" && on.under.isPersistent) await on.reopen();
        const found = await pages(10);
        expect(idsOf(found)).toEqual(ids.toReversed());
        expect(found.length).toBeGreaterThan(2);
        for (const page of found) {
          expect(page.totalSize).toBe(12);
          expect(page.pageSize).toBe(10);
          const sizes = page.tasks.map(task => taskSize(task, WHOLE));
          expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(LIMITS.pageBytesMax);
        }
      },
    );

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
      expect(await on.store.tasks.newest(alice, ECHO, 2)).toEqual(ids.toReversed().slice(0, 2));
      expect(await on.store.tasks.newest(alice, "other" as typeof ECHO, 2)).toEqual([]);
    });
  });
}
