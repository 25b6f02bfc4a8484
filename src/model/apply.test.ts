import { describe, expect, it } from "vitest";
import { apply, applyAll } from "./apply.ts";
import type { TaskEvent } from "./event.ts";
import type { Seq } from "./ids.ts";
import { LIMITS } from "./limits.ts";
import type { Message } from "./message.ts";
import { applyView, type Task } from "./task.ts";

const message = (text: string, role: Message["role"] = "user"): Message => ({
  messageId: text,
  role,
  parts: [{ kind: "text", text }],
});
const created: TaskEvent = {
  type: "created",
  id: "t" as never,
  contextId: "c" as never,
  agent: "a" as never,
  origin: "v1",
  shown: false,
};

function fold(...events: TaskEvent[]): Task {
  let task: Task | null = null;
  [
    created,
    { type: "message", message: message("hi") } as const,
    { type: "started", attempt: 1 } as const,
    ...events,
  ].forEach((event, i) => {
    task = apply(task, { seq: (i + 1) as Seq, at: 1_000 + i, event });
  });
  return task as unknown as Task;
}

const chunk = (text: string, how: Partial<TaskEvent & { type: "artifact" }> = {}): TaskEvent => ({
  type: "artifact",
  artifact: { artifactId: "a", parts: [{ kind: "text", text }] },
  append: true,
  last: false,
  join: true,
  ...how,
});

describe("artifacts", () => {
  it("streamed text is joined into one text part", () => {
    const { artifacts } = fold(chunk("one ", { append: false }), chunk("two "), chunk("three"));
    expect(artifacts).toEqual([{ artifactId: "a", parts: [{ kind: "text", text: "one two three" }] }]);
  });

  it("parts that are appended without joining stay parts", () => {
    const { artifacts } = fold(chunk("one", { append: false }), chunk("two", { join: false }));
    expect(artifacts[0]?.parts).toHaveLength(2);
  });

  it("an append to an artifact that is not there creates it (D8)", () => {
    expect(fold(chunk("lone")).artifacts).toHaveLength(1);
  });

  it("without append an artifact of the same id is replaced in its place", () => {
    const other = { artifactId: "b", parts: [{ kind: "text", text: "b" }] } as const;
    const { artifacts } = fold(
      chunk("old"),
      { ...chunk(""), artifact: other } as TaskEvent,
      chunk("new", { append: false }),
    );
    expect(artifacts.map(one => one.artifactId)).toEqual(["a", "b"]);
    expect(artifacts[0]?.parts).toEqual([{ kind: "text", text: "new" }]);
  });

  it("metadata of an append is merged", () => {
    const withMetadata = (metadata: object): TaskEvent =>
      chunk("x", {
        artifact: { artifactId: "a", parts: [{ kind: "text", text: "x" }], metadata: metadata as never },
      });
    expect(fold(withMetadata({ a: 1, b: 1 }), withMetadata({ b: 2 })).artifacts[0]?.metadata).toEqual({
      a: 1,
      b: 2,
    });
  });
});

describe("status and history", () => {
  it("the current status message is only in the status; the one it replaced is in the history", () => {
    const task = fold(
      { type: "status", state: "working", message: message("25 %", "agent") },
      { type: "status", state: "working", message: message("50 %", "agent") },
    );
    expect(task.status.message?.messageId).toBe("50 %");
    expect(task.history.map(one => one.messageId)).toEqual(["hi", "25 %"]);
  });

  it("a question moves to the history when it is answered", () => {
    const task = fold(
      { type: "status", state: "input-required", message: message("Where to?", "agent") },
      { type: "message", message: message("Rome") },
    );
    expect(task.history.map(one => one.messageId)).toEqual(["hi", "Where to?", "Rome"]);
    expect(task.status).toMatchObject({ state: "submitted" });
    expect(task.status.message).toBeUndefined();
  });

  it("the history is bounded and keeps the newest", () => {
    const many = Array.from(
      { length: LIMITS.historyMessagesMax + 10 },
      (_, i): TaskEvent => ({
        type: "status",
        state: "working",
        message: message(`s${i}`, "agent"),
      }),
    );
    const { history } = fold(...many);
    expect(history).toHaveLength(LIMITS.historyMessagesMax);
    expect(history.at(-1)?.messageId).toBe(`s${many.length - 2}`);
  });

  it("a run that starts while another is working counts a crash; after a release it does not", () => {
    expect(fold({ type: "started", attempt: 2 }, { type: "started", attempt: 3 }).crashes).toBe(2);
    expect(fold({ type: "released" }, { type: "started", attempt: 2 }).crashes).toBe(0);
  });

  it("messages that arrive during a turn are recorded with it, and begin none", () => {
    const task = fold(
      { type: "incoming", message: message("and") },
      { type: "incoming", message: message("more") },
    );
    expect(task).toMatchObject({ turn: 1, message: { messageId: "hi" } });
    expect(task.incoming?.map(one => one.messageId)).toEqual(["and", "more"]);
    expect(task.history.map(one => one.messageId)).toEqual(["hi", "and", "more"]);
  });

  it("a new turn drops the members of the turn before; a repeated turn keeps them", () => {
    const note = { kind: "step", name: "s", nth: 1, value: 1 } as const;
    const before: readonly TaskEvent[] = [
      { type: "noted", note },
      { type: "incoming", message: message("more") },
      { type: "started", attempt: 2 },
      { type: "status", state: "input-required", message: message("Again?", "agent") },
    ];
    const next = fold(...before, { type: "message", message: message("next") });
    expect(next).toMatchObject({ turn: 2, attemptsBefore: 2, crashes: 0, message: { messageId: "next" } });
    expect([next.noted, next.incoming]).toEqual([undefined, undefined]);
    const again = fold(...before, { type: "message", message: message("yes"), again: true });
    expect(again).toMatchObject({ turn: 1, attemptsBefore: 0, crashes: 1, message: { messageId: "hi" } });
    expect([again.noted, again.incoming?.length, again.status.state]).toEqual([true, 1, "submitted"]);
    expect(again.history.map(one => one.messageId)).toEqual(["hi", "more", "Again?", "yes"]);
  });

  it("new questions are open, also if answered ones had the same ids", () => {
    const ask: TaskEvent = { type: "status", state: "input-required", asks: ["a"] };
    const answer: TaskEvent = { type: "message", message: message("yes"), answers: { a: "yes" } };
    expect(fold(ask, answer, { type: "started", attempt: 2 }).answers).toEqual({ a: "yes" });
    expect(fold(ask, answer, { type: "started", attempt: 2 }, ask).answers).toBeUndefined();
  });

  it("usage adds up", () => {
    const task = fold({ type: "usage", usage: { in: 1 } }, { type: "usage", usage: { in: 2, out: 5 } });
    expect(task.usage).toEqual({ in: 3, out: 5 });
  });
});

describe("replies", () => {
  it("an agent whose first event is a reply makes no visible task", () => {
    expect(fold({ type: "reply", message: message("yes", "agent") }).reply?.messageId).toBe("yes");
  });

  it("after a task was shown, a reply is its last status message", () => {
    const task = fold({ type: "shown" }, { type: "reply", message: message("yes", "agent") });
    expect(task.reply).toBeUndefined();
    expect(task.status).toMatchObject({ state: "completed", message: { messageId: "yes" } });
  });
});

it("a view shortens the history from the front and can leave artifacts out", () => {
  const task = fold(
    chunk("x"),
    { type: "status", state: "working", message: message("s", "agent") },
    {
      type: "status",
      state: "completed",
    },
  );
  expect(applyView(task, { artifacts: true, historyMax: 1 }).history.map(one => one.messageId)).toEqual([
    "s",
  ]);
  expect(applyView(task, { artifacts: true, historyMax: 0 }).history).toEqual([]);
  expect(applyView(task, { artifacts: false }).artifacts).toEqual([]);
  expect(applyView(task, { artifacts: true, historyMax: 9 })).toBe(task);
});

describe("generations", () => {
  it("a task with its message is 1, and each update is one more", () => {
    expect(fold().generation).toBe(2);
    expect(fold({ type: "usage", usage: {} }, { type: "cancel" }).generation).toBe(2);
    expect(fold(chunk("a"), chunk("b"), { type: "status", state: "input-required" }).generation).toBe(5);
    const answered = fold(
      { type: "status", state: "input-required" },
      { type: "message", message: message("yes") },
    );
    expect(answered.generation).toBe(4);
  });

  it("chunks that are joined count one by one, and those that are refused do not", () => {
    const chunks = ["a", "b", "c"].map((text, i) => ({ seq: (i + 4) as Seq, at: 0, event: chunk(text) }));
    expect(applyAll(fold(), chunks)?.generation).toBe(5);
    expect(applyAll(fold({ type: "status", state: "completed" }), chunks)?.generation).toBe(3);
  });

  it("a task from a snapshot without a generation does not get one", () => {
    const { generation, ...older } = fold();
    expect(generation).toBe(2);
    expect(applyAll(older, [{ seq: 4 as Seq, at: 0, event: chunk("a") }])?.generation).toBeUndefined();
  });
});
