import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../lib/json.ts";
import { applyAll, type Part, type Seq, type Task, type TaskEvent } from "../../model/index.ts";
import { createRestart, RecordedOutput } from "./recorded-output.ts";

type ArtifactEvent = TaskEvent & { readonly type: "artifact" };
const TEXTS = { append: false, last: false, join: false };

const begin = (text: string, more: Partial<ArtifactEvent> = {}): ArtifactEvent => ({
  type: "artifact",
  artifact: { artifactId: "response", name: "response", parts: [{ kind: "text", text }] },
  ...TEXTS,
  ...more,
});
const append = (text: string, last = false): ArtifactEvent => ({
  type: "artifact",
  artifact: { artifactId: "response", parts: [{ kind: "text", text }] },
  append: true,
  last,
  join: true,
});
const data = (value: JsonObject, artifactId = "data-1"): ArtifactEvent => ({
  type: "artifact",
  artifact: { artifactId, parts: [{ kind: "data", data: value }] },
  ...TEXTS,
  last: true,
});
const progress = (text: string): TaskEvent => {
  const parts: readonly Part[] = [{ kind: "text", text }];
  return {
    type: "status",
    state: "working",
    message: { messageId: `${Math.random()}`, role: "agent", parts },
  };
};

const taskOf = (...events: readonly TaskEvent[]): Task => {
  const created = {
    type: "created",
    id: "t",
    contextId: "c",
    agent: "a",
    origin: "v1",
    shown: true,
  } as never;
  const message = { messageId: "m", role: "user", parts: [] } as const;
  const all: readonly TaskEvent[] = [
    created,
    { type: "message", message },
    { type: "started", attempt: 1 },
    ...events,
  ];
  return applyAll(
    null,
    all.map((event, i) => ({ seq: (i + 1) as Seq, at: 0, event })),
  ) as Task;
};

/** The events that are recorded when an attempt emits `again` after one that emitted `before`. */
function newOutput(
  before: readonly TaskEvent[],
  again: readonly TaskEvent[],
  check: (instead: string) => void = () => {},
): readonly TaskEvent[] {
  const output = new RecordedOutput(taskOf(), 2);
  for (const event of before) output.add(event);
  const rest = again.map(event => output.toNewOutput(event, check)).filter(event => event !== null);
  return [...rest, ...output.leftovers()];
}
const contentOf = (events: readonly TaskEvent[]): unknown => taskOf(...events).artifacts[0]?.parts;
const refuse = (instead: string): never => {
  throw new Error(instead);
};

describe("an attempt that resumes", () => {
  it("records nothing twice, and continues where the earlier one stopped", () => {
    expect(newOutput([begin("a "), append("b ")], [begin("a "), append("b "), append("c ")], refuse)).toEqual(
      [append("c ")],
    );
  });

  it("may split its text differently", () => {
    const splits = [
      [begin("abcdef"), append("gh")],
      [begin("a"), append("bcdefgh")],
      [begin("abc"), append("defg"), append("h")],
    ];
    for (const before of [[begin("ab"), append("cd")], [begin("abcd")], [begin("a"), append("bcd")]])
      for (const again of splits) {
        const rest = newOutput(before, again, refuse);
        expect(contentOf([...before, ...rest])).toEqual([{ kind: "text", text: "abcdefgh" }]);
        expect(rest.every(event => event.type === "artifact" && event.append)).toBe(true);
      }
  });

  it("records the end of a text, if it was not recorded", () => {
    expect(newOutput([begin("a")], [begin("a", { last: true })], refuse)).toEqual([append("", true)]);
    expect(newOutput([begin("a", { last: true })], [begin("a", { last: true })], refuse)).toEqual([]);
  });

  it("does not record equal artifacts again, each in its own order", () => {
    const before = [data({ a: 1 }), begin("x"), data({ a: 2 }), data({ b: 1 }, "data-2")];
    expect(
      newOutput(before, [begin("x"), data({ a: 1 }), data({ b: 1 }, "data-2"), data({ a: 2 })], refuse),
    ).toEqual([]);
    expect(newOutput(before, [...before, data({ a: 3 })], refuse)).toEqual([data({ a: 3 })]);
  });

  it("records only progress that differs", () => {
    const again = [progress("one"), progress("2"), progress("three")];
    expect(newOutput([progress("one"), progress("two"), progress("three")], again, refuse)).toEqual(
      again.slice(1),
    );
    expect(newOutput([progress("one")], again, refuse)).toEqual(again.slice(1));
  });

  it("is checked when its output differs", () => {
    for (const again of [[begin("b")], [data({ a: 2 })], [begin("a", { metadata: { x: 1 } })], [append("a")]])
      expect(() => newOutput([begin("abc"), data({ a: 1 })], again, refuse)).toThrow(
        /something else for the artifact/,
      );
  });

  it("if its output may differ, it replaces the artifact and marks it with the attempt", () => {
    const again = [begin("The "), append("answer "), append("is 42"), append("!")];
    const rest = newOutput([begin("The "), append("answer "), append("was 7")], again);
    expect(rest).toEqual([begin("The answer is 42", { metadata: { "dragoman.attempt": 2 } }), append("!")]);
  });

  it("if it emits less, the artifact is replaced at the end", () => {
    expect(newOutput([begin("a long text"), data({ a: 1 })], [begin("a long")])).toEqual([
      begin("a long", { last: true, metadata: { "dragoman.attempt": 2 } }),
    ]);
  });

  it("is compared with the newest version of an artifact that was replaced", () => {
    const before = [
      begin("old"),
      append("er"),
      begin("new", { metadata: { "dragoman.attempt": 2 } }),
      append("er"),
    ];
    expect(newOutput(before, [begin("new"), append("er"), append("!")], refuse)).toEqual([append("!")]);
  });
});

describe("an attempt that restarts the turn", () => {
  const mark = { metadata: { "dragoman.attempt": 3 } };

  it("marks artifacts that replace others, and nothing else", () => {
    const restart = createRestart(taskOf(begin("x")), 3);
    expect([begin("a"), append("b"), data({})].map(restart)).toEqual([
      begin("a", mark),
      append("b"),
      { ...data({}), ...mark },
    ]);
  });

  it("replaces the artifact of the interrupted attempt, also if it only appends", () => {
    const restart = createRestart(taskOf(append("left over")), 3);
    const [first, second] = [append("a"), append("b")].map(restart);
    expect(first).toEqual({ ...append("a"), append: false, join: false, ...mark });
    expect(second).toEqual(append("b"));
    const later = { ...taskOf(append("of an earlier turn")), turn: 2 };
    expect(createRestart(later, 3)(append("a"))).toEqual(append("a"));
  });
});
