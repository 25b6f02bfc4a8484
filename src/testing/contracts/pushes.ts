import { BEGINNING, LIMITS, type Seq, type TaskEvent, type TaskId } from "../../model/index.ts";
import type { NewPushSubscription, PushProgress, PushSubscription } from "../../ports/index.ts";
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
  userMessage,
} from "./store-harness.ts";

const toPush = (id: string, url = `https://${id}.example/hook`): NewPushSubscription => ({
  config: { id, url, origin: "v1", events: "all" },
  key: `key-${id}`,
  opening: "task",
});
const at = (cursor: number, more: Partial<PushProgress> = {}): PushProgress => ({
  cursor: cursor as Seq,
  state: "live",
  ...more,
});

/** Push configs and their delivery queue, in any store. */
export function pushesContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("push configs", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    let rings: number;
    const start = (): void => void on.start({ onPushDue: () => void rings++ });
    beforeEach(() => {
      on = new StoreHarness(create());
      rings = 0;
      start();
    });
    afterEach(() => on.close());

    const set = (taskId: TaskId, push: NewPushSubscription): Promise<void> =>
      on.store.pushes.set(alice, taskId, push);
    const ids = async (taskId: TaskId): Promise<string[]> =>
      (await on.store.pushes.list(alice, taskId)).map(one => one.id);
    const claim = (max = 100, busy: ReadonlySet<string> = new Set()): Promise<readonly PushSubscription[]> =>
      on.store.deliveries.claim(busy, max);
    const only = async (): Promise<PushSubscription> => {
      const [first, ...others] = await claim();
      expect(others).toEqual([]);
      return first as PushSubscription;
    };
    const release = (
      held: PushSubscription | null,
      cursor: number | undefined = held?.cursor,
    ): Promise<void> => on.store.deliveries.release(held as PushSubscription, cursor as Seq, false);
    /** Records that all events are delivered. */
    const deliver = async (held: PushSubscription, progress: PushProgress): Promise<void> =>
      release(await on.store.deliveries.record(held, progress, undefined));

    it("are listed in the order in which they were set, replaced under the same id, and removed", async () => {
      const id = await on.createTask();
      await set(id, toPush("b"));
      await set(id, toPush("a"));
      await set(id, toPush("b", "https://other.example/"));
      expect(await on.store.pushes.list(alice, id)).toEqual([
        { ...toPush("b").config, url: "https://other.example/" },
        toPush("a").config,
      ]);
      await on.store.pushes.remove(alice, id, "b");
      await on.store.pushes.remove(alice, id, "b");
      expect(await ids(id)).toEqual(["a"]);
    });

    it("are visible to the caller of the task only", async () => {
      const id = await on.createTask();
      await set(id, toPush("a"));
      expect(await faultCode(on.store.pushes.list(bob, id))).toBe("task-not-found");
      expect(await faultCode(on.store.pushes.set(bob, id, toPush("x")))).toBe("task-not-found");
      expect(await faultCode(on.store.pushes.remove(bob, id, "a"))).toBe("task-not-found");
      expect(await faultCode(on.store.pushes.list(alice, on.newId() as TaskId))).toBe("task-not-found");
      expect(await ids(id)).toEqual(["a"]);
    });

    it("are not visible before they are committed", async context => {
      if (on.under.isShared) return context.skip("the order of two queries to a database is not defined");
      const id = await on.createTask();
      const done = set(id, toPush("a"));
      expect([await ids(id), await claim()]).toEqual([[], []]);
      await done;
      expect(await ids(id)).toEqual(["a"]);
    });

    it("are limited for one task, also if they come at once", async () => {
      const id = await on.createTask();
      const many = Array.from({ length: LIMITS.pushConfigsPerTaskMax + 3 }, (_, i) => toPush(`c${i}`));
      const outcomes = await Promise.all(many.map(one => faultCode(set(id, one))));
      expect(outcomes.filter(one => one === "invalid-params")).toHaveLength(3);
      const kept = await ids(id);
      expect(kept).toHaveLength(LIMITS.pushConfigsPerTaskMax);
      // Which of them are kept is not defined; one that is kept may be replaced.
      expect(await faultCode(set(id, toPush(kept[0] as string)))).toBe("accepted");
    });

    it("are committed with the events of the same append, or not at all", async () => {
      const id = on.newId() as TaskId;
      const created: TaskEvent = {
        type: "created",
        id,
        contextId: on.newId() as never,
        agent: ECHO,
        origin: "v1",
        shown: true,
      };
      const append = (push: NewPushSubscription, after: number): Promise<void> =>
        on.store.log.append(alice, id, [created, userMessage("hi")], { after: after as Seq }, { push });
      await append(toPush("a"), BEGINNING);
      expect(await faultCode(append(toPush("b"), 1))).toBe("conflict");
      expect(await ids(id)).toEqual(["a"]);
      expect(await only()).toMatchObject({ taskId: id, scope: alice, start: 1, cursor: 1, opening: "task" });
    });

    it("an append with a config beyond the limit is rejected as a whole", async () => {
      const id = await on.completeTask();
      for (let i = 0; i < LIMITS.pushConfigsPerTaskMax; i++) await set(id, toPush(`c${i}`));
      const other = await on.createTask();
      const run = await on.claimRun(other);
      const push = toPush("one-more");
      for (let i = 0; i < LIMITS.pushConfigsPerTaskMax; i++) await set(other, toPush(`c${i}`));
      const append = on.store.log.append(alice, other, [chunk("x")], { run }, { push });
      expect(await faultCode(append)).toBe("invalid-params");
      expect((await on.store.tasks.get(alice, other))?.task.artifacts).toEqual([]);
    });

    it("are due at once, then after new events; a task without configs notifies nothing", async () => {
      const plain = await on.createTask();
      const id = await on.createTask();
      expect(rings).toBe(0);
      await set(id, toPush("a"));
      expect(rings).toBe(1);
      const held = await only();
      expect(held).toMatchObject({ cursor: 1, start: 1, state: "live", attempts: [] });
      expect(await claim()).toEqual([]);
      await deliver(held, at(2));
      expect(await claim()).toEqual([]);
      rings = 0;
      const runs = await on.store.runs.claim("w", new Set([ECHO]), 100);
      await Promise.all(runs.map(run => on.complete(run)));
      expect(runs.map(run => run.task.id).toSorted()).toEqual([plain, id].toSorted());
      expect(rings).toBeGreaterThan(0);
      expect(await only()).toMatchObject({ cursor: 2 });
    });

    it("a config without events to deliver is due again after the next event, and not before", async () => {
      const id = await on.createTask();
      await set(id, toPush("a"));
      await release(await only());
      expect(await claim()).toEqual([]);
      await on.claimRun(id);
      expect(await only()).toMatchObject({ cursor: 1 });
    });

    it("events during a claim are not missed", async () => {
      const id = await on.createTask();
      await set(id, toPush("a"));
      const held = await only();
      await on.claimRun(id);
      await deliver(held, at(2));
      expect(await only()).toMatchObject({ cursor: 2 });
    });

    it("with more to deliver are due again, after the others of their host", async () => {
      const id = await on.createTask();
      await set(id, toPush("a", "https://a.example/1"));
      await set(id, toPush("b", "https://a.example/2"));
      const [held] = (await claim()) as [PushSubscription];
      await on.store.deliveries.release(held, held.cursor, true);
      const seen = [...(await claim()), ...(await claim())];
      expect(seen.map(one => one.config.id)).toEqual(["b", "a"]);
    });

    it("keep the cursor up to which nothing was to be delivered", async () => {
      const id = await on.createTask();
      await set(id, toPush("a"));
      await release(await only(), 2);
      await on.claimRun(id);
      expect(await only()).toMatchObject({ cursor: 2 });
    });

    it("wait for their retry after a failure, the soonest first, and the wait is reported", async () => {
      const first = await on.createTask();
      const second = await on.createTask();
      await set(first, toPush("a"));
      await set(second, toPush("b"));
      const [a, b] = (await claim()) as [PushSubscription, PushSubscription];
      const failed = { count: 1, since: on.now };
      await deliver(a, at(1, { failed, nextAt: on.now + 2_000 }));
      await deliver(b, at(1, { failed, nextAt: on.now + 1_000 }));
      expect([await claim(), await on.store.deliveries.nextInMs()]).toEqual([[], 1_000]);
      await on.claimRun(first);
      expect(await claim()).toEqual([]);
      on.now += 2_000;
      const due = await claim();
      expect(due.map(one => [one.config.id, one.failed, one.nextAt])).toEqual([
        ["b", failed, expect.any(Number)],
        ["a", failed, expect.any(Number)],
      ]);
      expect(await on.store.deliveries.nextInMs()).toBeUndefined();
    });

    it("are claimed round-robin by host, and not for busy hosts", async () => {
      const id = await on.createTask();
      for (const one of ["a1", "a2", "a3"]) await set(id, toPush(one, "https://a.example/"));
      await set(id, toPush("b", "https://b.example/"));
      expect((await claim()).map(one => one.config.id)).toEqual(["a1", "b"]);
      expect(await claim(100, new Set(["a.example"]))).toEqual([]);
      expect((await claim(1)).map(one => one.config.id)).toEqual(["a2"]);
      expect((await claim()).map(one => one.config.id)).toEqual(["a3"]);
    });

    it("keep their newest attempts, and list them for a while", async () => {
      const id = await on.createTask();
      await set(id, toPush("a"));
      let held: PushSubscription | null = await only();
      for (let i = 1; i <= LIMITS.pushAttemptsMax + 5; i++)
        held = await on.store.deliveries.record(held as PushSubscription, at(1), {
          at: on.now,
          seq: 2 as Seq,
          ms: i,
          status: 500,
        });
      const [seen] = (await on.store.deliveries.list(id)) as [PushSubscription];
      expect(seen.attempts.map(one => one.ms).slice(0, 2)).toEqual([6, 7]);
      expect(seen.attempts).toHaveLength(LIMITS.pushAttemptsMax);
      on.now += LIMITS.pushAttemptsMs;
      expect((await on.store.deliveries.list(id))[0]?.attempts).toEqual([]);
    });

    it("with the same URL continue at their cursor, at once; with another URL they start over", async () => {
      const id = await on.createTask();
      await set(id, toPush("a"));
      await deliver(await only(), at(2, { nextAt: on.now + 1_000, failed: { count: 3, since: on.now } }));
      await set(id, { ...toPush("a"), key: "new", config: { ...toPush("a").config, token: "t" } });
      const held = await only();
      expect(held).toMatchObject({ cursor: 2, key: "key-a", config: { token: "t" } });
      expect([held.failed, held.nextAt]).toEqual([undefined, undefined]);
      await set(id, { ...toPush("a", "https://elsewhere.example/"), key: "new" });
      expect(await on.store.deliveries.record(held, at(7), undefined)).toBeNull();
      expect(await only()).toMatchObject({ cursor: 1, key: "new" });
    });

    it("that are removed while they are claimed stay removed", async () => {
      const id = await on.createTask();
      await set(id, toPush("a"));
      const held = await only();
      await on.store.pushes.remove(alice, id, "a");
      expect(await on.store.deliveries.record(held, at(2), undefined)).toBeNull();
      await release(held);
      await on.claimRun(id);
      expect([await claim(), await ids(id)]).toEqual([[], []]);
      await set(id, toPush("b"));
      await on.store.deliveries.remove(await only());
      expect(await ids(id)).toEqual([]);
    });

    it("that are dead or done stay readable and are not due; they can be redelivered", async () => {
      const id = await on.createTask();
      await set(id, toPush("dead"));
      await set(id, toPush("done"));
      const [dead, done] = (await claim()) as [PushSubscription, PushSubscription];
      await deliver(dead, at(1, { state: "dead" }));
      await deliver(done, at(2, { state: "done" }));
      await on.claimRun(id);
      expect([await claim(), await ids(id)]).toEqual([[], ["dead", "done"]]);
      expect((await on.store.deliveries.list(id)).map(one => one.state)).toEqual(["dead", "done"]);
      expect(await on.store.deliveries.redeliver(id, undefined, "place")).toBe(2);
      expect(await only()).toMatchObject({ config: { id: "dead" }, cursor: 1, state: "live" });
      expect(await on.store.deliveries.redeliver(id, "done", "start")).toBe(1);
      expect(await only()).toMatchObject({ config: { id: "done" }, cursor: 1, state: "live" });
      expect(await on.store.deliveries.redeliver(id, "unknown", "place")).toBe(0);
    });

    it("are due at once after a redeliver, also during an attempt", async () => {
      const id = await on.createTask();
      await set(id, toPush("a"));
      const held = await only();
      await on.store.deliveries.redeliver(id, undefined, "place");
      expect(await claim()).toEqual([]);
      await release(held);
      await deliver(await only(), at(2, { nextAt: on.now + 1_000 }));
      await on.store.deliveries.redeliver(id, undefined, "place");
      const again = await only();
      await on.store.deliveries.redeliver(id, undefined, "start");
      expect(await on.store.deliveries.record(again, at(9), undefined)).toBeNull();
      expect(await only()).toMatchObject({ cursor: 1 });
    });

    it("are removed with their task", async () => {
      const id = await on.completeTask();
      await set(id, toPush("a"));
      const held = await only();
      on.now += 900;
      expect(await on.store.maintenance.sweep(ECHO, { ageMs: 500 })).toBe(0);
      await release(held);
      const late = on.store.deliveries.redeliver(id, undefined, "start");
      await on.store.maintenance.sweep(ECHO, { ageMs: 500 });
      await late;
      expect(await on.store.deliveries.list(id)).toEqual([]);
      expect(await claim()).toEqual([]);
      expect(await faultCode(on.store.pushes.list(alice, id))).toBe("task-not-found");
    });

    if (create().setFull)
      it("a full disk changes nothing", async () => {
        const id = await on.createTask();
        await set(id, toPush("a"));
        const held = await only();
        on.under.setFull?.(true);
        const other = on.newId() as TaskId;
        const change = on.store.deliveries.record(held, at(2), undefined);
        const outcomes = [faultCode(on.append(other)), faultCode(change), faultCode(set(id, toPush("b")))];
        expect(await Promise.all(outcomes)).toEqual(["unavailable", "unavailable", "unavailable"]);
        on.under.setFull?.(false);
        expect(await ids(id)).toEqual(["a"]);
        await release(held);
        expect(await only()).toMatchObject({ cursor: 1 });
      });

    if (create().isPersistent)
      it("survive a restart with their cursors and attempts", async () => {
        const behind = await on.createTask();
        const waiting = await on.createTask();
        const idle = await on.createTask();
        await set(behind, toPush("behind"));
        await set(waiting, toPush("waiting"));
        await set(idle, toPush("idle"));
        const held = new Map((await claim()).map(one => [one.config.id, one]));
        await on.claimRun(behind);
        const failed = { count: 2, since: on.now };
        const attempt = { at: on.now, seq: 2 as Seq, ms: 5, status: 503, nextAt: on.now + 5_000 };
        await deliver(held.get("idle") as PushSubscription, at(3));
        await on.store.deliveries.record(
          held.get("waiting") as PushSubscription,
          at(1, { failed, nextAt: on.now + 5_000, until: 2 as Seq }),
          attempt,
        );
        const seen = await on.store.deliveries.list(waiting);
        await on.reopen({ onPushDue: () => void rings++ });
        expect(await on.store.deliveries.list(waiting)).toEqual(seen);
        expect(seen[0]).toMatchObject({ attempts: [attempt], failed, until: 2, scope: alice });
        const due = await only();
        expect(due.config.id).toBe("behind");
        await deliver(due, at(3));
        on.now += 5_000;
        expect(await only()).toMatchObject({ config: { id: "waiting" }, failed, until: 2 });
      });
  });
}
