import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentTask, Ctx } from "../../src/agent/context.ts";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { type RemoteOptions, remote } from "../../src/runtime/remote/index.ts";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { aborted, createGate } from "../support/gate.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { serve, type TestServer } from "../support/server.ts";
import { foldText, partsText, stateOf, summaryOf, taskOf, textOf } from "../support/wire.ts";

/** One server is a proxy for an agent of another: everything is forwarded, in both directions. */

let there: TestServer;
let here: TestServer;
let proxy: TestProxy;
/** The messages that the remote agent received. */
let received: { readonly task: AgentTask; readonly ctx: Ctx }[];

beforeEach(async () => {
  received = [];
  proxy = await startProxy();
});
afterEach(async () => {
  await here?.stop();
  await there?.stop();
  await proxy.close();
});

async function startBoth(
  run: AgentDefinition["run"],
  options: Partial<RemoteOptions> = {},
  more: Partial<AgentDefinition> = {},
): Promise<void> {
  const worker: AgentDefinition = {
    name: "worker",
    inputModes: ["*/*"],
    ...more,
    run(task, ctx) {
      received.push({ task, ctx });
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
  call("SendMessage", { ...sendParams(text, message), ...more });
const messageText = (body: object): string => partsText(taskOf(body).status.message?.parts);

describe("forwarded unchanged", () => {
  it("a stream, chunk by chunk, with progress in between", async () => {
    const gate = createGate();
    await startBoth(async function* (_task, ctx) {
      yield ctx.text("one ");
      yield ctx.status("half way");
      await gate.opened;
      yield ctx.text("two");
    });
    const stream = await openStream(here.url, "SendStreamingMessage", sendParams("go"));
    const events = [];
    for (let event = await stream.next(); event; event = await stream.next()) {
      events.push(event);
      // Output of the remote agent is read here before the remote task has ended.
      if (summaryOf(event).text === "half way") gate.open();
    }
    const summaries = events.map(summaryOf).filter(summary => summary.text !== "");
    expect(summaries.map(({ what, text, append }) => [what, text, append])).toEqual([
      ["artifact", "one ", false],
      ["status working", "half way", undefined],
      ["artifact", "two", true],
    ]);
    expect(foldText(events)).toBe("one two");
  });

  it("files, data and metadata, unchanged both ways", async () => {
    await startBoth(async function* (task, ctx) {
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
    expect(received[0]?.task.message.metadata).toEqual({ b: 2 });
  });

  it("a bare message", async () => {
    await startBoth((task, ctx) => ctx.reply(`re: ${task.text}`), {}, { replies: "message" });
    const { result } = (await send("hi")) as { result: { message: { parts: unknown[]; contextId: string } } };
    expect(result.message.parts).toEqual([{ text: "re: hi" }]);
    // The next message arrives in the same conversation.
    await send("again", { contextId: result.message.contextId });
    expect(received[1]?.task.contextId).toBe(received[0]?.task.contextId);
  });

  it.each([
    ["failed", (ctx: Ctx) => ctx.fail("It is broken")],
    ["rejected", (ctx: Ctx) => ctx.reject("Not here")],
  ] as const)("the end: %s, with its message", async (state, end) => {
    await startBoth((_task, ctx) => end(ctx));
    const body = await send("go");
    expect([stateOf(body), messageText(body)]).toEqual([
      state,
      state === "failed" ? "It is broken" : "Not here",
    ]);
  });

  it("a task that is canceled there is canceled here", async () => {
    await startBoth(async (_task, ctx) => aborted(ctx.signal));
    const answer = send("go");
    await until(() => received.length === 1);
    // A run may begin before its task is committed, and then there is nothing to cancel yet.
    const id = received[0]?.task.id;
    await until(async () => stateOf((await rpc(there.url, "GetTask", { id })).body) === "working");
    await rpc(there.url, "CancelTask", { id });
    expect(stateOf(await answer)).toBe("canceled");
  });

  it("a cancel, and earlier output is kept", async () => {
    await startBoth(async function* (_task, ctx) {
      yield ctx.text("begun");
      await aborted(ctx.signal);
    });
    const { id } = taskOf(await send("go", {}, { configuration: { returnImmediately: true } }));
    await until(async () => textOf(await call("GetTask", { id })) === "begun");
    expect(stateOf(await call("CancelTask", { id }))).toBe("canceled");
    await until(async () => {
      const { body } = await rpc(there.url, "GetTask", { id: received[0]?.task.id });
      return stateOf(body) === "canceled";
    });
    expect(textOf(await call("GetTask", { id }))).toBe("begun");
  });

  it("a question, and its answer to the same task", async () => {
    await startBoth((task, ctx) =>
      task.turn === 1 ? ctx.ask("Which one?") : ctx.text(`You chose ${task.text}`),
    );
    const asked = await send("go");
    expect([stateOf(asked), messageText(asked)]).toEqual(["input-required", "Which one?"]);
    const answered = await send("this", { taskId: taskOf(asked).id });
    expect([stateOf(answered), textOf(answered)]).toEqual(["completed", "You chose this"]);
    expect(received[1]?.task.id).toBe(received[0]?.task.id);
  });

  it("several questions at once, and their answers", async () => {
    await startBoth((task, ctx) =>
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

  it("a request for credentials; if they were provided out of band, the answer finds the task as it is", async () => {
    await startBoth((task, ctx) =>
      task.turn === 1
        ? {
            type: "status",
            state: "auth-required",
            message: { ...task.message, messageId: "a", parts: [{ kind: "text", text: "Log in" }] },
          }
        : ctx.text(`as ${task.text}`),
    );
    const asked = await send("go");
    expect([stateOf(asked), messageText(asked)]).toEqual(["auth-required", "Log in"]);
    // The credentials are provided there.
    const id = received[0]?.task.id;
    await rpc(there.url, "SendMessage", sendParams("somebody", { taskId: id }));
    const body = await send("done", { taskId: taskOf(asked).id });
    expect([stateOf(body), textOf(body), received.length]).toEqual(["completed", "as somebody", 2]);
  });

  it("the trace context, the thread, the metadata of the call; each message has its own id", async () => {
    await startBoth((_task, ctx) => ctx.text("ok"));
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const headers = { traceparent, tracestate: "v=1", baggage: "user=7" };
    await call(
      "SendMessage",
      { ...sendParams("go"), metadata: { thread_id: "thread-1", colour: "blue" } },
      headers,
    );
    const [first] = received;
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

describe("failures", () => {
  it("a stream that breaks repeatedly is resumed, and no output is repeated", async () => {
    const count = 40;
    await startBoth(async function* (_task, ctx) {
      for (let i = 0; i < count; i++) {
        yield ctx.text(`${i} `);
        await new Promise(resolve => setTimeout(resolve, 5));
      }
    });
    const stream = await openStream(here.url, "SendStreamingMessage", sendParams("go"));
    const events = [];
    for (let event = await stream.next(); event; event = await stream.next()) {
      events.push(event);
      if (events.length === 8 || events.length === 16) proxy.cut();
    }
    const whole = Array.from({ length: count }, (_, i) => `${i} `).join("");
    expect(foldText(events)).toBe(whole);
    expect(summaryOf(events.at(-1) as (typeof events)[0]).what).toBe("status completed");
    expect(proxy.calls.filter(one => one.headers["last-event-id"]).length).toBeGreaterThan(0);
    expect(received.length).toBe(1);
  });

  it("a message that may have arrived is sent again with the same id, and accepted once", async () => {
    await startBoth((_task, ctx) => ctx.text("ok"));
    let cuts = 0;
    proxy.instead = body => {
      if (!body.includes('"go"') || cuts++ > 0) return false;
      // It arrives, and its response is lost.
      void fetch(there.url, { method: "POST", headers: proxy.calls.at(-1)?.headers as never, body }).then(
        () => proxy.cut(),
      );
      return true;
    };
    expect(textOf(await send("go"))).toBe("ok");
    expect([cuts > 1, received.length]).toEqual([true, 1]);
  });

  it("a server that is down, and then is restarted", async () => {
    await startBoth((_task, ctx) => ctx.text("ok"));
    let refused = 0;
    proxy.instead = (body, response) => {
      if (!body.includes('"go"') || refused++ > 1) return false;
      response.writeHead(503, { "retry-after": "0" }).end();
      return true;
    };
    expect(textOf(await send("go"))).toBe("ok");
    expect(refused).toBe(3);
  });

  it("a refusal of the remote server is forwarded to our caller with its message", async () => {
    await startBoth((_task, ctx) => ctx.text("ok"), { inputModes: ["*/*"] }, { inputModes: ["text/plain"] });
    const parts = [{ raw: "AAEC", mediaType: "image/png" }];
    const body = await call("SendMessage", { message: { messageId: "m", role: "ROLE_USER", parts } });
    expect(stateOf(body)).toBe("rejected");
    expect(messageText(body)).toContain("the agent accepts text/plain");
    expect(messageText(body)).not.toContain("127.0.0.1");
  });

  it("a timeout ends the task here and there", async () => {
    // On a busy machine, where the remote task has not started by then, the timeout grows.
    for (let timeoutMs = 100; received.length === 0; timeoutMs *= 2) {
      await Promise.all([here?.stop(), there?.stop()]);
      await startBoth(async (_task, ctx) => aborted(ctx.signal), { timeoutMs });
      const body = await send("go");
      expect([stateOf(body), messageText(body)]).toEqual([
        "failed",
        `The other agent did not finish in ${timeoutMs} ms`,
      ]);
    }
    await until(() => received[0]?.ctx.signal.aborted === true);
  });
});
