import type { Json } from "../../lib/json.ts";
import { BEGINNING, type ContextId, type TaskEvent, type TaskId } from "../../model/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import { alice, chunk, ECHO, faultCode, StoreHarness, type StoreUnderTest, status } from "./store-harness.ts";

/** Too deep for JSON.stringify: member names that are numbers disable its fast path. */
function nested(depth = 20_000): Json {
  let value: Json = 1;
  for (let i = 0; i < depth; i++) value = { 1: value };
  return value;
}

const deep = (): TaskEvent => ({
  type: "artifact",
  artifact: { artifactId: "deep", parts: [{ kind: "data", data: nested() }] },
  append: false,
  last: false,
  join: false,
});

/** Invariant I16: an event that cannot be encoded fails alone, without the other writes of its commit. */
export function packedEventsContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("packed events", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
      on.start();
    });
    afterEach(() => on.close());

    it("an event that cannot be encoded is rejected alone: the others of its commit are recorded", async () => {
      const [first, second, poisoned] = [await on.createTask(), on.newId() as TaskId, on.newId() as TaskId];
      const run = await on.claimRun(first);
      const message = {
        message: { messageId: "m", role: "user", parts: [{ kind: "data", data: nested() }] },
      };
      const outcomes = await Promise.all(
        [
          on.store.log.append(alice, first, [chunk("a")], { run }),
          on.append(poisoned, { message }),
          on.append(second),
          on.store.log.append(alice, first, [chunk("b"), deep()], { run }),
          on.store.log.append(alice, first, [chunk("c")], { run }),
          on.store.storage.put({ scope: alice, agent: ECHO, area: "s" }, [{ key: "k", value: 1 }]),
        ].map(faultCode),
      );
      // Later appends of the run are rejected as well.
      expect(outcomes).toEqual(["accepted", "internal", "accepted", "internal", "conflict", "accepted"]);
      expect(await on.store.tasks.get(alice, poisoned)).toBeNull();
      expect((await on.store.tasks.get(alice, second))?.seq).toBe(2);
      await on.store.log.append(alice, first, [status("completed")], { run, afterRefusal: true });
      const steps = await on.store.log.read(alice, first, BEGINNING, 100);
      expect(steps.map(step => step.seq)).toEqual([1, 2, 3, 4, 5]);
      expect(steps.at(-1)?.task.artifacts).toEqual([
        { artifactId: "a", parts: [{ kind: "text", text: "a" }] },
      ]);
    });

    it("the same events are read after a restart", async context => {
      if (!on.under.isPersistent) return context.skip("this store keeps nothing, by design");
      const id = await on.createTask({ contextId: "c" as ContextId });
      const expected = { run: await on.claimRun(id), afterRefusal: true } as const;
      const appends = [
        [chunk("a"), chunk("b")],
        [deep()],
        [chunk("c"), status("working"), deep()],
        [chunk("d")],
      ];
      await Promise.allSettled(appends.map(events => on.store.log.append(alice, id, events, expected)));
      await on.store.log.append(alice, id, [chunk("e"), status("completed")], expected);
      await on.reopen();
      const found = await on.store.tasks.get(alice, id);
      expect([found?.seq, found?.task.artifacts[0]?.parts]).toEqual([8, [{ kind: "text", text: "abde" }]]);
    });

    it("a storage value without JSON is rejected alone", async () => {
      const area = { scope: alice, agent: ECHO, area: "s" };
      const bad = on.store.storage.put(area, [{ key: "deep", value: nested() }]).then(
        () => "accepted",
        () => "refused",
      );
      const good = on.store.storage.put(area, [{ key: "good", value: 1 }]);
      const task = on.createTask();
      expect(await bad).toBe("refused");
      await Promise.all([good, task]);
      expect((await on.store.storage.list(area, { prefix: "", max: 9 })).map(one => one.key)).toEqual([
        "good",
      ]);
      expect(await faultCode(on.store.storage.put(area, [{ key: "half \ud800", value: 1 }]))).toBe(
        "too-large",
      );
    });
  });
}
