import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toScope } from "../../src/auth/scope.ts";
import type { Scope } from "../../src/model/index.ts";
import type { Run } from "../../src/ports/index.ts";
import { AGENTS, alice, bob, Stage, type StoreUnderTest } from "./stage.ts";

const carol = toScope("globex", "carol");
const dave = toScope("initech", "dave");
const RUNS = 16;

/** No tenant and no caller takes all runs of a process, in any store. */
export function shareContract(name: string, create: () => StoreUnderTest): void {
  describe(`shares of runs in the ${name} store`, () => {
    let on: Stage;
    let running: Run[];
    beforeEach(() => {
      on = new Stage(create());
      running = [];
    });
    afterEach(() => on.end());

    async function make(scope: Scope, count: number): Promise<void> {
      for (let i = 0; i < count; i++) await on.createTask({ scope });
    }
    /** As the runner does it: all that there is room for. */
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

    it("a tenant with tasks without end leaves runs for others, and they for others again", async () => {
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

    it("what was left is begun when a run ends", async () => {
      let due = 0;
      on.start({ runsShared: RUNS, onDue: () => void due++ });
      await make(alice, 2 * RUNS);
      await claim();
      const before = due;
      await endOne(alice);
      // Either the store tells, or the runner is told to look when one ends.
      expect(due > before || on.store.runs.isHeld()).toBe(true);
      expect(await claim()).toEqual(["alice"]);
    });

    it("a quota takes the place of the share", async () => {
      on.start({ runsShared: RUNS, runQuota: () => ({ tenant: RUNS, caller: Number.POSITIVE_INFINITY }) });
      await make(alice, 2 * RUNS);
      expect(await claim()).toHaveLength(RUNS);
    });

    it("without shares one may have all", async () => {
      on.start();
      await make(alice, 2 * RUNS);
      expect(await claim()).toHaveLength(RUNS);
    });

    it("tells for how long a caller could begin none, until it can", async () => {
      let ticks = 1_000;
      on.start({ runsShared: RUNS, ticks: () => ticks });
      expect(await on.store.runs.heldMs(alice, 0)).toBe(0);
      await make(alice, 2 * RUNS);
      await claim();
      ticks += 5_000;
      on.now += 5_000;
      await expect.poll(() => on.store.runs.heldMs(alice, 0), { timeout: 5_000 }).toBe(5_000);
      expect(await on.store.runs.heldMs(carol, 0)).toBe(0);
      // Nobody can, where there is no room at all.
      expect(await on.store.runs.heldMs(carol, 3_000)).toBe(3_000);
      await endOne(alice);
      await claim();
      await expect.poll(() => on.store.runs.heldMs(alice, 0), { timeout: 5_000 }).toBe(0);
    });
  });
}
