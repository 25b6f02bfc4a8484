import { toScope } from "../../auth/scope.ts";
import { dayOf, type Scope, type TaskId } from "../../model/index.ts";
import type { Run } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import { AGENTS, alice, bob, ECHO, StoreHarness, type StoreUnderTest } from "./store-harness.ts";

const carol = toScope("globex", "carol");

/** Fair order, quotas and counts, in any store. */
export function quotaContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("quotas", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
    });
    afterEach(() => on.close());

    const make = async (scope: Scope, count: number): Promise<TaskId[]> => {
      const ids: TaskId[] = [];
      for (let i = 0; i < count; i++) ids.push(await on.createTask({ scope }));
      return ids;
    };
    const claim = (max: number): Promise<readonly Run[]> => on.store.runs.claim("w", AGENTS, max);
    const whose = (runs: readonly Run[]): string[] => runs.map(run => run.scope.principal);

    it("claims round-robin by tenant and then by caller, in order of arrival", async () => {
      on.start();
      const ids = await make(alice, 4);
      await make(bob, 2);
      await make(carol, 2);
      const runs = await claim(6);
      expect(whose(runs).filter(one => one === "carol")).toHaveLength(2);
      expect(whose(runs).filter(one => one === "bob")).toHaveLength(2);
      const own = runs.filter(run => run.scope.principal === "alice").map(run => run.task.id);
      expect(own).toEqual(ids.slice(0, 2));
    });

    it("limits the runs of callers and tenants to their quotas; the next task is due when a run ends", async () => {
      let due = 0;
      const runQuota = (scope: Scope) => ({ caller: 2, tenant: scope.tenant === "acme" ? 3 : 100 });
      on.start({ runQuota, onDue: () => void due++ });
      await make(alice, 4);
      await make(bob, 4);
      await make(carol, 1);
      const runs = await claim(10);
      expect(whose(runs).sort()).toEqual(["alice", "alice", "bob", "carol"].sort());
      await expect.poll(() => on.store.runs.waiting()).toBe(5);
      expect(await claim(10)).toEqual([]);
      const before = due;
      await on.complete(runs.find(run => run.scope.principal === "bob") as Run);
      expect(due).toBeGreaterThan(before);
      expect(whose(await claim(10))).toEqual(["bob"]);
    });

    it("a released run makes room for others", async () => {
      on.start({ runQuota: () => ({ caller: 1, tenant: 1 }) });
      await make(alice, 1);
      const [run] = (await claim(5)) as [Run];
      await make(bob, 1);
      expect(await claim(5)).toEqual([]);
      await on.store.runs.release(run);
      expect(await claim(5)).toHaveLength(1);
    });

    it("counts the tasks of a caller and of its tenant", async () => {
      on.start();
      await make(alice, 2);
      await on.completeTask({ scope: bob });
      await make(carol, 1);
      expect(await on.store.tasks.count(alice)).toEqual({ caller: 2, tenant: 3 });
      await make(alice, 1);
      expect(await on.store.tasks.count(alice)).toEqual({ caller: 3, tenant: 4 });
      on.now += 10_000;
      await on.store.maintenance.sweep(ECHO, { ageMs: 1 });
      expect(await on.store.tasks.count(bob)).toEqual({ caller: 0, tenant: 3 });
    });

    it("adds up usage by caller, tenant and day", async () => {
      on.start();
      const spend = async (scope: Scope, usage: Record<string, number>): Promise<void> => {
        const run = await on.claimRun(await on.createTask({ scope }));
        // The usage of a task that this one called is counted there.
        const called = { type: "usage" as const, usage: { inputTokens: 100 }, of: "call-1" };
        await on.store.log.append(scope, run.task.id, [{ type: "usage", usage }, called], { run });
        await on.complete(run);
      };
      await spend(alice, { inputTokens: 3, cost: 0.5 });
      await spend(alice, { inputTokens: 4 });
      await spend(bob, { inputTokens: 10 });
      const today = dayOf(on.now);
      expect(await on.store.usage.spent(alice, today)).toEqual({
        caller: { inputTokens: 7, cost: 0.5 },
        tenant: { inputTokens: 17, cost: 0.5 },
      });
      expect(await on.store.usage.spent(carol, today)).toEqual({ caller: {}, tenant: {} });
      on.now += 86_400_000;
      await spend(alice, { inputTokens: 1 });
      expect(await on.store.usage.spent(alice, today + 1)).toMatchObject({ caller: { inputTokens: 1 } });
      const rows = await on.store.usage.report({ from: today, to: today });
      expect(rows.map(row => [row.principal, row.agent, row.usage.inputTokens])).toEqual(
        expect.arrayContaining([
          ["alice", ECHO, 3],
          ["alice", ECHO, 4],
          ["bob", ECHO, 10],
        ]),
      );
      expect(rows).toHaveLength(3);
    });
  });
}
