import { expect, it } from "vitest";
import { toScope } from "../auth/scope.ts";
import { LoopBudget } from "../lib/loop-budget.ts";
import { BEGINNING, type Step, type TaskId } from "../model/index.ts";
import type { Store } from "../ports/index.ts";
import { LogReader } from "./log-reader.ts";

it("a reader that is closed while the store reads does not subscribe", async () => {
  const reading = Promise.withResolvers<readonly Step[]>();
  let subscribers = 0;
  const bus = { notify() {}, subscribe: () => void subscribers++, unsubscribe: () => void subscribers-- };
  const store = { log: { read: () => reading.promise } } as unknown as Store;
  const range = {
    scope: toScope("t", "p"),
    taskId: "x" as TaskId,
    after: BEGINNING,
    until: "asked",
  } as const;
  const reader = new LogReader({ store, bus, loop: new LoopBudget(2_048) }, range);
  const batch = reader.take();
  reader.close();
  reading.resolve([]);
  expect(await batch).toBeNull();
  expect([subscribers, reader.isOver]).toEqual([0, true]);
});
