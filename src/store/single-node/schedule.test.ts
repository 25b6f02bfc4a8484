import { expect, it } from "vitest";
import type { TaskId } from "../../model/index.ts";
import type { PushPlace, WaitingPush } from "./backend.ts";
import { createSchedule } from "./schedule.ts";

const WAITING_MAX = 100;
/** The wall time at tick 0. */
const START = Date.UTC(2026, 0, 1);
const NOBODY: ReadonlySet<string> = new Set();
const toPlace = (i: number): PushPlace => ({
  taskId: `t${i}` as TaskId,
  id: "c",
  host: `h${i % 7}`,
  place: 0,
});

/** A schedule over a journal that knows what waits. */
function stage() {
  const world = { now: 1_000, reads: 0 };
  const kept = new Map<string, WaitingPush>();
  const schedule = createSchedule({
    ticks: () => world.now,
    wallTime: () => world.now + START,
    onDue: () => {},
    waitingMax: WAITING_MAX,
    readWaiting(max) {
      world.reads += 1;
      return [...kept.values()].sort((a, b) => a.nextAt - b.nextAt).slice(0, max);
    },
  });
  return {
    world,
    schedule,
    kept,
    /** Fails, and is to be tried again then. */
    fail(place: PushPlace, dueAt: number): void {
      kept.set(place.taskId, { ...place, nextAt: START + dueAt, plannedMs: dueAt - world.now });
      schedule.enter(place);
      for (const live of schedule.take(NOBODY, 100)) {
        live.dueAt = dueAt;
        schedule.free(live);
      }
    },
    takeAll(): string[] {
      const all: string[] = [];
      for (let taken = schedule.take(NOBODY, 100); taken.length > 0; taken = schedule.take(NOBODY, 100))
        for (const live of taken) {
          all.push(live.taskId);
          kept.delete(live.taskId);
          schedule.leave(live);
        }
      return all;
    },
  };
}

it("those that wait are due in the order of their times, and of their coming if that is the same", () => {
  const { schedule, world, fail } = stage();
  const dueAts = [3_000, 2_000, 2_000, 2_500, 9_000];
  for (const [i, dueAt] of dueAts.entries()) fail({ ...toPlace(i), host: `h${i}` }, dueAt);
  expect([schedule.take(NOBODY, 9), schedule.nextInMs()]).toEqual([[], 1_000]);
  world.now = 3_000;
  expect(schedule.take(NOBODY, 9).map(one => one.taskId)).toEqual(["t1", "t2", "t3", "t0"]);
  expect(schedule.nextInMs()).toBe(6_000);
});

it("one that is removed or hurried leaves the line in which it stood", () => {
  const { schedule, world, fail } = stage();
  for (let i = 0; i < 3; i++) fail(toPlace(i), 2_000);
  const [first, second] = [schedule.find("t0" as TaskId, "c"), schedule.find("t1" as TaskId, "c")];
  if (first) schedule.leave(first);
  if (second) schedule.hurry(second);
  expect(schedule.take(NOBODY, 9)).toEqual([second]);
  world.now = 2_000;
  expect(schedule.take(NOBODY, 9).map(one => one.taskId)).toEqual(["t2"]);
});

it("keeps no more than so many that wait in memory, and misses none of them", () => {
  const { world, fail, takeAll, schedule } = stage();
  const count = WAITING_MAX + 50;
  for (let i = 0; i < count; i++) fail(toPlace(i), 10_000 + i);
  let inMemory = 0;
  for (let i = 0; i < count; i++) inMemory += schedule.of(`t${i}` as TaskId).length;
  expect(inMemory).toBe(WAITING_MAX);
  world.now += count + 10_000;
  const all = takeAll();
  expect(new Set(all).size).toBe(count);
  expect(all).toHaveLength(count);
  expect(schedule.nextInMs()).toBeUndefined();
  expect(world.reads).toBe(2);
});
