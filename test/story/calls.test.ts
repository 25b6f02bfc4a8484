import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CallReply } from "../../src/agent/calls.ts";
import type { AgentTask, Ctx } from "../../src/agent/context.ts";
import { type AgentDefinition, agent } from "../../src/agent/definition.ts";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { aborted } from "../support/gate.ts";
import { serve, type TestServer } from "../support/server.ts";
import { Conversation } from "../support/turn.ts";
import { foldText, partsText, stateOf, taskOf, textOf } from "../support/wire.ts";

/** `ctx.call`: agents that call agents. */

let there: TestServer;
let here: TestServer | undefined;
let received: { readonly task: AgentTask; readonly ctx: Ctx }[];

const worker: AgentDefinition = {
  name: "worker",
  async *run(task, ctx) {
    received.push({ task, ctx });
    if (task.turn > 1) return yield ctx.text(`You chose ${task.text}`);
    if (task.text === "ask") return yield ctx.ask("Which one?");
    if (task.text === "fail") return yield ctx.fail("It is broken");
    if (task.text === "wait") return await aborted(ctx.signal);
    yield ctx.text("one ");
    yield ctx.status("half way");
    yield ctx.text(task.text);
  },
};

beforeEach(async () => {
  received = [];
  there = await serve([worker]);
});
afterEach(async () => {
  await here?.stop();
  here = undefined;
  await there.stop();
});

/** The result of a call. */
let replies: CallReply[];
const TRUSTED = { trusted: true };

async function caller(
  run: AgentDefinition["run"],
  settings: Parameters<typeof serve>[1] = {},
): Promise<TestServer> {
  replies = [];
  here = await serve([{ name: "caller", run }], settings);
  return here;
}
const send = async (
  text: string,
  message: object = {},
  headers: Record<string, string> = {},
): Promise<object> =>
  (await rpc((here as TestServer).url, "SendMessage", sendParams(text, message), headers)).body;
const messageText = (body: object): string => partsText(taskOf(body).status.message?.parts);

const asker: AgentDefinition["run"] = async (task, ctx) => {
  replies.push(await ctx.call(there.url, task.text, TRUSTED));
};

describe("a reply", () => {
  it("has the text, the artifacts, the state and the task of the other agent", async () => {
    await caller(asker);
    await send("two");
    const [reply] = replies;
    expect(reply).toMatchObject({ text: "one two", state: "completed", message: null });
    expect(reply?.task?.id).toBe(received[0]?.task.id);
    expect(reply?.artifacts).toEqual([
      { artifactId: "response", name: "response", parts: [{ kind: "text", text: "one two" }] },
    ]);
  });

  it.each([
    ["by its reply", (ctx: Ctx, asked: CallReply) => ctx.call.answer(asked, "this", TRUSTED)],
    [
      "by its id",
      (ctx: Ctx, { task }: CallReply) => ctx.call(there.url, "this", { ...TRUSTED, taskId: task?.id }),
    ],
  ])("has the question of the other agent, and the answer goes to the same task, %s", async (_by, answer) => {
    await caller(async (_task, ctx) => {
      const asked = await ctx.call(there.url, "ask", TRUSTED);
      replies.push(asked, await answer(ctx, asked));
    });
    await send("go");
    expect(replies.map(({ state, text }) => [state, text])).toEqual([
      ["input-required", "Which one?"],
      ["completed", "You chose this"],
    ]);
  });

  it("has the failure of the other agent, which the calling agent handles", async () => {
    await caller(asker);
    expect(stateOf(await send("fail"))).toBe("completed");
    expect(replies[0]).toMatchObject({ state: "failed", text: "It is broken" });
  });
});

it("a stream arrives as it is sent, and has the reply at its end", async () => {
  await caller(async function* (task, ctx) {
    const stream = ctx.call.stream(there.url, task.text, TRUSTED);
    for await (const step of stream)
      yield step.kind === "status" ? ctx.status(step.text) : ctx.text(step.text);
    replies.push(await stream.result);
  });
  const stream = await openStream((here as TestServer).url, "SendStreamingMessage", sendParams("two"));
  const events = await stream.all();
  expect(foldText(events)).toBe("one two");
  expect(JSON.stringify(events)).toContain("half way");
  expect(replies[0]?.text).toBe("one two");
});

it("a caller may stop reading early, also when the run is repeated", async () => {
  const conversation = new Conversation().addMessage("go");
  const run: AgentDefinition["run"] = async function* (_task, ctx) {
    for await (const step of ctx.call.stream(there.url, "two", TRUSTED)) {
      yield ctx.text(step.text.slice(0, 3));
      break;
    }
    yield ctx.text(await ctx.step("then", () => ", enough"));
  };
  const definition = agent({ name: "tested", run });
  for (const _attempt of [1, 2]) {
    const events = await conversation.run(definition);
    const texts = events.map(event => (event.type === "artifact" ? partsText(event.artifact.parts) : ""));
    expect(texts.join("")).toBe("one, enough");
    await until(() => conversation.steps.some(note => note.name === "call 1 answer"));
  }
  expect(received.length).toBe(1);
});

describe("a conversation", () => {
  it("is separate for each context and each address, unless the author chooses another", async () => {
    await caller(async (task, ctx) => {
      await ctx.call(there.url, "a", TRUSTED);
      if (task.text === "anew") await ctx.call(there.url, "b", { ...TRUSTED, contextId: "new" });
    });
    await send("first", { contextId: "mine" });
    await send("second", { contextId: "mine" });
    await send("third", { contextId: "other" });
    await send("anew", { contextId: "mine" });
    const contexts = received.map(({ task }) => task.contextId);
    expect(contexts[1]).toBe(contexts[0]);
    expect(contexts[2]).not.toBe(contexts[0]);
    expect(contexts[3]).toBe(contexts[0]);
    expect(contexts[4]).not.toBe(contexts[0]);
  });

  it("has the thread and the trace of the calling task, and one more hop", async () => {
    await caller(asker);
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    await send("two", { contextId: "mine" }, { traceparent, "dragoman-hops": "2" });
    const [first] = received;
    expect(first?.ctx.trace?.traceparent).toContain("4bf92f3577b34da6a3ce929d0e0e4736");
    expect([first?.task.thread, first?.ctx.hops]).toEqual(["mine", 3]);
  });
});

describe("an address", () => {
  const plain: AgentDefinition["run"] = async (task, ctx) => {
    try {
      replies.push(await ctx.call(task.text, "two"));
    } catch (error) {
      return ctx.fail((error as Error).message);
    }
  };

  it("of a private network is not called, and the error has the remedy", async () => {
    await caller(plain);
    const body = await send(there.url);
    expect(messageText(body)).toContain(
      "it is a private address. Add it to the option callAllow; or call it with",
    );
    expect(received).toEqual([]);
  });

  it("of a private network is called if the server's callAllow names it", async () => {
    await caller(plain, { callAllow: ["127.0.0.1"] });
    await send(there.url);
    expect(replies[0]?.text).toBe("one two");
  });

  it("may be a card, or an endpoint with its dialect", async () => {
    const card = await (await fetch(`${there.url}/.well-known/agent-card.json`)).json();
    await caller(async (_task, ctx) => {
      replies.push(await ctx.call(card as never, "two", TRUSTED));
      replies.push(await ctx.call(`${there.url}/a2a/worker`, "two", { ...TRUSTED, dialect: "langgraph" }));
      replies.push(await ctx.call(new URL(there.url), [{ kind: "text", text: "two" }], TRUSTED));
    });
    await send("go");
    expect(replies.map(reply => reply.text)).toEqual(["one two", "one two", "one two"]);
  });

  it("that is invalid throws at once", async () => {
    await caller(async (_task, ctx) => ctx.call(7 as never, "two").then(() => undefined));
    await send("go");
    const why = here?.log.lines.map(line => String(line.facts.err)).join();
    expect(why).toContain("ctx.call needs the name of an agent, a URL");
  });
});

describe("an end", () => {
  it("a cancel is passed on to the other agent", async () => {
    await caller(asker);
    const atOnce = { configuration: { returnImmediately: true } };
    const { body } = await rpc((here as TestServer).url, "SendMessage", { ...sendParams("wait"), ...atOnce });
    await until(() => received.length === 1);
    await rpc((here as TestServer).url, "CancelTask", { id: taskOf(body).id });
    await until(() => received[0]?.ctx.signal.aborted === true);
  });

  it("a timeout cancels the task of the other agent and throws", async () => {
    await caller(async (task, ctx) => {
      const options = { ...TRUSTED, timeoutMs: Number(task.text) };
      const error = await ctx.call(there.url, "wait", options).catch(one => one);
      return ctx.text(error.message);
    });
    // On a busy machine, where the other agent has not started by then, the timeout grows.
    for (let ms = 50; received.length === 0; ms *= 2)
      expect(textOf(await send(String(ms)))).toBe(`The other agent did not finish in ${ms} ms`);
    await until(() => received[0]?.ctx.signal.aborted === true);
  });
});

describe("a repeated run", () => {
  const attempt = (conversation: Conversation, run: AgentDefinition["run"]) =>
    conversation.run(agent({ name: "tested", run }));

  it("gets the recorded reply, without a call", async () => {
    const conversation = new Conversation().addMessage("go");
    const run: AgentDefinition["run"] = async function* (_task, ctx) {
      for await (const step of ctx.call.stream(there.url, "two", TRUSTED)) yield ctx.text(step.text);
      const [a, b] = await Promise.all([
        ctx.call(there.url, "a", TRUSTED),
        ctx.call(there.url, "b", TRUSTED),
      ]);
      yield ctx.text(`, ${a.text}, ${b.text}`);
    };
    await attempt(conversation, run);
    expect(received.length).toBe(3);
    const again = await attempt(conversation, run);
    expect(received.length).toBe(3);
    const texts = again.map(event => (event.type === "artifact" ? partsText(event.artifact.parts) : ""));
    expect(texts.join("")).toBe("one two, one a, one b");
  });

  it("resumes a call that had not ended", async () => {
    const conversation = new Conversation().addMessage("go");
    const run: AgentDefinition["run"] = async (_task, ctx) =>
      ctx.text((await ctx.call(there.url, "two", TRUSTED)).text);
    await attempt(conversation, run);
    // The message had arrived, and nothing else was recorded.
    conversation.steps = conversation.steps.filter(note => note.name === "call 1");
    const again = await attempt(conversation, run);
    expect(received.length).toBe(1);
    expect(again.map(event => event.type === "artifact" && partsText(event.artifact.parts))).toEqual([
      "one two",
    ]);
  });
});
