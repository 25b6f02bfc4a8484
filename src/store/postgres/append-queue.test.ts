import { expect, it } from "vitest";
import type { AgentName, ContextId, Scope, TaskEvent, TaskId } from "../../model/index.ts";
import type { Run } from "../../ports/index.ts";
import { AppendQueue } from "./append-queue.ts";
import type { AppendRequest } from "./write-set.ts";

const created = (id: string, contextId: string): TaskEvent => ({
  type: "created",
  id: id as TaskId,
  contextId: contextId as ContextId,
  agent: "echo" as AgentName,
  origin: "v1",
  shown: true,
});
const chunk = (text: string): TaskEvent => ({
  type: "artifact",
  artifact: { artifactId: "a", parts: [{ kind: "text", text }] },
  append: true,
  last: false,
  join: true,
});
const COMPLETED: TaskEvent = { type: "status", state: "completed" };

function createQueue() {
  const queue = new AppendQueue();
  const push = (task: string, events: TaskEvent[], run?: Run): Promise<void> => {
    const condition = run ? { run } : ({ after: 0 } as never);
    const joined = queue.joinText(events, condition);
    if (joined) return joined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const [taskId, scope] = [task as TaskId, {} as Scope];
    const more = { push: undefined, begins: undefined, resolve, reject, retries: 0 };
    queue.push({ scope, taskId, events, condition, ...more }, events, promise);
    return promise;
  };
  return { queue, push };
}

const idsOf = (batch: readonly AppendRequest[]): readonly string[] => batch.map(({ taskId }) => taskId);

it("takes everything that waits, if no other batch is being written", () => {
  const { queue, push } = createQueue();
  for (const task of ["1", "2", "1"]) void push(task, [COMPLETED]);
  expect(idsOf(queue.take(1))).toEqual(["1", "2", "1"]);
  expect(queue.size).toBe(0);
});

it("holds appends to a task back until the batch with its earlier ones is released", () => {
  const { queue, push } = createQueue();
  void push("1", [COMPLETED]);
  const first = queue.take(1);
  for (const task of ["1", "2", "1", "3"]) void push(task, [COMPLETED]);
  expect(idsOf(queue.take(1))).toEqual(["2", "3"]);
  expect(queue.take(1)).toEqual([]);
  queue.release(first);
  expect(idsOf(queue.take(1))).toEqual(["1", "1"]);
});

it("holds a new task back while another new task of its context is being written, and what follows in it", () => {
  const { queue, push } = createQueue();
  void push("1", [created("1", "c")]);
  const first = queue.take(1);
  void push("2", [created("2", "c")]);
  void push("2", [COMPLETED]);
  void push("3", [created("3", "d")]);
  expect(idsOf(queue.take(1))).toEqual(["3"]);
  queue.release(first);
  expect(idsOf(queue.take(1))).toEqual(["2", "2"]);
});

it("takes nothing if fewer appends than wanted can be written now", () => {
  const { queue, push } = createQueue();
  void push("1", [COMPLETED]);
  const first = queue.take(1);
  for (const task of ["1", "1", "2"]) void push(task, [COMPLETED]);
  expect(queue.take(2)).toEqual([]);
  queue.release(first);
  expect(idsOf(queue.take(2))).toEqual(["1", "1", "2"]);
});

it("puts a part of a batch back before all that waits, and still holds it back", () => {
  const { queue, push } = createQueue();
  for (const task of ["1", "2"]) void push(task, [COMPLETED]);
  const first = queue.take(1);
  for (const task of ["2", "3"]) void push(task, [COMPLETED]);
  const [, second] = first as [AppendRequest, AppendRequest];
  queue.putBack([second]);
  expect(idsOf(queue.take(1))).toEqual(["3"]);
  queue.release(first);
  const [next] = queue.take(1);
  expect(next).toBe(second);
});

it("joins text to the newest append of its run, only as long as that waits", () => {
  const { queue, push } = createQueue();
  const run = {} as Run;
  const joined = push("1", [chunk("a")], run);
  expect(push("1", [chunk("b")], run)).toBe(joined);
  const [first] = queue.take(1) as [AppendRequest];
  expect(first.events).toHaveLength(2);
  void push("1", [chunk("c")], run);
  expect(first.events).toHaveLength(2);
  void push("1", [COMPLETED], run);
  void push("1", [chunk("d")], run);
  expect(queue.size).toBe(3);
});
