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
import { HotStep } from "../kernel/log-step.ts";
import { extend, extendByOwn, type Known, Memory } from "./task-cache.ts";

const ID = "t" as TaskId;
const recorded = (seq: number, event: TaskEvent): RecordedEvent => ({ seq: seq as Seq, at: seq, event });
/** A task at work, after event 3. */
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
const WORD: TaskEvent = {
  type: "artifact",
  artifact: { artifactId: "a", parts: [{ kind: "text", text: "x" }] },
  append: true,
  last: false,
  join: true,
};
const toKnown = (taskId: TaskId, seq: number): Known => ({
  taskId,
  key: 1,
  scope: {} as Scope,
  task,
  seq,
  since: 0,
  snapshotSeq: 0,
  steps: [],
  bytes: 0,
  stale: false,
});
const step = (seq: number): HotStep => new HotStep(seq as Seq, seq, WORD, task, null);
const seqs = ({ steps }: Known): readonly number[] => steps.map(one => one.seq);
const roomy = { hotTasksMax: 10, hotEventsMax: 10, hotBytesMax: 1_000 };

it("what other nodes write while somebody looks is not taken for seen", () => {
  const memory = new Memory(roomy);
  const watch = memory.watch([ID]);
  expect(watch.isDoubted(ID)).toBe(false);
  memory.doubt(ID);
  expect(watch.isDoubted(ID)).toBe(true);
  const later = memory.watch([ID]);
  expect(later.isDoubted(ID)).toBe(false);
  watch.end();
  memory.doubtAll();
  expect(later.isDoubted(ID)).toBe(true);
  later.end();
});

it("what this node wrote is known once, also if it was read before its writer heard of the commit", () => {
  const known = toKnown(ID, 4);
  extend(
    known,
    [5, 6, 7].map(seq => recorded(seq, WORD)),
  );
  extendByOwn(known, [step(5), step(6)]);
  expect([seqs(known), known.seq]).toEqual([[5, 6, 7], 7]);
  extendByOwn(known, [step(7), step(8)]);
  expect([seqs(known), known.seq, known.stale]).toEqual([[5, 6, 7, 8], 8, false]);
});

it("a gap is not closed with what comes after it: it is looked at again", () => {
  const known = toKnown(ID, 3);
  extendByOwn(known, [step(5)]);
  expect([seqs(known), known.seq, known.stale]).toEqual([[], 3, true]);
});

it("lets go of the longest unused when there are too many, or when they weigh too much", () => {
  const memory = new Memory({ ...roomy, hotTasksMax: 2 });
  const [a, b, c] = ["a", "b", "c"].map(id => toKnown(id as TaskId, 1)) as [Known, Known, Known];
  memory.keep(a, 10);
  memory.keep(b, 10);
  memory.find(a.taskId);
  memory.keep(c, 10);
  expect([a, b, c].map(one => memory.find(one.taskId) === one)).toEqual([true, false, true]);
  memory.keep(c, 985);
  expect([a, c].map(one => memory.find(one.taskId) === one)).toEqual([false, true]);
});

it("keeps the newer half of a log that has become long", () => {
  const memory = new Memory({ ...roomy, hotEventsMax: 4 });
  const known = toKnown(ID, 0);
  extendByOwn(known, [1, 2, 3, 4, 5, 6].map(step));
  memory.keep(known, 60);
  expect([seqs(known), known.bytes]).toEqual([[4, 5, 6], 30]);
});

it("a task that has ended is forgotten after the next commit, and others stay", () => {
  const memory = new Memory(roomy);
  const [ended, working] = ["ended" as TaskId, "working" as TaskId];
  memory.keep(toKnown(ended, 3), 1);
  memory.keep(toKnown(working, 3), 1);
  memory.ended([ended]);
  expect(memory.find(ended)?.seq).toBe(3);
  memory.ended([]);
  expect(memory.find(ended)).toBeUndefined();
  expect(memory.find(working)?.seq).toBe(3);
});
