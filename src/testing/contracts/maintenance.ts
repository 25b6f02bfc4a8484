import {
  type AgentName,
  BEGINNING,
  LIMITS,
  type Retention,
  type Seq,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import {
  alice,
  bob,
  chunk,
  ECHO,
  faultCode,
  StoreHarness,
  type StoreUnderTest,
  status,
  type TaskOverrides,
  toPlain,
  userMessage,
} from "./store-harness.ts";

const HOUR = 3_600_000;

/** Retention and health checks, in any store. */
export function maintenanceContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("maintenance", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
      on.start();
    });
    afterEach(() => on.close());

    /** Sweeps until nothing is left to do. */
    async function sweep(retention: Retention, agent = ECHO): Promise<number> {
      let count = 0;
      for (let more = 1; more > 0; count += more) more = await on.store.maintenance.sweep(agent, retention);
      return count;
    }
    const isThere = async (id: TaskId, scope = alice) => (await on.store.tasks.get(scope, id)) !== null;
    async function left(ids: readonly TaskId[], scope = alice): Promise<readonly number[]> {
      const there = await Promise.all(ids.map(id => isThere(id, scope)));
      return there.flatMap((is, i) => (is ? [i] : []));
    }
    /** Creates `count` ended tasks, a second apart. */
    async function complete(count: number, more: TaskOverrides = {}): Promise<TaskId[]> {
      const ids: TaskId[] = [];
      for (let i = 0; i < count; i++) {
        on.now += 1_000;
        ids.push(await on.completeTask(more));
      }
      return ids;
    }
    async function interrupt(): Promise<TaskId> {
      const id = await on.createTask();
      await on.store.log.append(alice, id, [status("input-required")], { run: await on.claimRun(id) });
      return id;
    }
    async function reply(): Promise<TaskId> {
      const id = await on.createTask({ created: { shown: false } });
      const message = { messageId: "r", role: "agent", parts: [{ kind: "text", text: "yes" }] };
      const event = { type: "reply", message } as TaskEvent;
      await on.store.log.append(alice, id, [event], { run: await on.claimRun(id) });
      return id;
    }

    it("checks that it can write without changing data, and returns its size", async () => {
      const id = await on.completeTask();
      const before = await on.store.tasks.get(alice, id);
      await on.store.maintenance.check();
      expect(await on.store.tasks.get(alice, id)).toEqual(before);
      expect(await on.store.maintenance.bytes()).toBeGreaterThanOrEqual(0);
    });

    it("by age: removes tasks that settled earlier, also interrupted ones; newer and unfinished tasks stay", async () => {
      const old = [...(await complete(2)), await interrupt(), await reply()];
      const unfinished = await on.createTask();
      on.now += HOUR;
      const young = await complete(1);
      on.now += 1;
      expect(await sweep({ ageMs: HOUR })).toBe(4);
      expect(await left([...old, unfinished, ...young])).toEqual([4, 5]);
      expect(await sweep({ ageMs: HOUR })).toBe(0);
    });

    it("by count: keeps the newest tasks of each caller; interrupted tasks are not counted, and bare replies separately", async () => {
      const asked = await interrupt();
      const ids = await complete(5);
      const replies = [await reply(), await reply()];
      const others = await complete(3, { scope: bob });
      expect(await sweep({ count: 2 })).toBe(4);
      expect(await left(ids)).toEqual([3, 4]);
      expect(await left(others, bob)).toEqual([1, 2]);
      expect(await left([asked, ...replies])).toEqual([0, 1, 2]);
      expect(await sweep({ count: 0 })).toBe(6);
      expect(await isThere(asked)).toBe(true);
    });

    it("with both limits, removes tasks beyond either", async () => {
      const old = await complete(2);
      on.now += HOUR;
      const young = await complete(3);
      expect(await sweep({ ageMs: HOUR / 2, count: 2 })).toBe(3);
      expect(await left([...old, ...young])).toEqual([3, 4]);
    });

    it("removes the oldest first, and keeps the tasks of other agents", async () => {
      const ids = await complete(LIMITS.sweepCommitTasksMax + 5);
      const other = await on.createTask({ created: { agent: "other" as AgentName } });
      await on.store.log.append(alice, other, [{ type: "status", state: "failed" }], { state: "submitted" });
      on.committed.length = 0;
      await sweep({ ageMs: 0 });
      expect(on.committed).toEqual(ids);
      expect(await isThere(other)).toBe(true);
    });

    it("keeps a task with an idempotency key for at least a day, whatever the limits", async () => {
      const key = { message: { key: { name: "k", digest: "d" } } };
      const once = { message: { once: "o" } };
      const alias = { created: { alias: "a" } };
      const ids = [await on.completeTask(key), await on.completeTask(once), await on.completeTask(alias)];
      on.now += LIMITS.keyMs - 1;
      expect(await sweep({ ageMs: 1, count: 0 })).toBe(1);
      expect(await left(ids)).toEqual([0, 1]);
      on.now += 1;
      expect(await sweep({ ageMs: 1 })).toBe(2);
    });

    it("removes many tasks at once, and only the caller's own that have settled", async () => {
      const ids = await complete(LIMITS.sweepCommitTasksMax + 5);
      const unfinished = await on.createTask();
      const others = await complete(1, { scope: bob });
      const all = [...ids, unfinished, ...others];
      const removed = await Promise.all(all.map(id => on.store.maintenance.remove(alice, id, "delete")));
      expect(removed).toEqual([...ids.map(() => true), false, false]);
      expect(await left(ids)).toEqual([]);
      expect(await isThere(unfinished)).toBe(true);
      expect(await left(others, bob)).toEqual([0]);
    });

    it("a removed task is not found again, and its names are free", async () => {
      const names = { created: { alias: "a" }, message: { key: { name: "k", digest: "d" } } };
      const id = await on.completeTask(names);
      await on.store.log.read(alice, id, BEGINNING, 2);
      on.now += LIMITS.keyMs;
      const kept = await on.completeTask();
      await sweep({ ageMs: LIMITS.keyMs });
      const check = async (): Promise<void> => {
        expect(await isThere(id)).toBe(false);
        expect(await faultCode(on.store.log.read(alice, id, BEGINNING, 9))).toBe("task-not-found");
        expect(await faultCode(on.store.log.append(alice, id, [userMessage("x")], { after: 5 as Seq }))).toBe(
          "task-not-found",
        );
        const page = await on.store.tasks.list(alice, ECHO, { pageSize: 9 });
        expect([page.totalSize, page.tasks.map(task => task.id)]).toEqual([1, [kept]]);
        expect(await on.store.tasks.findByName(alice, ECHO, { kind: "alias", name: "a" })).toBeNull();
        expect(await on.store.tasks.findByName(alice, ECHO, { kind: "key", name: "k" })).toBeNull();
      };
      await check();
      if (on.under.isPersistent) {
        await on.reopen();
        await check();
      }
      expect(await faultCode(on.createTask(names))).toBe("accepted");
    });

    it("a task that its caller answers during the sweep stays", async () => {
      const id = await interrupt();
      on.now += HOUR;
      const swept = on.store.maintenance.sweep(ECHO, { ageMs: 1 });
      const answered = on.store.log.append(alice, id, [userMessage("red")], { state: "input-required" });
      const [, answer] = await Promise.all([swept, faultCode(answered)]);
      // With several nodes, the sweep may come first; then the answer gets "task-not-found".
      if (on.under.isShared && answer === "task-not-found")
        return expect(await on.store.tasks.get(alice, id)).toBeNull();
      expect(answer).toBe("accepted");
      expect((await on.store.tasks.get(alice, id))?.task.turn).toBe(2);
      await on.complete(await on.claimRun(id));
      expect((await on.store.log.read(alice, id, BEGINNING, 99)).map(step => step.seq)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8,
      ]);
    });

    it("a context exists as long as one of its tasks", async () => {
      const contextId = "talk" as TaskOverrides["contextId"] & string;
      const ids = await complete(2, { contextId });
      on.now += HOUR;
      ids.push(await on.createTask({ contextId }));
      await sweep({ ageMs: HOUR / 2 });
      const page = await on.store.tasks.list(alice, ECHO, { contextId, pageSize: 9 });
      expect(page.tasks.map(task => task.id)).toEqual([ids[2]]);
    });

    it("removes the events of ended tasks and keeps the tasks", async () => {
      const [done, asked, replied] = [await on.completeTask(), await interrupt(), await reply()];
      const before = await on.store.tasks.get(alice, done);
      on.now += HOUR;
      expect(await sweep({ eventsAgeMs: HOUR + 1 })).toBe(0);
      expect(await sweep({ eventsAgeMs: HOUR })).toBe(1);
      const after = await on.store.tasks.get(alice, done);
      expect(after).toEqual({ ...before, since: before?.seq });
      for (const position of [0, 3]) {
        const steps = await on.store.log.read(alice, done, position as Seq, 9);
        expect(toPlain(steps)).toMatchObject([{ seq: before?.seq, event: null, task: before?.task }]);
      }
      expect(await on.store.log.read(alice, done, before?.seq as Seq, 9)).toEqual([]);
      for (const id of [asked, replied]) {
        expect((await on.store.tasks.get(alice, id))?.since).toBe(0);
        expect((await on.store.log.read(alice, id, BEGINNING, 9)).map(step => step.seq)).toEqual([
          1, 2, 3, 4,
        ]);
      }
    });

    it("a compacted task keeps its names, is listed, and is removed by its age", async () => {
      const id = await on.completeTask({ message: { key: { name: "k", digest: "d" } } });
      on.now += HOUR;
      await sweep({ eventsAgeMs: 1 });
      expect(await on.store.tasks.findByName(alice, ECHO, { kind: "key", name: "k" })).toMatchObject({
        taskId: id,
      });
      expect((await on.store.tasks.list(alice, ECHO, { pageSize: 9 })).tasks).toHaveLength(1);
      on.now += LIMITS.keyMs;
      expect(await sweep({ ageMs: 1, eventsAgeMs: 1 })).toBe(1);
      expect(await isThere(id)).toBe(false);
    });

    it("pages of a list omit nothing while events are removed", async () => {
      const ids = await Promise.all(Array.from({ length: 6 }, () => on.createTask()));
      const first = await on.store.tasks.list(alice, ECHO, { pageSize: 2 });
      for (const run of await on.store.runs.claim("w", new Set([ECHO]), 9)) await on.complete(run);
      on.now += HOUR;
      expect(await sweep({ eventsAgeMs: 1 })).toBe(6);
      const seen = first.tasks.map(task => task.id);
      for (let pageToken = first.nextPageToken; pageToken; ) {
        const page = await on.store.tasks.list(alice, ECHO, { pageSize: 2, pageToken });
        seen.push(...page.tasks.map(task => task.id));
        pageToken = page.nextPageToken;
      }
      expect(seen.toSorted()).toEqual(ids.toSorted());
    });

    it("a long log is removed in several commits, and can be read between them", async () => {
      const id = await on.createTask();
      const run = await on.claimRun(id);
      for (let i = 0; i < 2 * LIMITS.sweepRowsMax; i++)
        await on.store.log.append(alice, id, [chunk(`${i},`)], { run });
      await on.complete(run);
      const before = await on.store.tasks.get(alice, id);
      on.now += HOUR;
      let steps = 0;
      while ((await on.store.maintenance.sweep(ECHO, { eventsAgeMs: 1 })) > 0) {
        steps += 1;
        expect((await on.store.tasks.get(alice, id))?.task).toEqual(before?.task);
        const read = await on.store.log.read(alice, id, ((before?.seq as number) - 700) as Seq, 9);
        expect(read.map(step => [step.seq, step.event])).toEqual([[before?.seq, null]]);
      }
      expect(steps).toBeGreaterThan(0);
      expect(await sweep({ ageMs: 1 })).toBeGreaterThan(0);
      expect(await isThere(id)).toBe(false);
    });

    it("a long log of status events only is compacted and removed", async () => {
      const id = await on.createTask();
      const run = await on.claimRun(id);
      for (let i = 0; i < LIMITS.sweepRowsMax + 10; i++)
        await on.store.log.append(alice, id, [status("working")], { run });
      await on.complete(run);
      on.now += HOUR;
      expect(await sweep({ eventsAgeMs: 1 })).toBeGreaterThan(0);
      expect(await isThere(id)).toBe(true);
      expect(await sweep({ ageMs: 1 })).toBeGreaterThan(0);
      expect(await isThere(id)).toBe(false);
    });

    it("a long log of an interrupted task is removed, and the task can be answered until then", async () => {
      const id = await on.createTask();
      const run = await on.claimRun(id);
      for (let i = 0; i < LIMITS.sweepRowsMax; i++)
        await on.store.log.append(alice, id, [chunk("x")], { run });
      await on.store.log.append(alice, id, [status("input-required")], { run });
      on.now += HOUR;
      await on.store.maintenance.sweep(ECHO, { ageMs: 1 });
      if (await isThere(id)) {
        await on.store.log.append(alice, id, [userMessage("red")], { state: "input-required" });
        await on.complete(await on.claimRun(id));
        expect((await on.store.tasks.get(alice, id))?.task).toMatchObject({
          turn: 2,
          artifacts: [{ parts: [{ text: "x".repeat(LIMITS.sweepRowsMax + 1) }] }],
        });
        on.now += HOUR;
      }
      await sweep({ ageMs: 1 });
      expect(await isThere(id)).toBe(false);
    });

    it("removed data stay removed after the store was reopened", async context => {
      if (!on.under.isPersistent) return context.skip("this store keeps nothing, by design");
      const [gone, kept] = await complete(2);
      on.now += HOUR;
      await sweep({ count: 1, eventsAgeMs: 1 });
      const before = await on.store.tasks.get(alice, kept as TaskId);
      await on.reopen();
      expect(await isThere(gone as TaskId)).toBe(false);
      expect(await on.store.tasks.get(alice, kept as TaskId)).toEqual(before);
      const steps = await on.store.log.read(alice, kept as TaskId, BEGINNING, 9);
      expect(steps.map(step => [step.seq, step.event])).toEqual([[before?.seq, null]]);
    });

    it("a full disk is reported, and nothing is removed", async context => {
      if (!on.under.setFull) return context.skip("this store never refuses a commit");
      const [id] = await complete(1);
      on.now += HOUR;
      on.under.setFull(true);
      await expect(on.store.maintenance.sweep(ECHO, { ageMs: 1 })).rejects.toThrow();
      expect(await isThere(id as TaskId)).toBe(true);
      on.under.setFull(false);
      expect(await sweep({ ageMs: 1 })).toBe(1);
    });
  });
}
