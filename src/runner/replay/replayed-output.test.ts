import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../lib/json.ts";
import { applyAll, type Part, type Seq, type Task, type TaskEvent } from "../../model/index.ts";
import { createAnew, Said } from "./replayed-output.ts";

type ArtifactEvent = TaskEvent & { readonly type: "artifact" };
const TEXTS = { append: false, last: false, join: false };

const begin = (text: string, more: Partial<ArtifactEvent> = {}): ArtifactEvent => ({
  type: "artifact",
  artifact: { artifactId: "response", name: "response", parts: [{ kind: "text", text }] },
  ...TEXTS,
  ...more,
});
const words = (text: string, last = false): ArtifactEvent => ({
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

/** What is recorded when an attempt says `again` after one that said `before`. */
function told(
  before: readonly TaskEvent[],
  again: readonly TaskEvent[],
  check: (instead: string) => void = () => {},
): readonly TaskEvent[] {
  const said = new Said(taskOf(), 2);
  for (const event of before) said.add(event);
  const rest = again.map(event => said.rest(event, check)).filter(event => event !== null);
  return [...rest, ...said.leftovers()];
}
const contentOf = (events: readonly TaskEvent[]): unknown => taskOf(...events).artifacts[0]?.parts;
const refuse = (instead: string): never => {
  throw new Error(instead);
};

describe("an attempt that resumes", () => {
  it("says nothing that was said, and goes on where it stopped", () => {
    expect(told([begin("a "), words("b ")], [begin("a "), words("b "), words("c ")], refuse)).toEqual([
      words("c "),
    ]);
  });

  it("may cut its words differently", () => {
    const spellings = [
      [begin("abcdef"), words("gh")],
      [begin("a"), words("bcdefgh")],
      [begin("abc"), words("defg"), words("h")],
    ];
    for (const before of [[begin("ab"), words("cd")], [begin("abcd")], [begin("a"), words("bcd")]])
      for (const again of spellings) {
        const rest = told(before, again, refuse);
        expect(contentOf([...before, ...rest])).toEqual([{ kind: "text", text: "abcdefgh" }]);
        expect(rest.every(event => event.type === "artifact" && event.append)).toBe(true);
      }
  });

  it("says that a text has ended, if that was not said", () => {
    expect(told([begin("a")], [begin("a", { last: true })], refuse)).toEqual([words("", true)]);
    expect(told([begin("a", { last: true })], [begin("a", { last: true })], refuse)).toEqual([]);
  });

  it("artifacts that are the same are not sent again, each in its own order", () => {
    const before = [data({ a: 1 }), begin("x"), data({ a: 2 }), data({ b: 1 }, "data-2")];
    expect(
      told(before, [begin("x"), data({ a: 1 }), data({ b: 1 }, "data-2"), data({ a: 2 })], refuse),
    ).toEqual([]);
    expect(told(before, [...before, data({ a: 3 })], refuse)).toEqual([data({ a: 3 })]);
  });

  it("progress that is the same is not told again; other progress is", () => {
    const again = [progress("one"), progress("2"), progress("three")];
    expect(told([progress("one"), progress("two"), progress("three")], again, refuse)).toEqual(
      again.slice(1),
    );
    expect(told([progress("one")], again, refuse)).toEqual(again.slice(1));
  });

  it("is checked when it says something else", () => {
    for (const again of [[begin("b")], [data({ a: 2 })], [begin("a", { metadata: { x: 1 } })], [words("a")]])
      expect(() => told([begin("abc"), data({ a: 1 })], again, refuse)).toThrow(
        /something else of the artifact/,
      );
  });

  it("if it may say something else, the artifact is replaced by all that this attempt said of it, and marked", () => {
    const again = [begin("The "), words("answer "), words("is 42"), words("!")];
    const rest = told([begin("The "), words("answer "), words("was 7")], again);
    expect(rest).toEqual([begin("The answer is 42", { metadata: { "dragoman.attempt": 2 } }), words("!")]);
  });

  it("if it says less, what is too much is taken away at the end", () => {
    expect(told([begin("a long text"), data({ a: 1 })], [begin("a long")])).toEqual([
      begin("a long", { last: true, metadata: { "dragoman.attempt": 2 } }),
    ]);
  });

  it("is compared with the newest version of an artifact that was replaced", () => {
    const before = [
      begin("old"),
      words("er"),
      begin("new", { metadata: { "dragoman.attempt": 2 } }),
      words("er"),
    ];
    expect(told(before, [begin("new"), words("er"), words("!")], refuse)).toEqual([words("!")]);
  });
});

describe("an attempt that begins anew", () => {
  const mark = { metadata: { "dragoman.attempt": 3 } };

  it("marks what takes the place of something, and nothing else", () => {
    const anew = createAnew(taskOf(begin("x")), 3);
    expect([begin("a"), words("b"), data({})].map(anew)).toEqual([
      begin("a", mark),
      words("b"),
      { ...data({}), ...mark },
    ]);
  });

  it("does not add to what the broken attempt left, also if it only ever adds", () => {
    const anew = createAnew(taskOf(words("left over")), 3);
    const [first, second] = [words("a"), words("b")].map(anew);
    expect(first).toEqual({ ...words("a"), append: false, join: false, ...mark });
    expect(second).toEqual(words("b"));
    const later = { ...taskOf(words("of an earlier turn")), turn: 2 };
    expect(createAnew(later, 3)(words("a"))).toEqual(words("a"));
  });
});
