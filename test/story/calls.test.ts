import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CallReply } from "../../src/agent/calls.ts";
import type { AgentTask, Ctx } from "../../src/agent/context.ts";
import { type AgentDefinition, agent } from "../../src/agent/definition.ts";
import { openStream, rpc, said, until } from "../support/client.ts";
import { aborted } from "../support/gate.ts";
import { serve, type TestServer } from "../support/server.ts";
import { Conversation } from "../support/turn.ts";
import { foldText, partsText, stateOf, taskOf, textOf } from "../support/wire.ts";

/** `ctx.call`: agents that call agents. */

let there: TestServer;
let here: TestServer | undefined;
let heard: { readonly task: AgentTask; readonly ctx: Ctx }[];

const worker: AgentDefinition = {
  name: "worker",
  async *run(task, ctx) {
    heard.push({ task, ctx });
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
  heard = [];
  there = await serve([worker]);
});
afterEach(async () => {
  await here?.stop();
  here = undefined;
  await there.stop();
});

/** What a call gave. */
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
): Promise<object> => (await rpc((here as TestServer).url, "SendMessage", said(text, message), headers)).body;
const wordsOf = (body: object): string => partsText(taskOf(body).status.message?.parts);

const asker: AgentDefinition["run"] = async (task, ctx) => {
  replies.push(await ctx.call(there.url, task.text, TRUSTED));
};

describe("a reply", () => {
  it("has the words, the artifacts, the state and the task of the other", async () => {
    await caller(asker);
    await send("two");
    const [reply] = replies;
    expect(reply).toMatchObject({ text: "one two", state: "completed", message: null });
    expect(reply?.task?.id).toBe(heard[0]?.task.id);
    expect(reply?.artifacts).toEqual([
      { artifactId: "response", name: "response", parts: [{ kind: "text", text: "one two" }] },
    ]);
  });

  it("tells that the other asks, and the answer goes to the same task", async () => {
    await caller(async (_task, ctx) => {
      const asked = await ctx.call(there.url, "ask", TRUSTED);
      replies.push(asked);
      const taskId = asked.task?.id;
      replies.push(await ctx.call(there.url, "this", { ...TRUSTED, taskId }));
    });
    await send("go");
    expect(replies.map(({ state, text }) => [state, text])).toEqual([
      ["input-required", "Which one?"],
      ["completed", "You chose this"],
    ]);
  });

  it("tells that the other failed: what to make of it is the author's affair", async () => {
    await caller(asker);
    expect(stateOf(await send("fail"))).toBe("completed");
    expect(replies[0]).toMatchObject({ state: "failed", text: "It is broken" });
  });
});

it("a stream is heard as it comes, and has the reply at its end", async () => {
  await caller(async function* (task, ctx) {
    const stream = ctx.call.stream(there.url, task.text, TRUSTED);
    for await (const step of stream)
      yield step.kind === "status" ? ctx.status(step.text) : ctx.text(step.text);
    replies.push(await stream.result);
  });
  const stream = await openStream((here as TestServer).url, "SendStreamingMessage", said("two"));
  const events = await stream.all();
  expect(foldText(events)).toBe("one two");
  expect(JSON.stringify(events)).toContain("half way");
  expect(replies[0]?.text).toBe("one two");
});

it("whoever has heard enough may go, also when the run begins anew", async () => {
  const conversation = new Conversation().said("go");
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
    const words = events.map(event => (event.type === "artifact" ? partsText(event.artifact.parts) : ""));
    expect(words.join("")).toBe("one, enough");
    await until(() => conversation.notes.some(note => note.name === "call 1 answer"));
  }
  expect(heard.length).toBe(1);
});

describe("a conversation", () => {
  it("is one for each of our contexts and each address, unless the author wants another", async () => {
    await caller(async (task, ctx) => {
      await ctx.call(there.url, "a", TRUSTED);
      if (task.text === "anew") await ctx.call(there.url, "b", { ...TRUSTED, contextId: "new" });
    });
    await send("first", { contextId: "mine" });
    await send("second", { contextId: "mine" });
    await send("third", { contextId: "other" });
    await send("anew", { contextId: "mine" });
    const contexts = heard.map(({ task }) => task.contextId);
    expect(contexts[1]).toBe(contexts[0]);
    expect(contexts[2]).not.toBe(contexts[0]);
    expect(contexts[3]).toBe(contexts[0]);
    expect(contexts[4]).not.toBe(contexts[0]);
  });

  it("has the thread and the trace of ours, and one more hop", async () => {
    await caller(asker);
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    await send("two", { contextId: "mine" }, { traceparent, "dragoman-hops": "2" });
    const [first] = heard;
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

  it("inside is not called for a caller, and the author is told what to do", async () => {
    await caller(plain);
    const body = await send(there.url);
    expect(wordsOf(body)).toContain(
      "it is a private address. Add it to the option callAllow; or call it with",
    );
    expect(heard).toEqual([]);
  });

  it("inside is called if the server's callAllow names it", async () => {
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

  it("that is none is told to the author at once", async () => {
    await caller(async (_task, ctx) => ctx.call(7 as never, "two").then(() => undefined));
    await send("go");
    const why = here?.log.lines.map(line => String(line.facts.err)).join();
    expect(why).toContain("ctx.call needs a URL");
  });
});

describe("an end", () => {
  it("a cancel goes on to the other", async () => {
    await caller(asker);
    const atOnce = { configuration: { returnImmediately: true } };
    const { body } = await rpc((here as TestServer).url, "SendMessage", { ...said("wait"), ...atOnce });
    await until(() => heard.length === 1);
    await rpc((here as TestServer).url, "CancelTask", { id: taskOf(body).id });
    await until(() => heard[0]?.ctx.signal.aborted === true);
  });

  it("time that is over ends the other's task and throws", async () => {
    await caller(async (task, ctx) => {
      const patience = { ...TRUSTED, timeoutMs: Number(task.text) };
      const error = await ctx.call(there.url, "wait", patience).catch(one => one);
      return ctx.text(error.message);
    });
    // A machine that is so busy that the other has not begun by then gets more time.
    for (let ms = 50; heard.length === 0; ms *= 2)
      expect(textOf(await send(String(ms)))).toBe(`The other agent did not finish in ${ms} ms`);
    await until(() => heard[0]?.ctx.signal.aborted === true);
  });
});

describe("a run that begins anew", () => {
  const attempt = (conversation: Conversation, run: AgentDefinition["run"]) =>
    conversation.run(agent({ name: "tested", run }));

  it("gets what was answered, without a call", async () => {
    const conversation = new Conversation().said("go");
    const run: AgentDefinition["run"] = async function* (_task, ctx) {
      for await (const step of ctx.call.stream(there.url, "two", TRUSTED)) yield ctx.text(step.text);
      const [a, b] = await Promise.all([
        ctx.call(there.url, "a", TRUSTED),
        ctx.call(there.url, "b", TRUSTED),
      ]);
      yield ctx.text(`, ${a.text}, ${b.text}`);
    };
    await attempt(conversation, run);
    expect(heard.length).toBe(3);
    const again = await attempt(conversation, run);
    expect(heard.length).toBe(3);
    const words = again.map(event => (event.type === "artifact" ? partsText(event.artifact.parts) : ""));
    expect(words.join("")).toBe("one two, one a, one b");
  });

  it("takes up a call that was not at its end", async () => {
    const conversation = new Conversation().said("go");
    const run: AgentDefinition["run"] = async (_task, ctx) =>
      ctx.text((await ctx.call(there.url, "two", TRUSTED)).text);
    await attempt(conversation, run);
    // The message had arrived, and nothing else was on record.
    conversation.notes = conversation.notes.filter(note => note.name === "call 1");
    const again = await attempt(conversation, run);
    expect(heard.length).toBe(1);
    expect(again.map(event => event.type === "artifact" && partsText(event.artifact.parts))).toEqual([
      "one two",
    ]);
  });
});
