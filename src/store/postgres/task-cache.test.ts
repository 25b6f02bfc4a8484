import { expect, it } from "vitest";
import {
  type AgentName,
  applyAll,
  type ContextId,
  type RecordedEvent,
  type Scope,
  type Seq,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import { LogStep } from "../kernel/log-step.ts";
import { appendRead, appendWritten, type CachedTask, TaskCache } from "./task-cache.ts";

const ID = "t" as TaskId;
const recorded = (seq: number, event: TaskEvent): RecordedEvent => ({ seq: seq as Seq, at: seq, event });
/** A working task, after event 3. */
const task = applyAll(null, [
  recorded(1, {
    type: "created",
    id: ID,
    contextId: "c" as ContextId,
    agent: "echo" as AgentName,
    origin: "v1",
    shown: true,
  }),
  recorded(2, {
    type: "message",
    message: { messageId: "m", role: "user", parts: [{ kind: "text", text: "hi" }] },
  }),
  recorded(3, { type: "started", attempt: 1 }),
]) as Task;
const CHUNK: TaskEvent = {
  type: "artifact",
  artifact: { artifactId: "a", parts: [{ kind: "text", text: "x" }] },
  append: true,
  last: false,
  join: true,
};
const toCachedTask = (taskId: TaskId, seq: number): CachedTask => ({
  taskId,
  key: 1,
  scope: {} as Scope,
  task,
  seq,
  compactedSeq: 0,
  snapshotSeq: 0,
  steps: [],
  bytes: 0,
  isStale: false,
});
const step = (seq: number): LogStep => new LogStep(seq as Seq, seq, CHUNK, task, null);
const seqs = ({ steps }: CachedTask): readonly number[] => steps.map(({ seq }) => seq);
const LARGE = { tailCacheTasksMax: 10, tailEventsMax: 10, tailCacheBytesMax: 1_000 };

it("a write of another node during a read invalidates what was read", () => {
  const cache = new TaskCache(LARGE);
  const watch = cache.watch([ID]);
  expect(watch.isInvalidated(ID)).toBe(false);
  cache.invalidate(ID);
  expect(watch.isInvalidated(ID)).toBe(true);
  const later = cache.watch([ID]);
  expect(later.isInvalidated(ID)).toBe(false);
  watch.end();
  cache.invalidateAll();
  expect(later.isInvalidated(ID)).toBe(true);
  later.end();
});

it("a step of this node is added once, even if it was read before its commit was acknowledged", () => {
  const cached = toCachedTask(ID, 4);
  appendRead(
    cached,
    [5, 6, 7].map(seq => recorded(seq, CHUNK)),
  );
  appendWritten(cached, [step(5), step(6)]);
  expect([seqs(cached), cached.seq]).toEqual([[5, 6, 7], 7]);
  appendWritten(cached, [step(7), step(8)]);
  expect([seqs(cached), cached.seq, cached.isStale]).toEqual([[5, 6, 7, 8], 8, false]);
});

it("steps after a gap are not added: the task is read again", () => {
  const cached = toCachedTask(ID, 3);
  appendWritten(cached, [step(5)]);
  expect([seqs(cached), cached.seq, cached.isStale]).toEqual([[], 3, true]);
});

it("evicts the least recently used task when there are too many tasks or bytes", () => {
  const cache = new TaskCache({ ...LARGE, tailCacheTasksMax: 2 });
  const [a, b, c] = ["a", "b", "c"].map(id => toCachedTask(id as TaskId, 1)) as [
    CachedTask,
    CachedTask,
    CachedTask,
  ];
  cache.put(a, 10);
  cache.put(b, 10);
  cache.find(a.taskId);
  cache.put(c, 10);
  expect([a, b, c].map(cached => cache.find(cached.taskId) === cached)).toEqual([true, false, true]);
  cache.put(c, 985);
  expect([a, c].map(cached => cache.find(cached.taskId) === cached)).toEqual([false, true]);
});

it("keeps the newer half of a long log", () => {
  const cache = new TaskCache({ ...LARGE, tailEventsMax: 4 });
  const cached = toCachedTask(ID, 0);
  appendWritten(cached, [1, 2, 3, 4, 5, 6].map(step));
  cache.put(cached, 60);
  expect([seqs(cached), cached.bytes]).toEqual([[4, 5, 6], 30]);
});

it("a task that has ended is evicted after the second commit after it, and others stay", () => {
  const cache = new TaskCache(LARGE);
  const [ended, working] = ["ended" as TaskId, "working" as TaskId];
  cache.put(toCachedTask(ended, 3), 1);
  cache.put(toCachedTask(working, 3), 1);
  cache.evictEnded([ended]);
  cache.evictEnded([]);
  expect(cache.find(ended)?.seq).toBe(3);
  cache.evictEnded([]);
  expect(cache.find(ended)).toBeUndefined();
  expect(cache.find(working)?.seq).toBe(3);
});
