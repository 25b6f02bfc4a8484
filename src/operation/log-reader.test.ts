import { expect, it } from "vitest";
import { toScope } from "../auth/scope.ts";
import { LoopBudget } from "../lib/loop-budget.ts";
import { BEGINNING, type Step, type TaskId } from "../model/index.ts";
import type { Store } from "../ports/index.ts";
import { tail } from "./log-reader.ts";

it("a reader that leaves while the store looks does not begin to listen", async () => {
  const looking = Promise.withResolvers<readonly Step[]>();
  let listeners = 0;
  const bus = { notify() {}, subscribe: () => void listeners++, unsubscribe: () => void listeners-- };
  const store = { log: { read: () => looking.promise } } as unknown as Store;
  const reading = {
    scope: toScope("t", "p"),
    taskId: "x" as TaskId,
    after: BEGINNING,
    until: "asked",
  } as const;
  const steps = tail({ store, bus, loop: new LoopBudget(2_048) }, reading);
  const taken = steps.take();
  steps.close();
  looking.resolve([]);
  expect(await taken).toBeNull();
  expect([listeners, steps.isOver]).toEqual([0, true]);
});
