import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Json } from "../../src/lib/json.ts";
import { BEGINNING, type ContextId, type TaskEvent, type TaskId } from "../../src/model/index.ts";
import { alice, chunk, ECHO, refusal, Stage, type StoreUnderTest, status } from "./stage.ts";

/** Far deeper than any serialiser can go: with numbers as names, the engine's has no short cut. */
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

/** Invariant I16: an event that cannot be written fails alone, whichever commit it would have been part of. */
export function packingContract(name: string, create: () => StoreUnderTest): void {
  describe(`packing in the ${name} store`, () => {
    let on: Stage;
    beforeEach(() => {
      on = new Stage(create());
      on.start();
    });
    afterEach(() => on.end());

    it("an event that cannot be packed is refused alone: the others of its commit are recorded", async () => {
      const [first, second, poisoned] = [await on.createTask(), on.mint() as TaskId, on.mint() as TaskId];
      const run = await on.begin(first);
      const message = {
        message: { messageId: "m", role: "user", parts: [{ kind: "data", data: nested() }] },
      };
      const told = await Promise.all(
        [
          on.store.log.append(alice, first, [chunk("a")], { run }),
          on.append(poisoned, { message }),
          on.append(second),
          on.store.log.append(alice, first, [chunk("b"), deep()], { run }),
          on.store.log.append(alice, first, [chunk("c")], { run }),
          on.store.storage.put({ scope: alice, agent: ECHO, area: "s" }, [{ key: "k", value: 1 }]),
        ].map(refusal),
      );
      // What the run says after something of it was refused is refused as well.
      expect(told).toEqual(["accepted", "internal", "accepted", "internal", "conflict", "accepted"]);
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
      if (!on.under.lasting) return context.skip("this store keeps nothing, by design");
      const id = await on.createTask({ contextId: "c" as ContextId });
      const expected = { run: await on.begin(id), afterRefusal: true } as const;
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

    it("a value for a shelf that has no JSON is refused alone", async () => {
      const place = { scope: alice, agent: ECHO, area: "s" };
      const bad = on.store.storage.put(place, [{ key: "deep", value: nested() }]).then(
        () => "accepted",
        () => "refused",
      );
      const good = on.store.storage.put(place, [{ key: "good", value: 1 }]);
      const task = on.createTask();
      expect(await bad).toBe("refused");
      await Promise.all([good, task]);
      expect((await on.store.storage.list(place, { prefix: "", max: 9 })).map(one => one.key)).toEqual([
        "good",
      ]);
      expect(await refusal(on.store.storage.put(place, [{ key: "half \ud800", value: 1 }]))).toBe(
        "too-large",
      );
    });
  });
}
