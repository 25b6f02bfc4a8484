import { LIMITS } from "../../model/index.ts";
import type { DueSchedule, Schedule } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import { alice, bob, ECHO, faultCode, StoreHarness, type StoreUnderTest } from "./store-harness.ts";

const LEASE_MS = 500;

/** Schedules of callers, in any store. */
export function schedulesContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("schedules", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
      on.start();
    });
    afterEach(() => on.close());

    const schedule = (id: string, inMs: number | undefined, more: Partial<Schedule> = {}): Schedule => ({
      id,
      agent: ECHO,
      contextId: undefined,
      cron: "* * * * *",
      timezone: "UTC",
      endAt: undefined,
      isEnabled: true,
      nextAt: inMs === undefined ? undefined : on.now + inMs,
      createdAt: on.now,
      updatedAt: on.now,
      metadata: { colour: "red" },
      payload: { input: { n: 1 } },
      ...more,
    });
    const put = (one: Schedule, scope = alice): Promise<void> => on.store.schedules.put(scope, one);
    const claim = (max = 10): Promise<readonly DueSchedule[]> => on.store.schedules.claim(max, LEASE_MS);
    const idsOf = (due: readonly DueSchedule[]): readonly string[] => due.map(one => one.schedule.id);

    it("reads schedules that were put, changed and deleted, the newest first", async () => {
      const first = schedule("one", 1_000, { contextId: "c", endAt: on.now + 5_000 });
      await put(first);
      expect(await on.store.schedules.get(alice, "one")).toEqual(first);
      on.now += 10;
      const second = schedule("two", undefined);
      await put(second);
      const changed = { ...first, isEnabled: false, nextAt: undefined, endAt: undefined, updatedAt: on.now };
      await put(changed);
      expect(await on.store.schedules.list(alice)).toEqual([second, changed]);
      expect(await on.store.schedules.delete(alice, "one")).toBe(true);
      expect(await on.store.schedules.delete(alice, "one")).toBe(false);
      expect(await on.store.schedules.get(alice, "one")).toBeUndefined();
    });

    it("a schedule is claimed when its time has come, once, and again after it was settled", async () => {
      await put(schedule("later", 2_000));
      await put(schedule("soon", 1_000));
      await put(schedule("never", undefined));
      expect(await on.store.schedules.nextInMs()).toBe(1_000);
      expect(await claim()).toEqual([]);
      on.now += 2_000;
      const due = await claim();
      expect(idsOf(due)).toEqual(["soon", "later"]);
      expect(due[0]).toMatchObject({
        scope: { tenant: "acme", principal: "alice" },
        schedule: { agent: "echo", nextAt: on.now - 1_000, payload: { input: { n: 1 } } },
      });
      expect(await claim()).toEqual([]);
      await on.store.schedules.settle(due[0] as DueSchedule, on.now + 60_000);
      await on.store.schedules.settle(due[1] as DueSchedule, undefined);
      expect(await claim()).toEqual([]);
      expect(await on.store.schedules.nextInMs()).toBe(60_000);
      on.now += 60_000;
      expect(idsOf(await claim())).toEqual(["soon"]);
    });

    it("a claim that is not settled ends with its lease", async () => {
      await put(schedule("one", 0));
      expect(idsOf(await claim())).toEqual(["one"]);
      on.now += LEASE_MS;
      expect(idsOf(await claim())).toEqual(["one"]);
    });

    it("many claims at once get each schedule once", async () => {
      for (let i = 0; i < 20; i++) await put(schedule(`s${i}`, i - 20));
      const claims = await Promise.all(Array.from({ length: 8 }, () => claim(5)));
      const ids = claims.flatMap(idsOf);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBeGreaterThanOrEqual(5);
      const rest = idsOf(await claim(20));
      expect([...ids, ...rest].sort()).toEqual(Array.from({ length: 20 }, (_, i) => `s${i}`).sort());
    });

    it("a schedule that was changed after its claim is not settled", async () => {
      await put(schedule("one", 0));
      const [due] = await claim();
      on.now += 1;
      await put(schedule("one", 5_000));
      await on.store.schedules.settle(due as DueSchedule, on.now + 60_000);
      expect((await on.store.schedules.get(alice, "one"))?.nextAt).toBe(on.now + 5_000);
    });

    it("a schedule that was deleted after its claim stays deleted", async () => {
      await put(schedule("one", 0));
      const [due] = await claim();
      await on.store.schedules.delete(alice, "one");
      await on.store.schedules.settle(due as DueSchedule, on.now + 60_000);
      expect(await on.store.schedules.list(alice)).toEqual([]);
      expect(await on.store.schedules.nextInMs()).toBeUndefined();
    });

    it("schedules of other callers do not exist", async () => {
      await put(schedule("one", 0));
      expect(await on.store.schedules.get(bob, "one")).toBeUndefined();
      expect(await on.store.schedules.list(bob)).toEqual([]);
      expect(await on.store.schedules.delete(bob, "one")).toBe(false);
      await put({ ...schedule("one", 0), cron: "0 0 1 1 *" }, bob).catch(() => {});
      expect((await on.store.schedules.get(alice, "one"))?.cron).toBe("* * * * *");
    });

    it("bounds their size and their number", async () => {
      const large = schedule("one", 0, { payload: { text: "x".repeat(LIMITS.scheduleCharsMax) } });
      expect(await faultCode(put(large))).toBe("too-large");
      const all = Array.from({ length: LIMITS.schedulesPerCallerMax }, (_, i) => schedule(`s${i}`, 0));
      await Promise.all(all.map(one => put(one)));
      expect(await faultCode(put(schedule("more", 0)))).toBe("rate-limited");
      expect(await faultCode(put(schedule("s1", 0)))).toBe("accepted");
      expect(await faultCode(put(schedule("more", 0), bob))).toBe("accepted");
    });

    if (create().isPersistent)
      it("survives a restart, with its next time", async () => {
        const one = schedule("one", 1_000);
        await put(one);
        await on.reopen();
        expect(await on.store.schedules.get(alice, "one")).toEqual(one);
        on.now += 1_000;
        expect(idsOf(await claim())).toEqual(["one"]);
      });
  });
}
