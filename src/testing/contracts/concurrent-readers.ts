import { setImmediate as nextTurn } from "node:timers/promises";
import { createLocalBus } from "../../bus/local.ts";
import { toAsyncIterable } from "../../lib/batch-source.ts";
import { LoopBudget } from "../../lib/loop-budget.ts";
import { LIMITS, type Seq, type TaskId } from "../../model/index.ts";
import { LogReader } from "../../operation/log-reader.ts";
import type { Run } from "../../ports/index.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";
import { alice, chunk, StoreHarness, type StoreUnderTest } from "./store-harness.ts";

const READERS = 60;
const EVENTS = 5_000;

/** Many readers that catch up with a long log must leave time on the event loop for everything else, in any store. */
export function concurrentReadersContract(create: () => StoreUnderTest): readonly ContractCase[] {
  return defineContract("many readers at once", ({ afterEach, beforeEach, it }) => {
    let on: StoreHarness;
    beforeEach(() => {
      on = new StoreHarness(create());
    });
    afterEach(() => on.close());

    const bus = createLocalBus();
    const loop = new LoopBudget(2_048);

    async function longLog(): Promise<{ readonly taskId: TaskId; readonly end: number; readonly run: Run }> {
      on.start({ loop, tailIdleMs: 10, onCommitted: id => bus.notify(id) });
      const taskId = await on.createTask();
      const run = await on.claimRun(taskId);
      for (let i = 0; i < EVENTS; i += 250) {
        const words = Array.from({ length: 250 }, (_, j) => chunk(`${i + j} `));
        await on.store.log.append(alice, taskId, words, { run });
      }
      const end = (await on.store.tasks.get(alice, taskId))?.seq ?? 0;
      return { taskId, end, run };
    }

    /** Counts the events that all readers get in one turn of the event loop. */
    function countPerTurn() {
      const counted = { now: 0, most: 0, turns: 0, stop: false };
      const look = (): void => {
        counted.most = Math.max(counted.most, counted.now);
        counted.now = 0;
        counted.turns += 1;
        if (!counted.stop) setImmediate(look);
      };
      setImmediate(look);
      return counted;
    }

    async function readAll(
      taskId: TaskId,
      after: number,
      end: number,
      counted: { now: number },
    ): Promise<number[]> {
      const seqs: number[] = [];
      const reading = { scope: alice, taskId, after: after as Seq, until: "terminal" } as const;
      for await (const { steps } of toAsyncIterable(new LogReader({ store: on.store, bus, loop }, reading))) {
        counted.now += steps.length;
        for (const step of steps) seqs.push(step.seq);
        if ((seqs.at(-1) as number) >= end) break;
      }
      return seqs;
    }
    const range = (after: number, end: number): number[] =>
      Array.from({ length: end - after }, (_, i) => after + 1 + i);

    for (const where of ["the same position", "different positions"])
      it(`readers from ${where} get every event once and in order, with a bounded number in one turn`, async () => {
        const { taskId, end } = await longLog();
        const starts = Array.from({ length: READERS }, (_, i) =>
          where === "the same position" ? 1 : 1 + ((i * 97) % (EVENTS - 1)),
        );
        const counted = countPerTurn();
        const read = await Promise.all(starts.map(after => readAll(taskId, after, end, counted)));
        counted.stop = true;
        for (const [i, seqs] of read.entries()) expect(seqs).toEqual(range(starts[i] as number, end));
        // A few events do not count as catching up.
        expect(Math.max(counted.most, counted.now)).toBeLessThanOrEqual(
          LIMITS.catchUpEventsMax + 2 * LIMITS.readMax,
        );
      });

    it("events after the end of a cached page are read, also by readers that had part of it", async () => {
      const { taskId, end, run } = await longLog();
      const ignored = { now: 0 };
      // The tail of an idle log leaves memory: from then on pages are read from the backend.
      await expect.poll(() => readAll(taskId, 1, end, ignored)).toEqual(range(1, end));
      for (let more = 1; more <= 5; more++) {
        await on.store.log.append(alice, taskId, [chunk("more ")], { run });
        for (const after of [1, end - 3, end + more - 1])
          expect(await readAll(taskId, after, end + more, ignored)).toEqual(range(after, end + more));
        await new Promise(resolve => setTimeout(resolve, 30));
      }
    });

    it("a reader at the end of a log does not wait behind readers that catch up", async () => {
      const { taskId, end } = await longLog();
      const live = await on.createTask();
      const run = await on.claimRun(live);
      const before = (await on.store.tasks.get(alice, live))?.seq as number;
      const counted = countPerTurn();
      const storm = Promise.all(
        Array.from({ length: READERS }, () => readAll(taskId, 1, end, counted)),
      ).finally(() => (counted.stop = true));
      await nextTurn();
      const appended = on.store.log.append(alice, live, [chunk("now")], { run }).then(() => counted.turns);
      const seqs = await readAll(live, before, before + 1, { now: 0 });
      const turns = counted.turns;
      expect(seqs).toEqual([before + 1]);
      if (!on.under.isShared) expect(turns - (await appended)).toBeLessThanOrEqual(3);
      await storm;
    });
  });
}
