import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JSON_FORMAT } from "../../src/binding/json-format.ts";
import { FrameEncoder } from "../../src/binding/reply-stream.ts";
import type { Seq, Step, Task, TaskEvent } from "../../src/model/index.ts";
import { toTextAppend } from "../../src/model/index.ts";
import { createV01 } from "../../src/protocol/a2a-v01/index.ts";
import { asker, createScriptedAgent, echo, mirror, replier } from "../support/agents.ts";
import { openStream, rpc } from "../support/client.ts";
import { getTask, type Loose, rpcError, rpcResult } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/v01.md; the exact bytes on the wire are in test/corpus/v01. */

const puppet = createScriptedAgent();
/** Two texts in turns, and another artifact in between. */
const weaver = {
  name: "weaver",
  async *run(_task: unknown, ctx: Loose) {
    for (let i = 0; i < 20; i++) {
      yield ctx.text(`a${i} `, { name: "a" });
      yield ctx.text(`b${i} `, { name: "b" });
      if (i === 10) yield ctx.data({ i }, { name: "c" });
    }
  },
};
let server: TestServer;
const at = (name: string): string => `${server.url}/agents/${name}`;
beforeAll(async () => {
  server = await serve([echo, asker, mirror, replier, weaver, puppet.definition], { cancelGraceMs: 100 });
});
afterAll(() => server.stop());

const V01 = { "a2a-version": "0.1" };
let ids = 0;
const newId = (): string => `task-${++ids}`;
const sendParams = (id: string | undefined, text: string, more: object = {}): object => ({
  ...(id !== undefined && { id }),
  message: { role: "user", parts: [{ type: "text", text }] },
  ...more,
});
const send = (name: string, id: string | undefined, text: string, more: object = {}): Promise<Loose> =>
  rpcResult(at(name), "tasks/send", sendParams(id, text, more));

/** The artifacts of a reader that assembles chunks as v0.1 §7.2.3 describes. */
function assemble(events: readonly Loose[]): string[] {
  const texts: string[] = [];
  for (const { artifact } of events.map(event => event.data.result)) {
    if (!artifact) continue;
    const text = artifact.parts.map((part: Loose) => part.text ?? JSON.stringify(part.data)).join("");
    texts[artifact.index] = artifact.append ? `${texts[artifact.index]}${text}` : text;
  }
  return texts;
}

describe("R6: calls of the family of v0.1", () => {
  it("are v0.1's at every official URL, with `type` in their parts and with or without an id", async () => {
    const id = newId();
    expect((await send("echo", id, "hi")).id).toBe(id);
    expect((await rpcResult(server.url, "tasks/send", sendParams(newId(), "hi"))).status.state).toBe(
      "completed",
    );
    const unnamed = await send("echo", undefined, "hi");
    expect((await getTask(at("echo"), unnamed.id)).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("name the version used", async () => {
    const { headers } = await rpc(at("echo"), "tasks/send", sendParams(newId(), "hi"));
    expect(headers.get("a2a-version")).toBe("0.1");
  });
});

describe("R7: methods that generations share", () => {
  it("answer in the shape of the task's own generation, or of the version that is named", async () => {
    const id = newId();
    await send("asker", id, "book");
    const get = (headers: Record<string, string>) => rpcResult(at("asker"), "tasks/get", { id }, headers);
    expect(await get({})).toMatchObject({ id, sessionId: expect.any(String) });
    expect(await get(V01)).toEqual(await get({}));
    expect(await get({ "a2a-version": "0.3" })).toMatchObject({
      kind: "task",
      history: [{ kind: "message" }],
    });
    expect(await rpcResult(at("asker"), "tasks/cancel", { id })).toMatchObject({
      id,
      status: { state: "canceled" },
    });
  });

  it("name the version used, also if another dialect decoded the call", async () => {
    const id = newId();
    await send("echo", id, "hi");
    const { headers } = await rpc(at("echo"), "tasks/get", { id });
    expect(headers.get("a2a-version")).toBe("0.1");
  });

  it("stream in it as well", async () => {
    const id = newId();
    await send("asker", id, "book");
    const stream = await openStream(at("asker"), "tasks/resubscribe", { id });
    expect((await stream.next())?.data.result).toMatchObject({ id, status: { state: "input-required" } });
    await send("asker", id, "red");
    const rest = (await stream.all()).map(({ data }) => data.result);
    expect(rest.at(-1)).toMatchObject({ id, status: { state: "completed" }, final: true });
    for (const one of rest) expect(one).not.toHaveProperty("kind");
  });
});

describe("R14: a caller's id of a task", () => {
  it("continues a task that waits for input, and names one task only, whichever call is first", async () => {
    const id = newId();
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => rpc(at("asker"), "tasks/send", sendParams(id, "book"))),
    );
    expect(
      replies.filter(({ body }) => body.result?.status.state === "input-required").length,
    ).toBeGreaterThan(0);
    for (const { body } of replies) if (body.error) expect(body.error.code).toBe(-32009);
  });

  it("names different tasks for different agents", async () => {
    const id = newId();
    await send("echo", id, "hi");
    expect((await send("asker", id, "book")).status.state).toBe("input-required");
    expect((await rpcResult(at("echo"), "tasks/get", { id })).status.state).toBe("completed");
  });

  it("of a task that has ended takes no message: its state is wrong", async () => {
    const id = newId();
    await send("echo", id, "hi");
    const error = await rpcError(at("echo"), "tasks/send", sendParams(id, "again"));
    expect(error).toMatchObject({ code: -32009, message: expect.stringContaining("another id") });
  });
});

describe("one task, in the shape of v0.1", () => {
  it("a context is a session, and a message without an id gets one", async () => {
    const { id } = await send("asker", undefined, "book", { sessionId: "s1" });
    const task = await getTask(at("asker"), id);
    expect(task).toMatchObject({ contextId: "s1", history: [{ messageId: expect.stringMatching(/./) }] });
    const wrong = await rpcError(at("asker"), "tasks/send", sendParams(id, "red", { sessionId: "s2" }));
    expect(wrong).toMatchObject({ code: -32602, message: expect.stringContaining("sessionId") });
  });

  it("the history is present only on request", async () => {
    const id = newId();
    expect(await send("asker", id, "book")).not.toHaveProperty("history");
    expect((await send("asker", id, "red", { historyLength: 3 })).history).toHaveLength(3);
    for (const headers of [{}, V01]) {
      const get = (more: object) => rpcResult(at("asker"), "tasks/get", { id, ...more }, headers);
      expect((await get({ historyLength: 1 })).history).toEqual([
        { role: "user", parts: [{ type: "text", text: "red" }] },
      ]);
      for (const more of [{}, { historyLength: 0 }, { historyLength: null }])
        expect(await get(more)).not.toHaveProperty("history");
    }
  });

  it("artifacts have numbers that stay, in streams and in the task", async () => {
    const id = newId();
    const stream = await openStream(at("weaver"), "tasks/sendSubscribe", sendParams(id, "weave"));
    const texts = assemble(await stream.all());
    const task = await rpcResult(at("weaver"), "tasks/get", { id });
    expect(task.artifacts.map((one: Loose) => [one.name, one.index])).toEqual([
      ["a", 0],
      ["b", 1],
      ["c", 2],
    ]);
    const whole = task.artifacts.map((one: Loose) =>
      one.parts.map((part: Loose) => part.text ?? JSON.stringify(part.data)).join(""),
    );
    expect(texts).toEqual(whole);
  });

  it("a client that reconnects to a stream misses no event", async () => {
    const id = newId();
    const stream = await openStream(at("puppet"), "tasks/sendSubscribe", sendParams(id, "work"));
    await stream.next();
    const { tasks } = await rpcResult(at("puppet"), "ListTasks", { pageSize: 1 });
    for (const word of ["one ", "two "]) puppet.send(tasks[0].id, ctx => ctx.text(word));
    let seen: Loose;
    while (!seen?.data.result.artifact?.append) seen = await stream.next();
    stream.close();
    const again = await openStream(at("puppet"), "tasks/resubscribe", { id });
    const first = (await again.next())?.data.result;
    expect(first).toMatchObject({ id, status: { state: "working" }, final: false });
    expect(first.artifacts).toEqual([
      { name: "response", parts: [{ type: "text", text: "one two " }], index: 0 },
    ]);
    puppet.send(tasks[0].id, ctx => ctx.text("three"));
    puppet.end(tasks[0].id);
    const after = { ...V01, "last-event-id": seen.id };
    const resumed = await openStream(at("puppet"), "tasks/resubscribe", { id }, after);
    const rest = await resumed.all();
    expect(rest[0]?.data.result.artifact).toMatchObject({ append: true, parts: [{ text: "three" }] });
    expect(rest).toEqual(
      (await again.all()).map(one => ({ ...one, data: { ...one.data, id: expect.anything() } })),
    );
  });

  it("a bare message is the status of a task that is completed", async () => {
    const id = newId();
    const task = await send("replier", id, "hi");
    expect(task.status).toMatchObject({ state: "completed", message: { parts: [{ text: "re: hi" }] } });
    expect(await rpcResult(at("replier"), "tasks/get", { id })).toEqual(task);
  });

  it.each([
    ["input-required", "input-required"],
    ["auth-required", "input-required"],
    ["rejected", "failed"],
    ["failed", "failed"],
  ])("the state %s is sent as %s, and ends a stream", async (state, word) => {
    const stream = await openStream(at("puppet"), "tasks/sendSubscribe", sendParams(newId(), "work"));
    await stream.next();
    const { tasks } = await rpcResult(at("puppet"), "ListTasks", { pageSize: 1 });
    puppet.send(tasks[0].id, ctx => ({ ...ctx.ask("Well?"), state }) as never);
    expect((await stream.all()).at(-1)?.data.result).toMatchObject({ status: { state: word }, final: true });
  });
});

it("every part is returned unchanged; data that is no object or array is wrapped", async () => {
  const parts = [
    { type: "text", text: "hi", metadata: { lang: "en" } },
    { type: "data", data: { a: [1, null] } },
    { type: "data", data: [1, "b"] },
    { type: "data", data: { value: 5 }, metadata: { data_part_compat: true } },
    { type: "file", file: { bytes: "aGk=", name: "a.txt", mimeType: "text/plain" } },
    { type: "file", file: { uri: "https://files.example/a.png" } },
  ];
  const task = await rpcResult(at("mirror"), "tasks/send", { id: newId(), message: { role: "user", parts } });
  expect(task.artifacts).toEqual([{ name: "mirror", parts, index: 0 }]);
});

it("chunks of text share one template, although they contain the caller's id and the artifact's number", () => {
  const dialect = createV01({ versionPolicy: "lenient" });
  let encoded = 0;
  const counted = {
    ...dialect,
    encodeStep: (step: Step, closing: boolean) => {
      encoded += 1;
      return dialect.encodeStep(step, closing, undefined);
    },
  };
  const task = {
    id: "t",
    alias: "mine",
    artifacts: [{ artifactId: "x" }, { artifactId: "y" }],
  } as unknown as Task;
  const steps = Array.from({ length: 50 }, (_, i) => toStep(i + 1, toTextAppend("y", `w${i} `), task));
  const frames = new FrameEncoder(counted, undefined, JSON_FORMAT).encode({ steps, closing: false });
  expect(encoded).toBe(1);
  expect(frames.map(frame => JSON.parse(frame.data).artifact)).toEqual(
    steps.map((_, i) => ({
      parts: [{ type: "text", text: `w${i} ` }],
      index: 1,
      append: true,
      lastChunk: false,
    })),
  );
});

const toStep = (seq: number, event: TaskEvent, task: Task): Step =>
  ({ seq: seq as Seq, at: 0, taskId: "t", contextId: "c", event, task }) as Step;
