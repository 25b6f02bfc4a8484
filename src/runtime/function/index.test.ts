import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Conversation, outputOf } from "../../../test/support/turn.ts";
import type { AgentOutput, Ctx } from "../../agent/context.ts";
import { agent } from "../../agent/definition.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { functionRuntime, toAgent } from "./index.ts";

const textChunk = (text: string, more: boolean, last = false): AgentEvent => ({
  type: "artifact",
  artifact: {
    artifactId: "response",
    ...(more ? {} : { name: "response" }),
    parts: [{ kind: "text", text }],
  },
  append: more,
  last,
  join: more,
});

describe("the output of run, in every form", () => {
  test("an async generator streams its strings into one artifact", async () => {
    const events = await outputOf(async function* (task) {
      yield "You said: ";
      yield task.text;
    });
    expect(events).toEqual([textChunk("You said: ", false), textChunk("hi", true)]);
  });

  test("yielded strings and ctx.text go to the same artifact", async () => {
    const events = await outputOf(async function* (_task, ctx) {
      yield ctx.text("a");
      yield "b";
    });
    expect(events).toEqual([textChunk("a", false), textChunk("b", true)]);
  });

  test("a plain generator works like an async one", async () => {
    const events = await outputOf(function* () {
      yield "a";
      yield "b";
    });
    expect(events).toEqual([textChunk("a", false), textChunk("b", true)]);
  });

  test("a returned string is one whole artifact", async () => {
    expect(await outputOf(task => task.text)).toEqual([textChunk("hi", false, true)]);
    expect(await outputOf(async task => task.text)).toEqual([textChunk("hi", false, true)]);
  });

  test("a returned event is output", async () => {
    const events = await outputOf(async (_task, ctx) => ctx.ask("Where to?"));
    expect(events).toMatchObject([{ type: "status", state: "input-required" }]);
  });

  test("a returned array is output in its order, and its last text is marked as last", async () => {
    const events = await outputOf((_task, ctx) => ["a", ctx.data({ b: 1 }), "c"]);
    expect(events[0]).toEqual(textChunk("a", false));
    expect(events[1]).toMatchObject({ type: "artifact", artifact: { artifactId: "data-1" } });
    expect(events[2]).toEqual(textChunk("c", true, true));
  });

  test("the return value of a generator is output, too", async () => {
    const events = await outputOf(async function* (_task, ctx) {
      yield "a";
      return ctx.ask("And now?");
    });
    expect(events).toMatchObject([{ type: "artifact" }, { type: "status", state: "input-required" }]);
  });

  test("an async function may return a generator", async () => {
    async function* words() {
      yield "a";
    }
    expect(await outputOf(async () => words())).toEqual([textChunk("a", false)]);
  });

  test("a function that returns nothing has no output", async () => {
    expect(await outputOf(() => undefined)).toEqual([]);
    expect(await outputOf(async () => {})).toEqual([]);
    expect(await outputOf(() => null as unknown as undefined)).toEqual([]);
  });

  test("empty texts are not output, so that empty chunks of a model cost nothing", async () => {
    const events = await outputOf(async function* (_task, ctx) {
      yield "";
      yield ctx.text("");
      yield ctx.text("a");
      yield "";
    });
    expect(events).toEqual([textChunk("a", false)]);
    expect(await outputOf(() => "")).toEqual([]);
  });

  test("a returned string is a message when the agent replies with messages", async () => {
    const events = await outputOf(() => "hello", "hi", { replies: "message" });
    expect(events).toEqual([
      {
        type: "reply",
        message: {
          messageId: "id-1",
          role: "agent",
          parts: [{ kind: "text", text: "hello" }],
          contextId: "context-1",
        },
      },
    ]);
  });

  test("run keeps its `this`", async () => {
    class Greeter {
      readonly name = "greeter";
      readonly greeting = "Hello ";
      run(): string {
        return this.greeting;
      }
    }
    expect(await new Conversation().addMessage("hi").run(agent(new Greeter()))).toEqual([
      textChunk("Hello ", false, true),
    ]);
  });

  test("the methods of ctx can be destructured", async () => {
    const events = await outputOf(async function* (_task, { text, status, signal, attempt }) {
      yield status("x");
      yield text(`${signal.aborted} ${attempt}`);
    });
    expect(events[1]).toEqual(textChunk("false 1", false));
  });
});

describe("the run ends", () => {
  const ends: readonly (readonly [string, (ctx: Ctx) => AgentEvent])[] = [
    ["ask", ctx => ctx.ask("Where to?")],
    ["reject", ctx => ctx.reject("not today")],
    ["fail", ctx => ctx.fail("it broke")],
    ["reply", ctx => ctx.reply("hello")],
  ];
  test.each(ends)("after ctx.%s, and the generator's finally blocks have run", async (_verb, make) => {
    const went: string[] = [];
    const events = await outputOf(async function* (_task, ctx) {
      try {
        yield make(ctx);
        went.push("on");
      } finally {
        went.push("finally");
      }
    });
    expect(events).toHaveLength(1);
    expect(went).toEqual(["finally"]);
  });

  test("after such an event in a returned array", async () => {
    expect(await outputOf((_task, ctx) => [ctx.ask("?"), "never"])).toHaveLength(1);
  });

  test("when the function throws, with its error", async () => {
    const boom = new Error("boom");
    const broken = async function* (): AsyncGenerator<AgentOutput> {
      yield "a";
      throw boom;
    };
    await expect(outputOf(broken)).rejects.toBe(boom);
    const plain = () => {
      throw boom;
    };
    await expect(outputOf(plain)).rejects.toBe(boom);
    await expect(outputOf(async () => plain())).rejects.toBe(boom);
  });

  test("when the reader stops, after the finally blocks", async () => {
    const went: string[] = [];
    const definition = agent({
      name: "endless",
      async *run() {
        try {
          for (;;) yield "again ";
        } finally {
          await sleep(1);
          went.push("finally");
        }
      },
    });
    let heard = 0;
    for await (const _event of functionRuntime(definition).run(new Conversation().addMessage("hi").turn())) {
      heard += 1;
      if (heard === 3) break;
    }
    expect(heard).toBe(3);
    expect(went).toEqual(["finally"]);
  });

  test("with a warning when the cleanup fails: the output so far stays valid", async () => {
    const conversation = new Conversation().addMessage("hi");
    const events = await conversation.run(
      agent({
        name: "clumsy",
        async *run(_task, ctx) {
          try {
            yield ctx.ask("Where to?");
          } finally {
            // biome-ignore lint/correctness/noUnsafeFinally: it is what is tested.
            throw new Error("not closed");
          }
        },
      }),
    );
    expect(events).toHaveLength(1);
    expect(conversation.logged[0]?.text).toContain("in the cleanup");
  });

  test("when the signal is aborted and the function throws", async () => {
    const conversation = new Conversation().addMessage("hi");
    const running = conversation.run(
      agent({
        name: "sleeper",
        async *run(_task, ctx) {
          yield "a";
          await sleep(60_000, undefined, { signal: ctx.signal });
        },
      }),
    );
    conversation.abort.abort();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("values that are not events throw", () => {
  const wrong: readonly (readonly [string, unknown, RegExp])[] = [
    ["a number", 5, /yielded the number 5$/],
    ["undefined", undefined, /yielded undefined$/],
    ["null", null, /yielded null$/],
    ["false", false, /yielded the boolean false$/],
    ["an array", ["a"], /yielded an array of 1$/],
    ["an object", { text: "a" }, /yielded an object with the keys text$/],
    ["a function", function later() {}, /yielded a function \(later\)$/],
    ["an unknown state", { type: "status", state: "happy" }, /cannot report the state "happy"/],
    [
      "a state of the server's",
      { type: "status", state: "submitted" },
      /cannot report the state "submitted"/,
    ],
    [
      "an artifact without id",
      { type: "artifact", artifact: { parts: ["a"] } },
      /needs an artifact with an artifactId/,
    ],
    [
      "an artifact without parts",
      { type: "artifact", artifact: { artifactId: "a", parts: [] } },
      /at least one part/,
    ],
    ["a message without id", { type: "reply", message: { parts: ["a"] } }, /needs a messageId/],
    ["usage that is no number", { type: "usage", usage: { tokens: "many" } }, /must be numbers/],
  ];
  test.each(wrong)("%s", async (_name, value, message) => {
    const cleaned: boolean[] = [];
    const saying = outputOf(async function* () {
      try {
        yield value as AgentOutput;
      } finally {
        cleaned.push(true);
      }
    });
    await expect(saying).rejects.toThrow(message);
    expect(cleaned).toEqual([true]);
  });

  test("with an error that lists the allowed values", async () => {
    await expect(outputOf(() => 5 as unknown as AgentOutput)).rejects.toThrow(
      /may yield strings and the results of ctx\.text\(\)/,
    );
  });

  test("but a hand-made event is accepted, and gets default members", async () => {
    const events = await outputOf(async function* () {
      yield { type: "artifact", artifact: { artifactId: "own", parts: ["a"] } } as unknown as AgentEvent;
      yield { type: "status", state: "working" };
      yield { type: "usage", usage: { tokens: 3 } };
    });
    expect(events).toEqual([
      {
        type: "artifact",
        artifact: { artifactId: "own", parts: [{ kind: "text", text: "a" }] },
        append: false,
        last: false,
        join: false,
      },
      { type: "status", state: "working" },
      { type: "usage", usage: { tokens: 3 } },
    ]);
  });
});

describe("an event that was created but not yielded", () => {
  const warningsOf = async (run: Parameters<typeof outputOf>[0]) => {
    const conversation = new Conversation().addMessage("hi");
    await conversation.run(agent({ name: "forgetful", run })).catch(() => undefined);
    return conversation.logged.map(entry => entry.text);
  };

  test("is reported once, with its method and the correction", async () => {
    const warnings = await warningsOf(async function* (_task, ctx) {
      for (let i = 0; i < 500; i++) ctx.status("on it");
      ctx.data({});
      yield ctx.text("done");
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/ctx\.status\(\) was called.*write `yield ctx\.status\(…\)`/);
  });

  test("is reported in a function that is no generator, and in one that throws", async () => {
    expect(await warningsOf(async (_task, ctx) => void ctx.text("x"))).toHaveLength(1);
    const throwing = async (_task: unknown, ctx: Ctx) => {
      ctx.text("x");
      throw new Error("boom");
    };
    expect(await warningsOf(throwing)).toHaveLength(1);
  });

  test("is not reported when it is yielded later or in another order", async () => {
    const warnings = await warningsOf(async function* (_task, ctx) {
      const [one, two, three] = [ctx.data(1), ctx.data(2), ctx.data(3)];
      yield three;
      yield one;
      yield two;
      ctx.usage({ tokens: 1 });
    });
    expect(warnings).toEqual([]);
  });
});

test("an agent has a card without empty values, a name, a runtime and the kind of reply", () => {
  const made = toAgent(agent({ name: "plain", replies: "message", run: () => "x" }));
  expect(made.runtime.name).toBe("function");
  expect(made.replies).toBe("message");
  expect(made.card).toEqual({
    name: "plain",
    description: "The agent plain",
    version: "1.0.0",
    inputModes: ["text/plain", "application/json"],
    outputModes: ["text/plain", "application/json"],
    skills: [{ id: "plain", name: "plain", description: "The agent plain", tags: ["a2a"] }],
    extensions: [],
    streaming: true,
    push: true,
    stateTransitionHistory: false,
  });
});
