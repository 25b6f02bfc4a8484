import { describe, expect, test } from "vitest";
import { Conversation, outputOf } from "../../../test/support/turn.ts";
import type { AgentOutput, AgentTask, Ctx } from "../../agent/context.ts";
import { agent } from "../../agent/definition.ts";
import { textOf } from "../../model/index.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { functionRuntime } from "./index.ts";

/** What one call of a verb makes. */
const made = async (make: (ctx: Ctx) => AgentEvent): Promise<AgentEvent | undefined> =>
  (await outputOf((_task, ctx) => make(ctx)))[0];
const text = (words: string) => ({ kind: "text", text: words });
const idOf = (event: AgentEvent) => (event.type === "artifact" ? event.artifact.artifactId : event.type);

describe("the methods of ctx", () => {
  test("data is one whole artifact", async () => {
    expect(
      await made(ctx => ctx.data({ a: [1] }, { name: "numbers", description: "few", metadata: { b: 2 } })),
    ).toEqual({
      type: "artifact",
      artifact: {
        artifactId: "data-1",
        name: "numbers",
        description: "few",
        parts: [{ kind: "data", data: { a: [1] } }],
        metadata: { b: 2 },
      },
      append: false,
      last: true,
      join: false,
    });
  });

  test("data is copied: later changes of the author's object have no effect", async () => {
    const state = { step: 1 };
    const events = await outputOf(async function* (_task, ctx) {
      const event = ctx.data(state);
      state.step = 2;
      yield event;
      yield ctx.data({ when: new Date(0), nothing: undefined });
    });
    expect(events).toMatchObject([
      { artifact: { parts: [{ data: { step: 1 } }] } },
      { artifact: { parts: [{ data: { when: "1970-01-01T00:00:00.000Z" } }] } },
    ]);
  });

  test("a file of bytes is base64 with a media type guessed from its name", async () => {
    const bytes = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    expect(await made(ctx => ctx.file({ name: "a.csv", bytes }))).toMatchObject({
      artifact: {
        artifactId: "file-1",
        name: "a.csv",
        parts: [{ kind: "bytes", bytes: "AgM=", filename: "a.csv", mediaType: "text/csv" }],
      },
      last: true,
    });
    const other = await made(ctx => ctx.file({ name: "a.b", mediaType: "x/y", bytes: "AgM=" }));
    expect(other).toMatchObject({ artifact: { parts: [{ bytes: "AgM=", mediaType: "x/y" }] } });
  });

  test("a file with a URL is a url part", async () => {
    const event = await made(ctx => ctx.file({ name: "a", url: "https://example.org/a" }));
    expect(event).toMatchObject({
      artifact: { parts: [{ kind: "url", url: "https://example.org/a", filename: "a" }] },
    });
  });

  test("artifact gives full control", async () => {
    const parts = [
      "words",
      { kind: "data", data: null },
      { kind: "bytes", bytes: new Uint8Array([0]) },
    ] as const;
    const event = await made(ctx =>
      ctx.artifact({ artifactId: "own", name: "all", parts, append: true, join: true, last: true }),
    );
    expect(event).toEqual({
      type: "artifact",
      artifact: {
        artifactId: "own",
        name: "all",
        parts: [text("words"), { kind: "data", data: null }, { kind: "bytes", bytes: "AA==" }],
      },
      append: true,
      last: true,
      join: true,
    });
    const plain = await made(ctx => ctx.artifact({ parts: "words" }));
    expect(plain).toMatchObject({
      artifact: { artifactId: "artifact-1" },
      append: false,
      last: false,
      join: false,
    });
  });

  test("text of another name goes to another artifact", async () => {
    const events = await outputOf(async function* (_task, ctx) {
      yield ctx.text("a", { name: "notes", mediaType: "text/markdown" });
      yield ctx.text("b");
      yield ctx.text("c", { name: "notes", last: true });
      yield ctx.text("d", { name: "response" });
      yield ctx.text("", { last: true });
    });
    const seen = events.map(event => event.type === "artifact" && [idOf(event), event.append, event.last]);
    expect(seen).toEqual([
      ["notes", false, false],
      ["response", false, false],
      ["notes", true, true],
      ["response", true, false],
      ["response", true, true],
    ]);
    expect(events[0]).toMatchObject({ artifact: { name: "notes", parts: [{ mediaType: "text/markdown" }] } });
  });

  const statuses: readonly (readonly [string, string, (ctx: Ctx) => AgentEvent])[] = [
    ["status", "working", ctx => ctx.status("words")],
    ["ask", "input-required", ctx => ctx.ask("words")],
    ["reject", "rejected", ctx => ctx.reject("words")],
    ["fail", "failed", ctx => ctx.fail("words")],
  ];
  test.each(statuses)("%s reports %s with a message of the agent's", async (_verb, state, make) => {
    expect(await made(make)).toEqual({
      type: "status",
      state,
      message: {
        messageId: "id-1",
        role: "agent",
        parts: [text("words")],
        taskId: "task-1",
        contextId: "context-1",
      },
    });
  });

  test("askAll outputs all questions as text, and each with its id and parts as data", async () => {
    const options = { kind: "data" as const, data: ["fish"] };
    const asked = await made(ctx => ctx.askAll({ seat: "Which seat?", meal: ["Which ", "meal?", options] }));
    expect(asked).toMatchObject({ type: "status", state: "input-required", asks: ["seat", "meal"] });
    expect(asked).toHaveProperty("message.parts", [
      text("Which seat?\nWhich meal?"),
      { kind: "data", data: { id: "seat", question: "Which seat?" } },
      { kind: "data", data: { id: "meal", question: "Which meal?" } },
      options,
    ]);
  });

  test.each([
    ["no question", {}, /1 to 100 questions, got 0/],
    ["too many", Object.fromEntries(Array.from({ length: 101 }, (_, i) => [i, "?"])), /got 101/],
    ["an empty id", { "": "?" }, /1 to 256 characters/],
  ])("askAll does not take %s", async (_, questions, reason) => {
    await expect(made(ctx => ctx.askAll(questions))).rejects.toThrow(reason);
  });

  test("reply is a message of the context, not of the task, and may have parts", async () => {
    expect(await made(ctx => ctx.reply(["words", { kind: "data", data: 1 }]))).toEqual({
      type: "reply",
      message: {
        messageId: "id-1",
        role: "agent",
        parts: [text("words"), { kind: "data", data: 1 }],
        contextId: "context-1",
      },
    });
  });

  test("history is this context's earlier turns", async () => {
    const conversation = new Conversation().addMessage("hi");
    conversation.earlier = [{ messageId: "m", role: "user", parts: [{ kind: "text", text: "before" }] }];
    const events = await conversation.run(
      agent({ name: "a", run: async (_task, ctx) => textOf((await ctx.history).flatMap(one => one.parts)) }),
    );
    expect(events).toMatchObject([{ artifact: { parts: [text("before")] } }]);
  });

  test("attempt is above 1 after an interrupted run", async () => {
    const conversation = new Conversation().addMessage("hi");
    const definition = agent({ name: "a", run: (_task, ctx) => String(ctx.attempt) });
    await conversation.run(definition);
    expect(await conversation.run(definition)).toMatchObject([{ artifact: { parts: [text("2")] } }]);
  });
});

describe("ids of artifacts", () => {
  const everything = agent({
    name: "everything",
    async *run(_task, ctx) {
      yield "a";
      yield ctx.data(1);
      yield ctx.file({ name: "x", bytes: "" });
      yield ctx.artifact({ parts: "y" });
      yield ctx.ask("more?");
    },
  });

  test("follow the order, and a later turn has its own", async () => {
    const conversation = new Conversation().addMessage("one");
    const first = await conversation.run(everything);
    expect(first.map(idOf)).toEqual(["response", "data-1", "file-2", "artifact-3", "status"]);
    const second = await conversation.addMessage("two").run(everything);
    expect(second.map(idOf)).toEqual(["response-2", "data-1-2", "file-2-2", "artifact-3-2", "status"]);
    expect(conversation.task.artifacts).toHaveLength(8);
  });

  test("are the same when an attempt is repeated, which replaces the artifacts of the first", async () => {
    const conversation = new Conversation().addMessage("one");
    const say = (words: string) => agent({ name: "a", run: () => [words, "!"] });
    await conversation.run(say("first"));
    await conversation.run(say("second"));
    expect(conversation.task.artifacts).toMatchObject([{ artifactId: "response", parts: [text("second!")] }]);
  });
});

describe("invalid content throws where it is created", () => {
  const wrong: readonly (readonly [string, (ctx: Ctx) => AgentEvent, RegExp])[] = [
    ["text that is none", ctx => ctx.text(undefined as unknown as string), /must be a string, got undefined/],
    [
      "text that is not awaited",
      ctx => ctx.text(Promise.resolve("") as unknown as string),
      /is `await` missing/,
    ],
    ["data that is none", ctx => ctx.data(undefined), /must be JSON, got undefined/],
    ["data with a bigint", ctx => ctx.data({ a: 1n }), /must be JSON: .*BigInt/],
    ["data with a circle", ctx => ctx.data(circle()), /must be JSON: .*circular/i],
    ["data that is too deep", ctx => ctx.data(deep(65)), /nested more than 64/],
    ["no part", ctx => ctx.status([]), /at least one part/],
    [
      "an unknown part",
      ctx => ctx.ask({ kind: "song" } as unknown as string),
      /A part is a string or an object with kind/,
    ],
    ["a file without name", ctx => ctx.file({ bytes: "" } as never), /needs a name/],
    ["a file without content", ctx => ctx.file({ name: "a" } as never), /needs either bytes or url \(a\)/],
    [
      "bytes that are no base64",
      ctx => ctx.file({ name: "a", bytes: "hello" }),
      /standard base64, got "hello"/,
    ],
    ["a relative url", ctx => ctx.file({ name: "a", url: "/a" }), /absolute URL, got "\/a"/],
    [
      "usage that is no number",
      ctx => ctx.usage({ tokens: "1" as unknown as number }),
      /tokens must be a number/,
    ],
  ];
  test.each(wrong)("%s", async (_name, make, message) => {
    await expect(made(make)).rejects.toThrow(message);
  });

  test("data of 64 levels is fine", async () => {
    expect(await made(ctx => ctx.data(deep(64)))).toBeDefined();
  });

  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
  const circle = () => {
    const one: Record<string, unknown> = {};
    one.self = one;
    return one;
  };
});

describe("usage", () => {
  test("counts without being yielded, before the next event", async () => {
    const conversation = new Conversation().addMessage("hi");
    const events = await conversation.run(
      agent({
        name: "a",
        async *run(_task, ctx) {
          ctx.usage({ inputTokens: 3 });
          ctx.usage({ inputTokens: 4, outputTokens: undefined });
          yield "a";
        },
      }),
    );
    expect(events.at(-1)?.type).toBe("artifact");
    expect(conversation.task.usage).toEqual({ inputTokens: 7 });
  });

  test("has no further effect when it is yielded", async () => {
    const events = await outputOf(async function* (_task, ctx) {
      yield ctx.usage({ tokens: 1 });
      yield ctx.text("a");
    });
    expect(events.map(event => event.type)).toEqual(["usage", "artifact"]);
  });

  test("is reported immediately, while the function is still busy", async () => {
    let goOn = () => {};
    const waiting = new Promise<void>(resolve => {
      goOn = resolve;
    });
    const run = async (_task: AgentTask, ctx: Ctx): Promise<AgentOutput> => {
      await null;
      ctx.usage({ tokens: 1 });
      await waiting;
      ctx.usage({ tokens: 2 });
      return "a";
    };
    const events = functionRuntime(agent({ name: "a", run })).run(new Conversation().addMessage("hi").turn());
    const reading = events[Symbol.asyncIterator]();
    expect(await reading.next()).toEqual({ value: { type: "usage", usage: { tokens: 1 } }, done: false });
    goOn();
    expect(await reading.next()).toMatchObject({ value: { type: "usage", usage: { tokens: 2 } } });
    expect(await reading.next()).toMatchObject({ value: { type: "artifact" } });
    expect(await reading.next()).toEqual({ value: undefined, done: true });
    expect(await reading.next()).toEqual({ value: undefined, done: true });
  });

  test("is reported before a final event and before an error, and never after a final event", async () => {
    const asking = await outputOf(async function* (_task, ctx) {
      try {
        ctx.usage({ tokens: 1 });
        yield ctx.ask("?");
      } finally {
        ctx.usage({ tokens: 2 });
      }
    });
    expect(asking.map(event => event.type)).toEqual(["usage", "status"]);

    const conversation = new Conversation().addMessage("hi");
    const throwing = conversation.run(
      agent({
        name: "a",
        run(_task, ctx) {
          ctx.usage({ tokens: 5 });
          throw new Error("boom");
        },
      }),
    );
    await expect(throwing).rejects.toThrow("boom");
    expect(conversation.task.usage).toEqual({ tokens: 5 });
  });
});

test("the task has the content of the message", async () => {
  const tasks: AgentTask[] = [];
  const seen = agent({
    name: "seen",
    run(task, ctx) {
      tasks.push(task);
      return ctx.ask("more?");
    },
  });
  const conversation = new Conversation().addMessage(
    [
      { kind: "text", text: "a" },
      { kind: "data", data: { b: 1 } },
      { kind: "text", text: "c" },
      { kind: "bytes", bytes: "AgM=", filename: "d.bin" },
      { kind: "url", url: "https://example.org/e", mediaType: "image/png" },
    ],
    { tenant: "x" },
  );
  await conversation.run(seen);
  await conversation.addMessage("f").run(seen);
  const [first, second] = tasks;
  expect(first).toMatchObject({ id: "task-1", contextId: "context-1", text: "ac", data: { b: 1 }, turn: 1 });
  expect(first?.metadata).toEqual({ tenant: "x" });
  expect(first?.files[0]).toMatchObject({ name: "d.bin", mediaType: "application/octet-stream" });
  expect(first?.files[0]?.bytes).toEqual(Buffer.from([2, 3]));
  expect(first?.files[1]).toEqual({ name: "file-2", mediaType: "image/png", url: "https://example.org/e" });
  expect(second).toMatchObject({ text: "f", data: undefined, files: [], turn: 2 });
  expect(second?.history.filter(message => message.role === "user")).toHaveLength(2);
});

test("ctx.shelf, the former name of ctx.storage, still works and is reported once per process", async () => {
  const first = new Conversation().addMessage("hi");
  await first.run(
    agent({
      name: "a",
      run: async (_task, ctx) => {
        await ctx.storage.put([{ key: "new", value: 1 }]);
        await ctx.shelf.put([{ key: "old", value: 2 }]);
        return `${await ctx.shelf.get("new")} ${await ctx.storage.get("old")}`;
      },
    }),
  );
  expect(first.task.artifacts).toMatchObject([{ parts: [text("1 2")] }]);
  expect(first.logged.map(one => one.text)).toEqual(["ctx.shelf is deprecated: use ctx.storage"]);
  const second = new Conversation().addMessage("hi");
  await second.run(agent({ name: "a", run: (_task, { shelf }) => `${typeof shelf.get}` }));
  expect(second.logged).toEqual([]);
});
