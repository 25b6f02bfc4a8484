import { expect, it } from "vitest";
import type { TaskId } from "../../model/index.ts";
import type { PushCursor, WaitingPush } from "./backend.ts";
import { createPushSchedule } from "./push-schedule.ts";

const WAITING_MAX = 100;
/** The wall time at tick 0. */
const START = Date.UTC(2026, 0, 1);
const NO_HOSTS: ReadonlySet<string> = new Set();
const toCursor = (i: number): PushCursor => ({
  taskId: `t${i}` as TaskId,
  id: "c",
  host: `h${i % 7}`,
  cursor: 0,
});

/** A schedule over a backend with waiting configs. */
function createTestSchedule() {
  const clock = { now: 1_000, reads: 0 };
  const stored = new Map<string, WaitingPush>();
  const schedule = createPushSchedule({
    ticks: () => clock.now,
    wallTime: () => clock.now + START,
    onDue: () => {},
    waitingMax: WAITING_MAX,
    readWaiting(max) {
      clock.reads += 1;
      return [...stored.values()].sort((a, b) => a.nextAt - b.nextAt).slice(0, max);
    },
  });
  return {
    clock,
    schedule,
    stored,
    /** A delivery fails and is retried at this time. */
    fail(push: PushCursor, dueAt: number): void {
      stored.set(push.taskId, { ...push, nextAt: START + dueAt, retryDelayMs: dueAt - clock.now });
      schedule.addReady(push);
      for (const claimed of schedule.claim(NO_HOSTS, 100)) {
        claimed.dueAt = dueAt;
        schedule.release(claimed);
      }
    },
    claimAll(): string[] {
      const all: string[] = [];
      for (
        let claimed = schedule.claim(NO_HOSTS, 100);
        claimed.length > 0;
        claimed = schedule.claim(NO_HOSTS, 100)
      )
        for (const push of claimed) {
          all.push(push.taskId);
          stored.delete(push.taskId);
          schedule.remove(push);
        }
      return all;
    },
  };
}

it("retries are due in the order of their times, equal times in the order of insertion", () => {
  const { schedule, clock, fail } = createTestSchedule();
  const dueAts = [3_000, 2_000, 2_000, 2_500, 9_000];
  for (const [i, dueAt] of dueAts.entries()) fail({ ...toCursor(i), host: `h${i}` }, dueAt);
  expect([schedule.claim(NO_HOSTS, 9), schedule.nextInMs()]).toEqual([[], 1_000]);
  clock.now = 3_000;
  expect(schedule.claim(NO_HOSTS, 9).map(one => one.taskId)).toEqual(["t1", "t2", "t3", "t0"]);
  expect(schedule.nextInMs()).toBe(6_000);
});

it("a config that is removed or expedited leaves its queue", () => {
  const { schedule, clock, fail } = createTestSchedule();
  for (let i = 0; i < 3; i++) fail(toCursor(i), 2_000);
  const [first, second] = [schedule.find("t0" as TaskId, "c"), schedule.find("t1" as TaskId, "c")];
  if (first) schedule.remove(first);
  if (second) schedule.expedite(second);
  expect(schedule.claim(NO_HOSTS, 9)).toEqual([second]);
  clock.now = 2_000;
  expect(schedule.claim(NO_HOSTS, 9).map(one => one.taskId)).toEqual(["t2"]);
});

it("keeps a bounded number of waiting configs in memory and delivers all of them", () => {
  const { clock, fail, claimAll, schedule } = createTestSchedule();
  const count = WAITING_MAX + 50;
  for (let i = 0; i < count; i++) fail(toCursor(i), 10_000 + i);
  let inMemory = 0;
  for (let i = 0; i < count; i++) inMemory += schedule.list(`t${i}` as TaskId).length;
  expect(inMemory).toBe(WAITING_MAX);
  clock.now += count + 10_000;
  const all = claimAll();
  expect(new Set(all).size).toBe(count);
  expect(all).toHaveLength(count);
  expect(schedule.nextInMs()).toBeUndefined();
  expect(clock.reads).toBe(2);
});
