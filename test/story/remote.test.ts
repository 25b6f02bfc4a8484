import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentTask, Ctx } from "../../src/agent/context.ts";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { type RemoteOptions, remote } from "../../src/runtime/remote/index.ts";
import { openStream, rpc, said, until } from "../support/client.ts";
import { aborted, createGate } from "../support/gate.ts";
import { type Middleman, startProxy } from "../support/proxy.ts";
import { serve, type TestServer } from "../support/server.ts";
import { foldText, partsText, plotOf, stateOf, taskOf, textOf } from "../support/wire.ts";

/** One server stands for an agent of another: everything passes, in both directions. */

let there: TestServer;
let here: TestServer;
let proxy: Middleman;
/** What the agent elsewhere was told and given. */
let heard: { readonly task: AgentTask; readonly ctx: Ctx }[];

beforeEach(async () => {
  heard = [];
  proxy = await startProxy();
});
afterEach(async () => {
  await here?.stop();
  await there?.stop();
  await proxy.close();
});

async function stage(
  run: AgentDefinition["run"],
  options: Partial<RemoteOptions> = {},
  more: Partial<AgentDefinition> = {},
): Promise<void> {
  const worker: AgentDefinition = {
    name: "worker",
    inputModes: ["*/*"],
    ...more,
    run(task, ctx) {
      heard.push({ task, ctx });
      return run(task, ctx);
    },
  };
  there = await serve([worker], { publicUrl: proxy.url });
  proxy.target = there.url;
  here = await serve([remote({ name: "gate", card: proxy.url, ...options })]);
}

const call = async (method: string, params: object, headers: Record<string, string> = {}): Promise<object> =>
  (await rpc(here.url, method, params, headers)).body;
const send = (text: string, message: object = {}, more: object = {}): Promise<object> =>
  call("SendMessage", { ...said(text, message), ...more });
const wordsOf = (body: object): string => partsText(taskOf(body).status.message?.parts);

describe("what passes", () => {
  it("a stream, chunk by chunk, with progress in between", async () => {
    const gate = createGate();
    await stage(async function* (_task, ctx) {
      yield ctx.text("one ");
      yield ctx.status("half way");
      await gate.opened;
      yield ctx.text("two");
    });
    const stream = await openStream(here.url, "SendStreamingMessage", said("go"));
    const events = [];
    for (let event = await stream.next(); event; event = await stream.next()) {
      events.push(event);
      // What was said there is heard here before the other has come to its end.
      if (plotOf(event).text === "half way") gate.open();
    }
    const plots = events.map(plotOf).filter(plot => plot.text !== "");
    expect(plots.map(({ what, text, append }) => [what, text, append])).toEqual([
      ["artifact", "one ", false],
      ["status working", "half way", undefined],
      ["artifact", "two", true],
    ]);
    expect(foldText(events)).toBe("one two");
  });

  it("files, data and metadata, unchanged both ways", async () => {
    await stage(async function* (task, ctx) {
      const { parts } = task.message;
      yield ctx.artifact({ artifactId: "mirror", name: "mirror", parts, metadata: { a: 1 }, last: true });
    });
    const parts = [
      { text: "hello", metadata: { lang: "en" } },
      { raw: "AAEC", filename: "a.bin", mediaType: "application/octet-stream" },
      { url: "https://x.example/f.pdf", filename: "f.pdf", mediaType: "application/pdf" },
      { data: { n: [1, null] } },
    ];
    const body = await call("SendMessage", {
      message: { messageId: "m", role: "ROLE_USER", parts, metadata: { b: 2 } },
    });
    expect(taskOf(body).artifacts).toEqual([
      { artifactId: "mirror", name: "mirror", parts, metadata: { a: 1 } },
    ]);
    expect(heard[0]?.task.message.metadata).toEqual({ b: 2 });
  });

  it("a bare message stays one", async () => {
    await stage((task, ctx) => ctx.reply(`re: ${task.text}`), {}, { replies: "message" });
    const { result } = (await send("hi")) as { result: { message: { parts: unknown[]; contextId: string } } };
    expect(result.message.parts).toEqual([{ text: "re: hi" }]);
    // The next message is heard in the same conversation.
    await send("again", { contextId: result.message.contextId });
    expect(heard[1]?.task.contextId).toBe(heard[0]?.task.contextId);
  });

  it.each([
    ["failed", (ctx: Ctx) => ctx.fail("It is broken")],
    ["rejected", (ctx: Ctx) => ctx.reject("Not here")],
  ] as const)("the end: %s, with its words", async (state, end) => {
    await stage((_task, ctx) => end(ctx));
    const body = await send("go");
    expect([stateOf(body), wordsOf(body)]).toEqual([state, state === "failed" ? "It is broken" : "Not here"]);
  });

  it("a task that somebody cancels there is canceled here", async () => {
    await stage(async (_task, ctx) => aborted(ctx.signal));
    const answer = send("go");
    await until(() => heard.length === 1);
    // A run may begin before its task is committed, and then there is nothing to cancel yet.
    const id = heard[0]?.task.id;
    await until(async () => stateOf((await rpc(there.url, "GetTask", { id })).body) === "working");
    await rpc(there.url, "CancelTask", { id });
    expect(stateOf(await answer)).toBe("canceled");
  });

  it("a cancel, and what was said before it stays", async () => {
    await stage(async function* (_task, ctx) {
      yield ctx.text("begun");
      await aborted(ctx.signal);
    });
    const { id } = taskOf(await send("go", {}, { configuration: { returnImmediately: true } }));
    await until(async () => textOf(await call("GetTask", { id })) === "begun");
    expect(stateOf(await call("CancelTask", { id }))).toBe("canceled");
    await until(async () => {
      const { body } = await rpc(there.url, "GetTask", { id: heard[0]?.task.id });
      return stateOf(body) === "canceled";
    });
    expect(textOf(await call("GetTask", { id }))).toBe("begun");
  });

  it("a question comes up, and its answer goes down to the same task", async () => {
    await stage((task, ctx) =>
      task.turn === 1 ? ctx.ask("Which one?") : ctx.text(`You chose ${task.text}`),
    );
    const asked = await send("go");
    expect([stateOf(asked), wordsOf(asked)]).toEqual(["input-required", "Which one?"]);
    const answered = await send("this", { taskId: taskOf(asked).id });
    expect([stateOf(answered), textOf(answered)]).toEqual(["completed", "You chose this"]);
    expect(heard[1]?.task.id).toBe(heard[0]?.task.id);
  });

  it("several questions at once, and their answers", async () => {
    await stage((task, ctx) =>
      task.turn === 1
        ? ctx.askAll({ a: "First?", b: "Second?" })
        : ctx.text(`${task.answers.a} ${task.answers.b}`),
    );
    const asked = await send("go");
    expect(stateOf(asked)).toBe("input-required");
    const resume = [
      { id: "a", value: "one" },
      { id: "b", value: "two" },
    ];
    const parts = [{ data: { resume } }];
    const message = { messageId: "m2", role: "ROLE_USER", parts, taskId: taskOf(asked).id };
    expect(textOf(await call("SendMessage", { message }))).toBe("one two");
  });

  it("a wish for credentials; if they came in another way, the answer finds the task where it is", async () => {
    await stage((task, ctx) =>
      task.turn === 1
        ? {
            type: "status",
            state: "auth-required",
            message: { ...task.message, messageId: "a", parts: [{ kind: "text", text: "Log in" }] },
          }
        : ctx.text(`as ${task.text}`),
    );
    const asked = await send("go");
    expect([stateOf(asked), wordsOf(asked)]).toEqual(["auth-required", "Log in"]);
    // Somebody answers there.
    const id = heard[0]?.task.id;
    await rpc(there.url, "SendMessage", said("somebody", { taskId: id }));
    const body = await send("done", { taskId: taskOf(asked).id });
    expect([stateOf(body), textOf(body), heard.length]).toEqual(["completed", "as somebody", 2]);
  });

  it("the place in a trace, the thread, the metadata of the call; each message under a name of its own", async () => {
    await stage((_task, ctx) => ctx.text("ok"));
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const headers = { traceparent, tracestate: "v=1", baggage: "user=7" };
    await call(
      "SendMessage",
      { ...said("go"), metadata: { thread_id: "thread-1", colour: "blue" } },
      headers,
    );
    const [first] = heard;
    expect(first?.ctx.trace?.traceparent).toContain("4bf92f3577b34da6a3ce929d0e0e4736");
    expect(first?.ctx.trace).toMatchObject({ tracestate: "v=1", baggage: "user=7" });
    expect([first?.task.thread, first?.task.metadata.colour, first?.ctx.hops]).toEqual([
      "thread-1",
      "blue",
      1,
    ]);
    const { headers: sent, body } = proxy.calls.findLast(one =>
      one.body.includes("go"),
    ) as (typeof proxy.calls)[0];
    expect(sent["idempotency-key"]).toBe(JSON.parse(body).params.message.messageId);
  });
});

describe("what goes wrong", () => {
  it("a stream that breaks again and again is taken up where it was, and nothing is said twice", async () => {
    const count = 40;
    await stage(async function* (_task, ctx) {
      for (let i = 0; i < count; i++) {
        yield ctx.text(`${i} `);
        await new Promise(resolve => setTimeout(resolve, 5));
      }
    });
    const stream = await openStream(here.url, "SendStreamingMessage", said("go"));
    const events = [];
    for (let event = await stream.next(); event; event = await stream.next()) {
      events.push(event);
      if (events.length === 8 || events.length === 16) proxy.cut();
    }
    const whole = Array.from({ length: count }, (_, i) => `${i} `).join("");
    expect(foldText(events)).toBe(whole);
    expect(plotOf(events.at(-1) as (typeof events)[0]).what).toBe("status completed");
    expect(proxy.calls.filter(one => one.headers["last-event-id"]).length).toBeGreaterThan(0);
    expect(heard.length).toBe(1);
  });

  it("a message that may have arrived is sent again under the same name, and taken once", async () => {
    await stage((_task, ctx) => ctx.text("ok"));
    let cuts = 0;
    proxy.instead = body => {
      if (!body.includes('"go"') || cuts++ > 0) return false;
      // It arrives, and nobody hears the answer.
      void fetch(there.url, { method: "POST", headers: proxy.calls.at(-1)?.headers as never, body }).then(
        () => proxy.cut(),
      );
      return true;
    };
    expect(textOf(await send("go"))).toBe("ok");
    expect([cuts > 1, heard.length]).toEqual([true, 1]);
  });

  it("a server that is not there, and then is", async () => {
    await stage((_task, ctx) => ctx.text("ok"));
    let refused = 0;
    proxy.instead = (body, response) => {
      if (!body.includes('"go"') || refused++ > 1) return false;
      response.writeHead(503, { "retry-after": "0" }).end();
      return true;
    };
    expect(textOf(await send("go"))).toBe("ok");
    expect(refused).toBe(3);
  });

  it("what the other refuses is told to our caller in its words", async () => {
    await stage((_task, ctx) => ctx.text("ok"), { inputModes: ["*/*"] }, { inputModes: ["text/plain"] });
    const parts = [{ raw: "AAEC", mediaType: "image/png" }];
    const body = await call("SendMessage", { message: { messageId: "m", role: "ROLE_USER", parts } });
    expect(stateOf(body)).toBe("rejected");
    expect(wordsOf(body)).toContain("the agent accepts text/plain");
    expect(wordsOf(body)).not.toContain("127.0.0.1");
  });

  it("time that is over ends the task here and there", async () => {
    // A machine that is so busy that the other has not begun by then gets more time.
    for (let timeoutMs = 100; heard.length === 0; timeoutMs *= 2) {
      await Promise.all([here?.stop(), there?.stop()]);
      await stage(async (_task, ctx) => aborted(ctx.signal), { timeoutMs });
      const body = await send("go");
      expect([stateOf(body), wordsOf(body)]).toEqual([
        "failed",
        `The other agent did not finish in ${timeoutMs} ms`,
      ]);
    }
    await until(() => heard[0]?.ctx.signal.aborted === true);
  });
});
