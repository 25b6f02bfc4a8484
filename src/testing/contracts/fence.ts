import type { Task, TaskEvent } from "../../model/index.ts";
import type { Run } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import {
  alice,
  chunk,
  faultCode,
  StoreHarness,
  type StoreUnderTest,
  status,
  userMessage,
} from "./store-harness.ts";

/** After one rejected append of a run, all its later appends are rejected, so that no log has a gap, in any store. */
export function fenceContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("rejected appends of runs", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
    });
    afterEach(() => on.close());

    it("after one rejected append of a run all later ones are rejected, except for a final event with afterRefusal", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.claimRun();
      const append = (event: TaskEvent): Promise<void> => on.store.log.append(alice, id, [event], { run });
      const asked = [chunk("a"), userMessage("not now"), chunk("b"), status("completed")].map(append);
      expect(await Promise.all(asked.map(faultCode))).toEqual([
        "accepted",
        "conflict",
        "conflict",
        "conflict",
      ]);
      expect(await faultCode(append(chunk("c")))).toBe("conflict");
      expect(await faultCode(on.store.runs.release(run))).toBe("conflict");
      // Appends of callers are accepted as before.
      await on.store.log.append(alice, id, [{ type: "cancel" }], { state: "working" });
      const end: TaskEvent = { type: "status", state: "canceled" };
      expect(await faultCode(on.store.log.append(alice, id, [end], { run, afterRefusal: true }))).toBe(
        "accepted",
      );
      const { task } = (await on.store.tasks.get(alice, id)) as { task: Task };
      expect([task.status.state, task.artifacts[0]?.parts]).toEqual([
        "canceled",
        [{ kind: "text", text: "a" }],
      ]);
    });

    it("a rejected append of a caller does not affect the run or the order of its events", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.claimRun();
      const appendEvent = (event: TaskEvent): Promise<void> =>
        on.store.log.append(alice, id, [event], { run });
      const sendMessage = (text: string, key: string): Promise<void> => {
        const event = userMessage(text, { type: "incoming", key: { name: key, digest: text } });
        return on.store.log.append(alice, id, [event], { state: "working" });
      };
      const asked = [
        appendEvent(chunk("a")),
        sendMessage("first", "k"),
        appendEvent(chunk("b")),
        sendMessage("second", "k"),
        appendEvent(chunk("c")),
        appendEvent(status("completed")),
      ];
      expect(await Promise.all(asked.map(faultCode))).toEqual([
        ...["accepted", "accepted", "accepted", "conflict", "accepted", "accepted"],
      ]);
      const { task } = (await on.store.tasks.get(alice, id)) as { task: Task };
      expect(task.artifacts[0]?.parts).toEqual([{ kind: "text", text: "abc" }]);
      expect(task.status.state).toBe("completed");
    });

    it("a run whose append was rejected loses its task to the next run", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.claimRun();
      expect(await faultCode(on.store.log.append(alice, id, [userMessage("not now")], { run }))).toBe(
        "conflict",
      );
      on.now += 1_100;
      const next = await on.claimRun();
      expect(next).toMatchObject({ attempt: 2, afterCrash: true, task: { id } });
      expect(await faultCode(on.complete(next))).toBe("accepted");
    });

    it("after a failed commit nothing more of its runs is recorded, and the tasks are run again", async context => {
      on.start();
      if (!on.under.setFull) return context.skip("other tests of this store make its commits fail");
      const id = await on.createTask();
      const run = await on.claimRun();
      const append = (event: TaskEvent): Promise<void> => on.store.log.append(alice, id, [event], { run });
      await append(chunk("a"));
      on.under.setFull(true);
      expect(await Promise.all([append(chunk("b")), append(status("working"))].map(faultCode))).toEqual([
        "unavailable",
        "unavailable",
      ]);
      on.under.setFull(false);
      expect(await Promise.all([append(chunk("c")), append(status("completed"))].map(faultCode))).toEqual([
        "conflict",
        "conflict",
      ]);
      let next: Run | undefined;
      await expect.poll(async () => (next = await on.claimRun())).toBeDefined();
      expect(next).toMatchObject({ attempt: 2, afterCrash: true, task: { id } });
    });
  });
}
