import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toUuid } from "../../src/server/catalog.ts";
import { asker, echo, mirror, replier } from "../support/agents.ts";
import { openStream } from "../support/client.ts";
import {
  doubter,
  envelope,
  langgraphError,
  langgraphParams,
  langgraphResult,
  post,
  resume,
} from "../support/langgraph.ts";
import type { Loose } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";
import { partsText, textOf } from "../support/wire.ts";

/** docs/dialects/langgraph.md#statements. */

const AGENTS = [
  echo,
  asker,
  replier,
  mirror,
  doubter,
  {
    name: "form",
    inputSchema: { properties: { locale: {} } },
    run: (task: Loose, ctx: Loose) => ctx.data(task.input),
  },
  {
    name: "input",
    run: (task: Loose, ctx: Loose) => ctx.data({ text: task.text, role: task.message.role, ...task.input }),
  },
  { name: "thread", run: (task: Loose) => task.thread },
  {
    name: "memory",
    async run(_task: Loose, ctx: Loose) {
      const earlier = (await ctx.history).filter((one: Loose) => one.role === "user");
      return earlier.map((one: Loose) => partsText(one.parts)).join(", ") || "nothing";
    },
  },
  {
    name: "failing",
    run() {
      throw new Error("no");
    },
  },
];

let server: TestServer;
let strict: TestServer;
const at = (name: string, host: TestServer = server): string => `${host.url}/a2a/${name}`;

beforeAll(async () => {
  server = await serve(AGENTS);
  strict = await serve(AGENTS, { langgraph: "strict" });
});
afterAll(async () => {
  await server.stop();
  await strict.stop();
});

const send = (name: string, params: unknown, more: Record<string, unknown> = {}): Promise<Loose> =>
  langgraphResult(at(name), "message/send", params, more);
const refusedSend = (name: string, params: unknown): Promise<Loose> =>
  langgraphError(at(name), "message/send", params);
const saidBy = (task: Loose): string => textOf({ result: task });
const dataOf = (task: Loose): Loose => task.artifacts[0].parts[0].data;

describe("calls", () => {
  it("L1: the agent is selected by its name or its UUID, and unknown methods are refused", async () => {
    for (const name of ["echo", toUuid("echo")])
      expect(saidBy(await send(name, langgraphParams("hi")))).toBe("hi");
    for (const method of ["tasks/send", "nonsense"])
      expect(await langgraphError(at("echo"), method, {})).toMatchObject({ code: -32601 });
    expect(await langgraphError(at("echo", strict), "tasks/list", {})).toMatchObject({ code: -32601 });
  });

  it("L16: Accept is required and must match", async () => {
    const status = async (method: string, accept: string | null): Promise<number> =>
      (await post(at("echo"), envelope(method, langgraphParams("hi")), accept)).status;
    for (const accept of [null, "", "text/html", "text/event-stream", "application/xml"])
      expect(await status("message/send", accept)).toBe(400);
    for (const accept of ["*/*", "application/*", "text/html, Application/JSON;q=0.5"])
      expect(await status("message/send", accept)).toBe(200);
    for (const accept of [null, "application/json"]) expect(await status("message/stream", accept)).toBe(400);
    for (const accept of ["*/*", "text/*", "application/json, text/event-stream"])
      expect(await status("message/stream", accept)).toBe(200);
  });

  it("L17: a body that is no call gets HTTP 400 without an envelope, wrong parameters get one", async () => {
    const call = envelope("message/send", langgraphParams("hi"));
    for (const body of [
      "{",
      "[]",
      "7",
      "null",
      JSON.stringify([call]),
      { ...call, jsonrpc: "1.0" },
      { ...call, method: 1 },
    ])
      expect(await post(at("echo"), body)).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/.{5}/) },
      });
    for (const params of ["hi", 7, [], { message: "hi" }])
      expect(await refusedSend("echo", params)).toMatchObject({ code: -32602 });
  });

  it("L18: an unknown assistant is HTTP 404, a failed run is HTTP 200", async () => {
    const call = envelope("message/send", langgraphParams("hi"));
    const unknown = await post(at("nobody"), call);
    expect(unknown).toMatchObject({ status: 404, body: { error: expect.stringContaining("nobody") } });
    expect((await send("failing", langgraphParams("hi"))).status.state).toBe("failed");
  });

  it("L24: a call without an id gets 400, and is not executed", async () => {
    const contextId = "notified";
    const { id: _, ...call } = envelope("message/send", langgraphParams("one", { contextId })) as {
      id: string;
    };
    expect(await post(at("memory"), call)).toMatchObject({ status: 400 });
    expect(await post(at("memory"), { ...call, id: null })).toMatchObject({ status: 400 });
    expect(saidBy(await send("memory", langgraphParams("three", { contextId })))).toBe("nothing");
  });
});

describe("answers", () => {
  it("L2: a send is answered with the ended task, its text in the artifact Assistant Response", async () => {
    const task = await send("echo", langgraphParams("Hello back"));
    expect(task).toMatchObject({ kind: "task", id: expect.any(String), contextId: expect.any(String) });
    expect(task.status.state).toBe("completed");
    expect(task.artifacts).toEqual([
      {
        artifactId: expect.any(String),
        name: "Assistant Response",
        parts: [{ kind: "text", text: "Hello back" }],
      },
    ]);
  });

  it("L3: there is always text to read: in artifacts, or in the message of the status", async () => {
    expect(saidBy(await send("echo", langgraphParams("hi")))).toBe("hi");
    expect(partsText((await send("replier", langgraphParams("hi"))).status.message.parts)).toBe("re: hi");
    expect(partsText((await send("asker", langgraphParams("hi"))).status.message.parts)).toBe("Which one?");
  });

  it("L4: a stream is envelopes with the id of the call: the task, its updates, and a final status", async () => {
    const stream = await openStream(
      at("echo"),
      "message/stream",
      langgraphParams("hi", { contextId: "streamed" }),
    );
    const events = await stream.all();
    const results = events.map(({ data }) => data.result);
    expect(new Set(events.map(({ event, data }) => `${event} ${data.jsonrpc} ${typeof data.id}`)).size).toBe(
      1,
    );
    expect(results[0]).toMatchObject({ kind: "task", status: { state: "submitted" } });
    const { id: taskId } = results[0];
    const update = { kind: "status-update", taskId, contextId: "streamed" };
    expect(results[1]).toMatchObject({ ...update, status: { state: "working" }, final: false });
    expect(results.at(-1)).toMatchObject({ ...update, status: { state: "completed" }, final: true });
    expect(results.filter(one => one.final)).toHaveLength(1);
  });

  it("L5: a task is read by id and contextId, and the error for a missing parameter names it", async () => {
    const { id, contextId } = await send("echo", langgraphParams("hi"));
    const get = (params: object): Promise<Loose> => langgraphResult(at("echo"), "tasks/get", params);
    expect(await get({ id, contextId })).toMatchObject({ id, contextId, status: { state: "completed" } });
    expect(await get({ id: `${contextId}:${id}`, contextId })).toMatchObject({ id });
    const refused = (params: unknown): Promise<Loose> => langgraphError(at("echo"), "tasks/get", params);
    const strictly = (params: unknown): Promise<Loose> =>
      langgraphError(at("echo", strict), "tasks/get", params);
    const missing = (name: string) => ({
      code: -32602,
      message: `Invalid request: Missing required parameter: ${name}`,
    });
    expect(await strictly({ id })).toEqual(missing("contextId"));
    // Mastra's client sends none.
    expect(await get({ id })).toMatchObject({ id, contextId });
    expect(await refused({ contextId })).toEqual(missing("id"));
    expect(await refused(undefined)).toEqual(missing("id"));
    for (const params of [
      { id: "nope", contextId },
      { id, contextId: "other" },
    ])
      expect(await refused(params)).toMatchObject({ code: -32001 });
  });

  it("L6: historyLength is 0 to 10, and returns the newest messages", async () => {
    const { id, contextId } = await send("asker", langgraphParams("first", { contextId: "long" }));
    await send("asker", langgraphParams("second", { contextId, taskId: id }));
    const get = async (historyLength?: number): Promise<string[]> => {
      const task = await langgraphResult(at("asker"), "tasks/get", { id, contextId, historyLength });
      return (task.history ?? []).map((message: Loose) => partsText(message.parts));
    };
    expect(await get(0)).toEqual([]);
    expect(await get(1)).toEqual(["second"]);
    expect(await get(2)).toEqual(["Which one?", "second"]);
    for (const all of [10, undefined]) expect(await get(all)).toEqual(["first", "Which one?", "second"]);
    for (const historyLength of [11, -1, "x", 1.5])
      expect(await langgraphError(at("asker"), "tasks/get", { id, contextId, historyLength })).toMatchObject({
        code: -32602,
        message: expect.stringContaining("historyLength"),
      });
  });

  it("L7: cancel works with id and contextId; strictly, it is always an error and changes nothing", async () => {
    const { id, contextId } = await send("asker", langgraphParams("hi"));
    const canceled = await langgraphResult(at("asker"), "tasks/cancel", { id, contextId });
    expect(canceled.status.state).toBe("canceled");
    const other = await send("asker", langgraphParams("hi"));
    expect(await langgraphResult(at("asker"), "tasks/cancel", { id: other.id })).toMatchObject({
      status: { state: "canceled" },
    });
    const host = at("asker", strict);
    const kept = await langgraphResult(host, "message/send", langgraphParams("hi"));
    for (const one of [kept, { id: "nope", contextId: "none" }])
      expect(
        await langgraphError(host, "tasks/cancel", { id: one.id, contextId: one.contextId }),
      ).toMatchObject({ code: -32004 });
    const { status } = await langgraphResult(host, "tasks/get", { id: kept.id, contextId: kept.contextId });
    expect(status.state).toBe("input-required");
  });
});

describe("messages", () => {
  it("L9: only parts of text and data are accepted", async () => {
    const parts = [
      { kind: "text", text: "look" },
      { kind: "data", data: { a: 1 } },
    ];
    expect((await send("mirror", langgraphParams(parts))).artifacts[0].parts).toEqual(parts);
    const file = { kind: "file", file: { bytes: "aGk=", name: "hi.txt", mimeType: "text/plain" } };
    expect(await refusedSend("mirror", langgraphParams([...parts, file]))).toMatchObject({ code: -32005 });
  });

  it("L10: text needs messages in the agent's input schema, data does not", async () => {
    expect(await refusedSend("form", langgraphParams("hi"))).toMatchObject({
      code: -32602,
      message: expect.stringContaining("messages"),
    });
    expect(dataOf(await send("form", langgraphParams([{ kind: "data", data: { locale: "en" } }])))).toEqual({
      locale: "en",
    });
  });

  it("L11: data parts are merged into one input beside the text, and later keys win; every role counts as the user", async () => {
    const data = [{ locale: "en", seat: 1 }, { locale: "de" }].map(one => ({ kind: "data", data: one }));
    const text = { kind: "text", text: "hi" };
    const input = { text: "hi", role: "user", locale: "de", seat: 1 };
    expect(dataOf(await send("input", langgraphParams([data[0], text, data[1]] as object[])))).toEqual(input);
    expect(dataOf(await send("input", langgraphParams("hi", { role: "agent" })))).toMatchObject({
      role: "user",
    });
  });

  it("L12: role, parts and messageId are required", async () => {
    for (const name of ["role", "parts", "messageId"])
      for (const url of [at("echo"), at("echo", strict)]) {
        const message = { ...(langgraphParams("hi").message as object), [name]: undefined };
        const error = await langgraphError(url, "message/send", { message });
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(`message.${name}`) });
      }
  });

  it("L8: the contextId is the thread: returned unchanged, or created by the server", async () => {
    expect((await send("echo", langgraphParams("hi"))).contextId).toMatch(/^[0-9a-f-]{36}$/);
    for (const contextId of ["thread-123", "a b/ü:c"])
      expect((await send("echo", langgraphParams("hi", { contextId }))).contextId).toBe(contextId);
  });

  it("L13: a taskId that is unknown, of another caller or ended starts a new task in the context", async () => {
    const first = await send("memory", langgraphParams("one", { contextId: "stray" }));
    for (const taskId of ["nope", first.id, (await send("echo", langgraphParams("hi"))).id]) {
      const next = await send("memory", langgraphParams("more", { contextId: "stray", taskId }));
      expect(next).toMatchObject({ contextId: "stray", status: { state: "completed" } });
      expect(next.id).not.toBe(taskId);
      expect(saidBy(next)).toMatch(/^one/);
    }
    const open = await send("asker", langgraphParams("hi", { contextId: "here" }));
    const elsewhere = await send("asker", langgraphParams("hi", { contextId: "there", taskId: open.id }));
    expect(elsewhere).toMatchObject({ contextId: "there", status: { state: "input-required" } });
  });

  it("L23: the first reply has both ids, and with both the conversation continues", async () => {
    const first = await send("memory", langgraphParams("one"));
    expect(saidBy(first)).toBe("nothing");
    const more = { contextId: first.contextId, taskId: first.id };
    expect(saidBy(await send("memory", langgraphParams("two", more)))).toBe("one");
  });
});

describe("resuming", () => {
  it("L14: a text with contextId and taskId resumes a task that waits", async () => {
    for (const spelled of ["run", "thread:run"]) {
      const { id, contextId } = await send(
        "asker",
        langgraphParams("hi", { contextId: `resume ${spelled}` }),
      );
      const taskId = spelled === "run" ? id : `${contextId}:${id}`;
      const task = await send("asker", langgraphParams("this", { contextId, taskId }));
      expect(task).toMatchObject({ id, status: { state: "completed" } });
      expect(saidBy(task)).toBe("You chose this");
    }
  });

  it("L15: a list called resume answers several questions by their ids", async () => {
    const { id: taskId, contextId, status } = await send("doubter", langgraphParams("hi"));
    expect(status.message.parts.map((part: Loose) => part.data ?? part.text)).toEqual([
      "Which seat?\nWhich meal?",
      { id: "interrupt-1", question: "Which seat?" },
      { id: "interrupt-2", question: "Which meal?" },
    ]);
    const answer = (answers: object): object =>
      langgraphParams([resume(answers as never)], { taskId, contextId });
    expect(await refusedSend("doubter", answer({ "interrupt-3": 1 }))).toMatchObject({
      code: -32602,
      message: expect.stringContaining("message.parts[0].data.resume[0].id"),
    });
    const waiting = await send("doubter", answer({ "interrupt-1": { choice: "A" } }));
    expect(waiting).toMatchObject({ id: taskId, status: { state: "input-required" } });
    const done = await send("doubter", answer({ "interrupt-2": { choice: "B" } }));
    expect(done).toMatchObject({ id: taskId, status: { state: "completed" } });
    expect(dataOf(done)).toEqual({ "interrupt-1": { choice: "A" }, "interrupt-2": { choice: "B" } });
  });
});

describe("threads and cards", () => {
  const threadOf = async (contextId: string, more: Record<string, unknown>): Promise<string> => {
    const task = await send("thread", langgraphParams("hi", { contextId }), more);
    expect(task.contextId).toBe(contextId);
    return saidBy(task);
  };

  it("L19: thread_id in metadata beside the parameters groups traces, and never fails a call", async () => {
    expect(await threadOf("grouped", { metadata: { thread_id: "shared" } })).toBe("shared");
    for (const metadata of [
      { thread_id: null },
      { thread_id: "" },
      { thread_id: 7 },
      { thread_id: "x".repeat(999) },
      [],
      "x",
      null,
    ])
      expect(await threadOf("conversation", { metadata })).toBe("conversation");
  });

  it("L20: without it the context is the thread", async () => {
    expect(await threadOf("conversation", {})).toBe("conversation");
  });

  it("L21: every agent has a card with the URL of this mount", async () => {
    for (const { name } of AGENTS)
      for (const asked of [name, toUuid(name)]) {
        const response = await fetch(`${server.url}/.well-known/agent-card.json?assistant_id=${asked}`);
        expect(await response.json()).toMatchObject({
          name,
          description: expect.stringMatching(/.+/),
          skills: [expect.objectContaining({ id: name })],
          defaultInputModes: expect.any(Array),
          defaultOutputModes: expect.any(Array),
          url: at(asked),
          protocolVersion: "0.3.0",
          preferredTransport: "JSONRPC",
        });
      }
    const status = async (query: string): Promise<number> =>
      (await fetch(`${server.url}/.well-known/agent-card.json${query}`)).status;
    expect(await status("?assistant_id=")).toBe(400);
    expect(await status("?assistant_id=nobody")).toBe(404);
    expect(await status("")).toBe(200);
  });

  it("L22: switched off, both endpoint and card are 404", async () => {
    const off = await serve(AGENTS, { langgraph: "off" });
    try {
      expect((await post(at("echo", off), envelope("message/send", langgraphParams("hi")))).status).toBe(404);
      for (const path of [
        "/.well-known/agent-card.json?assistant_id=echo",
        "/a2a/echo/.well-known/agent-card.json",
      ])
        expect((await fetch(`${off.url}${path}`)).status).toBe(404);
    } finally {
      await off.stop();
    }
  });
});
