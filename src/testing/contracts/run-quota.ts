import { toScope } from "../../auth/scope.ts";
import type { Scope } from "../../model/index.ts";
import type { Run } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import { AGENTS, alice, bob, StoreHarness, type StoreUnderTest } from "./store-harness.ts";

const carol = toScope("globex", "carol");
const dave = toScope("initech", "dave");
const RUNS = 16;

/** No tenant and no caller gets all run slots of a process, in any store. */
export function runQuotaContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("shares of runs", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    let running: Run[];
    beforeEach(() => {
      on = new StoreHarness(create());
      running = [];
    });
    afterEach(() => on.close());

    async function make(scope: Scope, count: number): Promise<void> {
      for (let i = 0; i < count; i++) await on.createTask({ scope });
    }
    /** Like the runner: claims as many as there are free slots. */
    async function claim(): Promise<readonly string[]> {
      const begun: Run[] = [];
      for (;;) {
        const scopes = (): readonly Scope[] => running.map(run => run.scope);
        const runs = await on.store.runs.claim("w", AGENTS, RUNS - running.length, scopes);
        if (runs.length === 0) return begun.map(run => run.scope.principal);
        running.push(...runs);
        begun.push(...runs);
        if (running.length === RUNS) return begun.map(run => run.scope.principal);
      }
    }
    const held = (scope: Scope): number => running.filter(run => run.scope.tenant === scope.tenant).length;
    async function endOne(scope: Scope): Promise<void> {
      const run = running.find(one => one.scope === scope || one.scope.principal === scope.principal) as Run;
      running = running.filter(one => one !== run);
      await on.complete(run);
    }

    it("a tenant with very many tasks leaves slots for other tenants, and these for others", async () => {
      on.start({ runsShared: RUNS });
      await make(alice, 2 * RUNS);
      await claim();
      expect(held(alice)).toBeGreaterThan(RUNS / 2);
      expect(held(alice)).toBeLessThan(RUNS);
      await make(bob, 1);
      expect(await claim()).toEqual(["bob"]);
      await make(carol, 2 * RUNS);
      await claim();
      expect(held(carol)).toBeGreaterThan(0);
      await make(dave, 1);
      expect(await claim()).toEqual(["dave"]);
      expect(running.length).toBeLessThanOrEqual(RUNS);
    });

    it("a blocked task is run when a run ends", async () => {
      let due = 0;
      on.start({ runsShared: RUNS, onDue: () => void due++ });
      await make(alice, 2 * RUNS);
      await claim();
      const before = due;
      await endOne(alice);
      // Either the store notifies, or the runner claims again when a run ends.
      expect(due > before || on.store.runs.hasBlocked()).toBe(true);
      expect(await claim()).toEqual(["alice"]);
    });

    it("a configured quota replaces the share", async () => {
      on.start({ runsShared: RUNS, runQuota: () => ({ tenant: RUNS, caller: Number.POSITIVE_INFINITY }) });
      await make(alice, 2 * RUNS);
      expect(await claim()).toHaveLength(RUNS);
    });

    it("without shares one tenant can have all slots", async () => {
      on.start();
      await make(alice, 2 * RUNS);
      expect(await claim()).toHaveLength(RUNS);
    });

    it("reports for how long a caller has been blocked", async () => {
      let ticks = 1_000;
      on.start({ runsShared: RUNS, ticks: () => ticks });
      expect(await on.store.runs.blockedMs(alice, 0)).toBe(0);
      await make(alice, 2 * RUNS);
      await claim();
      ticks += 5_000;
      on.now += 5_000;
      await expect.poll(() => on.store.runs.blockedMs(alice, 0)).toBe(5_000);
      expect(await on.store.runs.blockedMs(carol, 0)).toBe(0);
      // Without free slots, all callers are blocked.
      expect(await on.store.runs.blockedMs(carol, 3_000)).toBe(3_000);
      await endOne(alice);
      await claim();
      await expect.poll(() => on.store.runs.blockedMs(alice, 0)).toBe(0);
    });
  });
}
