import { afterEach, describe, expect, it } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { openStream, rpc, type Stream, until } from "../support/client.ts";
import {
  getTask,
  type Loose,
  OFFICIAL_DIALECTS,
  rpcResult,
  type StreamItem,
  startTask,
  type TestDialect,
  untilState,
  V1,
} from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * docs/dialects/README.md D9, B-M1, B-M3, B-S3, B-V9: callers that wait, and callers beyond the limit of
 * streams.
 */

let server: TestServer;
afterEach(() => server.stop());

/** An agent that did not declare whether it replies with tasks or messages. */
const undecided = () => createScriptedAgent({ replies: undefined });
const itemsIn = async (stream: Stream, dialect: TestDialect): Promise<StreamItem[]> =>
  (await stream.all()).map(event => dialect.toItem(event.data));

describe.each(OFFICIAL_DIALECTS)("$name", dialect => {
  it("D9: a blocking send that has reached its maximum wait returns the task as it is, and the run continues", async () => {
    const puppet = createScriptedAgent();
    server = await serve([puppet.definition], { sendWaitMs: 30 });
    const task = dialect.taskIn(await rpcResult(server.url, dialect.send, dialect.sendParams("long")));
    expect(["submitted", "working"]).toContain(dialect.stateOf(task));
    puppet.send(task.id, ctx => ctx.text("at last"));
    puppet.end(task.id);
    const ended = await untilState(server.url, task.id, "completed");
    expect(ended.artifacts[0].parts[0].text).toBe("at last");
  });

  it("B-S3: a stream shows the task of a slow agent; a later reply is then its last status", async () => {
    const puppet = undecided();
    server = await serve([puppet.definition], { firstEventTimeoutMs: 10 });
    const stream = await openStream(server.url, dialect.stream, dialect.sendParams("well?"));
    const first = dialect.toItem((await stream.next())?.data);
    expect(first.kind).toBe("task");
    puppet.send(first.value.id, ctx => ctx.reply("hm"));
    const rest = await itemsIn(stream, dialect);
    expect(rest.map(one => one.kind)).not.toContain("message");
    expect(rest.at(-1)).toMatchObject({ kind: "status", state: "completed" });
    expect(rest.at(-1)?.value.status.message.parts[0].text).toBe("hm");
    const task = await getTask(server.url, first.value.id, dialect);
    expect(task.status.message.parts[0].text).toBe("hm");
  });

  it("B-M3: a task that was returned at once stays a task, whatever the agent replies", async () => {
    const puppet = undecided();
    server = await serve([puppet.definition]);
    const { id } = await startTask(server.url, dialect, "well?");
    puppet.send(id, ctx => ctx.reply("hm"));
    const task = await untilState(server.url, id, "completed");
    expect(task.status.message.parts[0].text).toBe("hm");
    expect((await rpcResult(server.url, dialect.list, { pageSize: 10 })).totalSize).toBe(1);
  });

  it("B-M16: of two replies the first counts", async () => {
    const twice = {
      name: "twice",
      async *run(_task: unknown, ctx: Loose) {
        yield ctx.reply("one");
        yield ctx.reply("two");
      },
    };
    server = await serve([twice]);
    const reply = await rpcResult(server.url, dialect.send, dialect.sendParams("hi"));
    expect(dialect.messageIn(reply).parts[0].text).toBe("one");
    const items = await itemsIn(
      await openStream(server.url, dialect.stream, dialect.sendParams("hi")),
      dialect,
    );
    expect(items.map(one => one.value.parts?.[0].text)).toEqual(["one"]);
  });

  it("an idle stream gets comments as heartbeats, which are no events", async () => {
    const puppet = createScriptedAgent();
    server = await serve([puppet.definition], { heartbeatMs: 10 });
    const { id } = await startTask(server.url, dialect, "hush");
    const reading = await openStream(server.url, dialect.subscribe, { id });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: dialect.subscribe, params: { id } });
    const headers = { "content-type": "application/json", "a2a-version": dialect.version };
    const response = await fetch(server.url, { method: "POST", headers, body });
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as Loose) {
      text += decoder.decode(chunk);
      if (/^:.*\n\n/m.test(text)) break;
    }
    puppet.end(id);
    const events = await reading.all();
    expect(events.map(event => dialect.toItem(event.data).kind)[0]).toBe("task");
    expect(dialect.toItem(events.at(-1)?.data).state).toBe("completed");
  });

  it("B-V9: above the limit of streams, one more is refused with 503, and accepted when another has ended", async () => {
    const puppet = createScriptedAgent();
    server = await serve([puppet.definition], { streamsMax: 2 });
    const { id } = await startTask(server.url, dialect, "go");
    const open = () => openStream(server.url, dialect.subscribe, { id });
    const [first, second] = await Promise.all([open(), open()]);
    await Promise.all([first.next(), second.next()]);
    const reply = await rpc(server.url, dialect.subscribe, { id }, { "a2a-version": dialect.version });
    expect(reply.status).toBe(503);
    expect(reply.body).toMatchObject({ jsonrpc: "2.0", id: expect.any(Number), error: { code: -32053 } });
    expect(reply.headers.get("a2a-version")).toBe(dialect.version);
    first.close();
    let third: Stream | undefined;
    await until(async () => (third = await open()).status === 200);
    puppet.end(id);
    expect((await itemsIn(third as Stream, dialect)).at(-1)?.state).toBe("completed");
  });

  it("B-V9: a send that is refused because of the limit of streams has started nothing", async () => {
    const puppet = createScriptedAgent();
    server = await serve([puppet.definition, echo], { streamsMax: 1 });
    const { id } = await startTask(server.url, dialect, "go");
    const first = await openStream(server.url, dialect.subscribe, { id });
    await first.next();
    const url = `${server.url}/agents/echo`;
    const reply = await rpc(url, dialect.stream, dialect.sendParams("no room"));
    expect(reply.status).toBe(503);
    expect((await rpcResult(url, "ListTasks", {})).totalSize).toBe(0);
    puppet.end(id);
    await first.all();
  });
});

it("B-M2: a server that stops answers waiting callers with the task as it is", async () => {
  const puppet = createScriptedAgent();
  server = await serve([puppet.definition], { drainMs: 10 });
  const sent = rpc(server.url, "SendMessage", V1.sendParams("wait", { contextId: "waiting" }));
  await until(
    async () => (await rpcResult(server.url, "ListTasks", { contextId: "waiting" })).totalSize === 1,
  );
  await server.stop();
  const { body } = await sent;
  expect(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]).toContain(body.result.task.status.state);
});
