import { afterEach, expect, it } from "vitest";
import type { CallReply } from "../../src/agent/calls.ts";
import type { AgentTask, Ctx } from "../../src/agent/context.ts";
import { type AgentDefinition, agent } from "../../src/agent/definition.ts";
import type { ServerOptions } from "../../src/index.ts";
import {
  createTestServer,
  type TestCaller,
  type TestServer,
  type TestTask,
  taskMatchers,
} from "../../src/testing/index.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { aborted } from "../support/gate.ts";
import { serve } from "../support/server.ts";
import "../support/task-matchers.ts";

expect.extend(taskMatchers);

/** `ctx.call` with the name of an agent of the same server. test/chaos/local-calls-kill.test.ts has the kills. */

let server: TestServer;
let seen: { readonly task: AgentTask; readonly ctx: Ctx }[];
afterEach(() => server.close());

const critic: AgentDefinition = {
  name: "critic",
  async *run(task, ctx) {
    seen.push({ task, ctx });
    ctx.usage({ tokens: 3 });
    if (task.turn > 1) return yield ctx.text(`You chose ${task.text}`);
    if (task.text === "ask") return yield ctx.ask("Which one?");
    if (task.text === "fail") return yield ctx.fail("It is broken");
    if (task.text === "wait") return await aborted(ctx.signal);
    if (task.text === "loop") return yield ctx.text((await ctx.call("critic", "loop")).text);
    yield ctx.text("one ");
    yield ctx.status("half way");
    yield ctx.text(task.text);
  },
};
const replier: AgentDefinition = { name: "replier", replies: "message", run: task => `re: ${task.text}` };
const typed = agent({
  name: "typed",
  input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  run: (task, ctx) => ctx.data({ n: task.input.n + 1 }),
});
const inner: AgentDefinition = { name: "inner", access: "internal", run: task => `inner: ${task.text}` };
const secret: AgentDefinition = { name: "secret", tenants: ["other"], run: () => "secret" };

async function start(run: AgentDefinition["run"], settings: ServerOptions = {}): Promise<void> {
  seen = [];
  const agents = [{ name: "chief", run }, critic, replier, typed, secret, inner];
  server = await createTestServer({ agents, ...settings });
}
const callerOf = (name: string): TestCaller => server.caller({ agent: name });
/** The task that the first call began. */
const calledTask = (): Promise<TestTask> => callerOf("critic").task(seen[0]?.task.id ?? "");

it("returns text, artifacts and state; the called task belongs to the same caller", async () => {
  let reply: CallReply | undefined;
  await start(async (task, ctx) => {
    reply = await ctx.call("critic", task.text);
    return reply.text;
  });
  expect(await server.send("two")).toComplete("one two");
  expect(reply).toMatchObject({ state: "completed", message: null, usage: { tokens: 3 }, to: "critic" });
  expect(reply?.artifacts).toHaveLength(1);
  expect(await callerOf("critic").task(reply?.task?.id ?? "")).toComplete();
});

it("streams the output of the other agent, step by step", async () => {
  const steps: string[] = [];
  await start(async (task, ctx) => {
    const stream = ctx.call.stream("critic", task.text);
    for await (const step of stream) steps.push(`${step.kind} ${step.text}`);
    return (await stream.result).text;
  });
  await server.send("two");
  expect(steps).toEqual(["artifact one ", "status half way", "artifact two"]);
});

it("answers a question of the other agent, in the same task", async () => {
  const replies: CallReply[] = [];
  await start(async (_task, ctx) => {
    const asked = await ctx.call("critic", "ask");
    replies.push(asked, await ctx.call.answer(asked, "this one"));
  });
  await server.send("go");
  const [asked, answered] = replies;
  expect(asked).toMatchObject({ state: "input-required", text: "Which one?" });
  expect(answered).toMatchObject({ state: "completed", text: "You chose this one", usage: { tokens: 3 } });
  expect(answered?.task?.id).toBe(asked?.task?.id);
});

it("keeps one context with each agent, unless a new one is wanted", async () => {
  await start(async (_task, ctx) => {
    await ctx.call("critic", "a");
    await ctx.call("critic", "b");
    await ctx.call("critic", "c", { contextId: "new" });
  });
  await server.send("go");
  const [a, b, c] = seen.map(({ task }) => task.contextId);
  expect([a === b, a === c, seen.map(({ task }) => task.text)]).toEqual([true, false, ["a", "b", "c"]]);
});

const spending: AgentDefinition["run"] = async (task, ctx) => {
  ctx.usage({ tokens: 1 });
  await ctx.call("critic", task.text);
};

it("passes on trace, thread and hops, and adds up the usage once", async () => {
  await start(spending);
  const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const { usage } = await server.caller({ headers: { traceparent: trace } }).send("x");
  const [{ ctx }] = seen as [(typeof seen)[0]];
  expect([ctx.trace?.traceparent.slice(0, 35), ctx.hops]).toEqual([trace.slice(0, 35), 1]);
  expect(usage).toEqual({ tokens: 4 });
});

it("the metrics have the usage of both agents, each once", async () => {
  const { url, stop } = await serve([{ name: "chief", run: spending }, critic]);
  await rpc(url, "SendMessage", sendParams("x"));
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const counted = metrics
    .match(/^dragoman_usage_total.* \d+$/gm)
    ?.map(line => line.replace(/^.*agent="(\w+)".* /, "$1 "));
  expect(counted?.toSorted()).toEqual(["chief 1", "critic 3"]);
  await stop();
});

it("cancels the called task when the caller's task is canceled", async () => {
  await start(async (_task, ctx) => (await ctx.call("critic", "wait")).text);
  const task = await server.start("go");
  await until(() => seen.length === 1);
  await task.cancel();
  expect(await (await calledTask()).settled()).toBeInState("canceled");
});

it("cancels it at the deadline, and throws", async () => {
  await start(async (_task, ctx) => {
    const error = await ctx.call("critic", "wait", { timeoutMs: 20_000 }).catch((one: Error) => one);
    return error instanceof Error ? error.message : "no error";
  });
  const task = await server.start("go");
  await until(() => seen.length === 1);
  await server.clock.advance("20s");
  expect(await task.settled()).toComplete("The other agent did not finish in 20000 ms");
  expect(await (await calledTask()).settled()).toBeInState("canceled");
});

it("ends a loop of calls by counting, as across servers", async () => {
  await start(async (_task, ctx) => (await ctx.call("critic", "loop")).text);
  expect(await server.send("go")).toComplete();
  expect(seen.length).toBe(8);
});

it("has the result of replies and failures, and throws what is refused", async () => {
  const texts: string[] = [];
  await start(async (_task, ctx) => {
    const attempt = async (to: string, content: Parameters<Ctx["call"]>[1]) => {
      const result = await ctx.call(to, content).catch((error: Error) => error);
      texts.push(result instanceof Error ? result.message : `${result.state}: ${result.text}`);
    };
    await attempt("replier", "hi");
    await attempt("critic", "fail");
    await attempt("typed", { kind: "data", data: { n: 1 } });
    await attempt("typed", { kind: "data", data: { n: "1" } });
    await attempt("secret", "hi");
    await attempt("nobody", "hi");
  });
  await server.send("go");
  expect(texts).toEqual([
    "completed: re: hi",
    "failed: It is broken",
    "completed: ",
    'The agent "typed" refused the call: message.parts[0].data.n: must be number, got string',
    expect.stringContaining('The agent "secret" refused the call: Agent "secret" not found'),
    expect.stringContaining('The agent "nobody" refused the call: Agent "nobody" not found; available: '),
  ]);
});

it("callers leave their place to those whom they call, also where only one run is allowed", async () => {
  await start(async (task, ctx) => (await ctx.call("critic", task.text)).text, { runsMax: 1 });
  const all = await Promise.all(["a", "b", "c"].map(text => server.send(text)));
  expect(all.map(({ text }) => text)).toEqual(["one a", "one b", "one c"]);
});

it("calls an internal agent, which does not exist for callers: no card, no entry in lists, no task", async () => {
  let called = "";
  await start(async (task, ctx) => {
    const reply = await ctx.call("inner", task.text);
    called = reply.task?.id ?? "";
    return reply.text;
  });
  expect(await server.send("two")).toComplete("inner: two");
  const read = async (path: string, init: RequestInit = {}): Promise<string> => {
    const response = await server.fetch(`http://localhost/agents${path}`, init);
    return `${response.status} ${await response.text()}`;
  };
  expect(await read("/inner/.well-known/agent-card.json")).toMatch(/^404 /);
  expect(await read("")).not.toContain("inner");
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const call = (method: string, params: object) =>
    read("/inner", {
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  expect(await call("SendMessage", sendParams("hi"))).toMatch(/"error":.*inner/);
  expect(await call("GetTask", { id: called })).toMatch(/"error":/);
});
