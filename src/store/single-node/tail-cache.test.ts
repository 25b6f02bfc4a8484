import { expect, it } from "vitest";
import { toScope } from "../../auth/scope.ts";
import { LIMITS, type Step, type TaskId } from "../../model/index.ts";
import type { Backend } from "./backend.ts";
import { createTailCache } from "./tail-cache.ts";
import { createTaskEntry } from "./task-entry.ts";

/** A cached task with so many committed events; `check` returns how many are in memory after an eviction. */
function cacheTask(count: number) {
  const cache = createTailCache({ ...LIMITS, backend: {} as Backend });
  const entry = createTaskEntry("t" as TaskId, toScope("tenant", "principal"));
  cache.pin(entry);
  entry.tail.steps = Array.from({ length: count }, (_, i) => ({ seq: i + 1 }) as Step);
  entry.tail.seq = entry.commit.seq = count;
  const check = (): number => {
    cache.evictIdleTails();
    return entry.tail.steps.length;
  };
  const commit = (added: number): number => {
    for (let i = 0; i < added; i++) entry.tail.steps.push({ seq: ++entry.tail.seq } as Step);
    entry.commit.seq = entry.tail.seq;
    cache.onCommitted(entry, 100 * added, added);
    return entry.tail.steps.length;
  };
  return { entry, check, commit };
}

it("the events of a log without new events leave memory at the second check", () => {
  const { check } = cacheTask(4);
  expect([check(), check()]).toEqual([4, 0]);
});

it("a log with new events stays in memory, and so does a log that is being written", () => {
  const { entry, check } = cacheTask(4);
  check();
  entry.tail.steps.push({ seq: 5 } as Step);
  entry.tail.seq = entry.commit.seq = 5;
  expect(check()).toBe(5);
  entry.commit.isPending = true;
  expect([check(), check()]).toEqual([5, 5]);
  entry.commit.isPending = false;
  expect(check()).toBe(0);
});

it("a long tail stays for more checks, because streams take longer to read it", () => {
  const { check } = cacheTask(160);
  const counts = Array.from({ length: 12 }, check);
  expect(counts.indexOf(0)).toBe(10);
});

it("a log of many small commits keeps its newest events", () => {
  const { entry, commit } = cacheTask(0);
  const counts = Array.from({ length: 1_000 }, () => commit(1));
  expect(Math.max(...counts)).toBe(1);
  expect(entry.tail.steps[0]?.seq).toBe(1_000);
  expect(entry.cache.bytes).toBeLessThan(1_000);
});

it("the events of a large commit leave memory by halves, with the commits after it", () => {
  const { commit } = cacheTask(0);
  expect([commit(300), commit(10), commit(1), commit(1)]).toEqual([300, 155, 78, 39]);
});

it("the events of one commit stay, unless they are too large", () => {
  const { entry, commit } = cacheTask(0);
  commit(1_000);
  expect(commit(1_020)).toBe(1_010);
  entry.cache.bytes = LIMITS.tailBytesMax;
  expect(commit(1)).toBe(505);
});
