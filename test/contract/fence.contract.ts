import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Task, TaskEvent } from "../../src/model/index.ts";
import type { Run } from "../../src/ports/index.ts";
import { alice, chunk, refusal, Stage, type StoreUnderTest, said, status } from "./stage.ts";

/** What a store takes from a run after it has refused something, in any store: no log has a gap. */
export function fenceContract(name: string, create: () => StoreUnderTest): void {
  describe(`refused appends of runs in the ${name} store`, () => {
    let on: Stage;
    beforeEach(() => {
      on = new Stage(create());
    });
    afterEach(() => on.end());

    it("after one refused append of a run all its later ones are refused, but for an end that knows of it", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.begin();
      const append = (event: TaskEvent): Promise<void> => on.store.log.append(alice, id, [event], { run });
      const asked = [chunk("a"), said("not now"), chunk("b"), status("completed")].map(append);
      expect(await Promise.all(asked.map(refusal))).toEqual(["accepted", "conflict", "conflict", "conflict"]);
      expect(await refusal(append(chunk("c")))).toBe("conflict");
      expect(await refusal(on.store.runs.release(run))).toBe("conflict");
      // Of others it takes what it always takes.
      await on.store.log.append(alice, id, [{ type: "cancel" }], { state: "working" });
      const end: TaskEvent = { type: "status", state: "canceled" };
      expect(await refusal(on.store.log.append(alice, id, [end], { run, afterRefusal: true }))).toBe(
        "accepted",
      );
      const { task } = (await on.store.tasks.get(alice, id)) as { task: Task };
      expect([task.status.state, task.artifacts[0]?.parts]).toEqual([
        "canceled",
        [{ kind: "text", text: "a" }],
      ]);
    });

    it("what is refused of a caller costs the run nothing, and the order of its words stays", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.begin();
      const say = (event: TaskEvent): Promise<void> => on.store.log.append(alice, id, [event], { run });
      const tell = (text: string, key: string): Promise<void> => {
        const event = said(text, { type: "incoming", key: { name: key, digest: text } });
        return on.store.log.append(alice, id, [event], { state: "working" });
      };
      const asked = [
        say(chunk("a")),
        tell("first", "k"),
        say(chunk("b")),
        tell("second", "k"),
        say(chunk("c")),
        say(status("completed")),
      ];
      expect(await Promise.all(asked.map(refusal))).toEqual([
        ...["accepted", "accepted", "accepted", "conflict", "accepted", "accepted"],
      ]);
      const { task } = (await on.store.tasks.get(alice, id)) as { task: Task };
      expect(task.artifacts[0]?.parts).toEqual([{ kind: "text", text: "abc" }]);
      expect(task.status.state).toBe("completed");
    });

    it("a run whose append was refused loses its task to the next one", async () => {
      on.start();
      const id = await on.createTask();
      const run = await on.begin();
      expect(await refusal(on.store.log.append(alice, id, [said("not now")], { run }))).toBe("conflict");
      on.now += 1_100;
      const next = await on.begin();
      expect(next).toMatchObject({ attempt: 2, afterCrash: true, task: { id } });
      expect(await refusal(on.complete(next))).toBe("accepted");
    });

    it("after a commit that failed, nothing more of its runs is recorded, and they are begun again", async context => {
      on.start();
      if (!on.under.setFull)
        return context.skip("commits of this store are made to fail in tests of its own");
      const id = await on.createTask();
      const run = await on.begin();
      const append = (event: TaskEvent): Promise<void> => on.store.log.append(alice, id, [event], { run });
      await append(chunk("a"));
      on.under.setFull(true);
      expect(await Promise.all([append(chunk("b")), append(status("working"))].map(refusal))).toEqual([
        "unavailable",
        "unavailable",
      ]);
      on.under.setFull(false);
      expect(await Promise.all([append(chunk("c")), append(status("completed"))].map(refusal))).toEqual([
        "conflict",
        "conflict",
      ]);
      let next: Run | undefined;
      await expect.poll(async () => (next = await on.begin()), { timeout: 10_000 }).toBeDefined();
      expect(next).toMatchObject({ attempt: 2, afterCrash: true, task: { id } });
    });
  });
}
