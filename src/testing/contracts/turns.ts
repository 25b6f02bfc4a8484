import type { ContextId, TaskEvent, TaskId } from "../../model/index.ts";
import type { Run } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import {
  AGENTS,
  alice,
  bob,
  ECHO,
  faultCode,
  StoreHarness,
  type StoreUnderTest,
  status,
  userMessage,
} from "./store-harness.ts";

/** The order and the concurrency of turns, in any store. */
export function turnsContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("turns", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    let contextId: ContextId;
    beforeEach(() => {
      on = new StoreHarness(create());
      on.start();
      contextId = on.newId() as ContextId;
    });
    afterEach(() => on.close());

    const claim = (): Promise<readonly Run[]> => on.store.runs.claim("w", AGENTS, 10);
    const claimed = async (): Promise<readonly TaskId[]> => (await claim()).map(run => run.task.id);
    const settle = (run: Run, state: "completed" | "input-required"): Promise<void> =>
      on.store.log.append(run.scope, run.task.id, [status(state)], { run });
    const answer = (id: TaskId): Promise<void> =>
      on.store.log.append(alice, id, [userMessage("more")], { state: "input-required" });
    const reopen = async (): Promise<void> => {
      await on.reopen();
    };

    /** Three tasks of one context: one that was answered after the others arrived, one running, one waiting. */
    async function crowd(): Promise<{ asked: TaskId; running: Run; waiting: TaskId }> {
      const asked = await on.createTask({ contextId });
      await settle((await claim())[0] as Run, "input-required");
      await on.createTask({ contextId });
      const [running] = await claim();
      const waiting = await on.createTask({ contextId });
      await answer(asked);
      return { asked, running: running as Run, waiting };
    }

    it("a task that is answered goes to the end of the queue", async () => {
      const { asked, running, waiting } = await crowd();
      await settle(running, "completed");
      const [next] = await claim();
      expect(next?.task.id).toBe(waiting);
      await settle(next as Run, "completed");
      expect(await claimed()).toEqual([asked]);
    });

    for (const how of ["cut off", "given back"])
      it(`the order of arrival is the same after the store was reopened; a run that was ${how} is first`, async context => {
        if (!on.under.isPersistent) return context.skip("this store keeps nothing, by design");
        const { asked, running, waiting } = await crowd();
        if (how === "given back") await on.store.runs.release(running);
        await reopen();
        for (const id of [running.task.id, waiting, asked]) {
          const runs = await claim();
          expect(runs.map(run => [run.task.id, run.afterCrash])).toEqual([
            [id, how === "cut off" && id === running.task.id],
          ]);
          await settle(runs[0] as Run, "completed");
        }
      });

    it("a run knows whether the previous run crashed", async () => {
      const id = await on.createTask();
      const [first] = await claim();
      expect(first?.afterCrash).toBe(false);
      await on.store.runs.release(first as Run);
      expect((await claim())[0]?.afterCrash).toBe(false);
      on.now += 2_000;
      const [third] = await claim();
      expect(third).toMatchObject({ attempt: 3, afterCrash: true, task: { id } });
      await settle(third as Run, "input-required");
      await answer(id);
      expect((await claim())[0]).toMatchObject({ attempt: 4, afterCrash: false });
    });

    it("a run knows since when its task was due: since its message, or since its release", async () => {
      const id = await on.createTask();
      const created = on.now;
      on.now += 500;
      const [first] = await claim();
      expect(first?.dueAt).toBe(created);
      on.now += 100;
      await on.store.runs.release(first as Run);
      const released = on.now;
      on.now += 50;
      const [second] = await claim();
      expect(second).toMatchObject({ dueAt: released, task: { id } });
    });

    it("a turn that its caller has repeated is the same turn, and does not count as a crash", async () => {
      const id = await on.createTask();
      await claim();
      on.now += 2_000;
      await settle((await claim())[0] as Run, "input-required");
      const again = { ...userMessage("yes"), again: true } as TaskEvent;
      await on.store.log.append(alice, id, [again], { state: "input-required" });
      const [run] = await claim();
      expect(run).toMatchObject({ attempt: 3, afterCrash: false });
      expect(run?.task).toMatchObject({
        turn: 1,
        crashes: 1,
        attemptsBefore: 0,
        message: { messageId: "hi" },
      });
    });

    it("standalone tasks do not wait for others of their context, nor others for them", async () => {
      const created = { alone: true } as const;
      const one = await on.createTask({ contextId });
      const alone = [
        await on.createTask({ contextId, created }),
        await on.createTask({ contextId, created }),
      ];
      const two = await on.createTask({ contextId });
      const runs = await claim();
      expect(runs.map(run => run.task.id)).toEqual([one, ...alone]);
      await settle(runs[1] as Run, "completed");
      expect(await claimed()).toEqual([]);
      await settle(runs[0] as Run, "completed");
      expect(await claimed()).toEqual([two]);
    });

    it("standalone tasks stay so after the store was reopened, and after an answer", async context => {
      if (!on.under.isPersistent) return context.skip("this store keeps nothing, by design");
      const one = await on.createTask({ contextId });
      const alone = await on.createTask({ contextId, created: { alone: true } });
      await settle((await claim())[1] as Run, "input-required");
      await answer(alone);
      await reopen();
      expect((await claimed()).toSorted()).toEqual([one, alone].toSorted());
    });

    it("an append that requires a free context is rejected with the id of another unfinished task", async () => {
      const first = await on.createTask({ contextId, free: true });
      const busy = on.createTask({ contextId, free: true });
      await expect(busy).rejects.toMatchObject({ code: "busy", details: { taskId: first } });
      const [run] = await claim();
      expect(await faultCode(on.createTask({ contextId, free: true }))).toBe("busy");
      expect(await faultCode(on.createTask({ free: true }))).toBe("accepted");
      expect(await faultCode(on.createTask({ contextId, scope: bob, free: true }))).toBe("accepted");
      await settle(run as Run, "completed");
      expect(await faultCode(on.createTask({ contextId, free: true }))).toBe("accepted");
    });

    it("of two such appends at once only one is accepted", async () => {
      const both = [1, 2].map(() => faultCode(on.createTask({ contextId, free: true })));
      expect((await Promise.all(both)).toSorted()).toEqual(["accepted", "busy"]);
    });

    it("a task can continue in a context without other unfinished tasks", async () => {
      const id = await on.createTask({ contextId });
      await settle((await claim())[0] as Run, "input-required");
      const after = (await on.store.tasks.get(alice, id))?.seq as never;
      await on.store.log.append(alice, id, [userMessage("more")], { after, free: true });
      expect(await claimed()).toEqual([id]);
      expect(await on.store.runs.unfinished()).toEqual(new Map([[ECHO, 1]]));
    });
  });
}
