import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { asker, replier } from "../support/agents.ts";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import { openStream, rpc, type SseEvent, until } from "../support/client.ts";
import { createGate, type Gate } from "../support/gate.ts";
import {
  fieldsOf,
  type Loose,
  OFFICIAL_DIALECTS,
  rpcError,
  rpcResult,
  type TestDialect,
  V1,
  V03,
} from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { idsOf } from "../support/wire.ts";

/** D10: a repeated call is one call. */

let folder: ReturnType<typeof tempFolder>;
let server: TestServer | undefined;
let runs: string[];
let gate: Gate;
beforeEach(() => {
  folder = tempFolder();
  runs = [];
  gate = createGate();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await endChildren();
  folder.remove();
});

/** Counts its runs; waits at the gate in the middle of a slow task. */
const worker: AgentDefinition = {
  name: "worker",
  async *run(task, ctx) {
    runs.push(task.text);
    yield ctx.text(`${task.text} `);
    if (task.text === "slow") await gate.opened;
    yield ctx.text("done");
  },
};
/** Replies with a bare message, without declaring it. */
const shy: AgentDefinition = {
  name: "shy",
  async run(task, ctx) {
    runs.push(task.text);
    await gate.opened;
    return ctx.reply("at last");
  },
};

const start = async (definitions: readonly AgentDefinition[] = [worker], data = ":memory:") =>
  (server = await serve(definitions, { data })).url;
const KEY = { "idempotency-key": "k-1" };
const plain = ({ id, data }: SseEvent) => ({ id, result: data.result });
const total = async (url: string): Promise<number> => (await rpcResult(url, "ListTasks", {})).totalSize;

describe.each(OFFICIAL_DIALECTS)("in $name", dialect => {
  test("a repeated send with its key gets the same response, and nothing is repeated", async () => {
    const url = await start();
    const params = dialect.sendParams("hello");
    const first = await rpcResult(url, dialect.send, params, KEY);
    const second = await rpcResult(url, dialect.send, params, KEY);
    expect(second).toEqual(first);
    expect([runs, await total(url)]).toEqual([["hello"], 1]);
    const other = await rpcResult(url, dialect.send, params, { "idempotency-key": "k-2" });
    expect(dialect.taskIn(other).id).not.toBe(dialect.taskIn(first).id);
  });

  test("many at once are one task, and all get its response", async () => {
    const url = await start();
    const params = dialect.sendParams("hello");
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => rpcResult(url, dialect.send, params, KEY)),
    );
    expect(new Set(answers.map(answer => dialect.taskIn(answer).id)).size).toBe(1);
    expect([runs, await total(url)]).toEqual([["hello"], 1]);
  });

  test("a repeated stream with its key is the same stream, during the run and after it", async () => {
    const url = await start();
    const params = dialect.sendParams("slow");
    const first = await openStream(url, dialect.stream, params, KEY);
    const seen = [await first.next(), await first.next(), await first.next()] as SseEvent[];
    const second = await openStream(url, dialect.stream, params, KEY);
    gate.open();
    const all = [...seen, ...(await first.all())].map(plain);
    expect((await second.all()).map(plain)).toEqual(all);
    const third = await openStream(url, dialect.stream, params, KEY);
    expect((await third.all()).map(plain)).toEqual(all);
    expect(runs).toEqual(["slow"]);
  });

  test("with the id of the last event, a repeated stream is exactly the rest, from every position", async () => {
    const url = await start();
    const params = dialect.sendParams("hello");
    const all = (await (await openStream(url, dialect.stream, params, KEY)).all()).map(plain);
    for (const [i, { id }] of all.entries()) {
      const byHeader = await openStream(url, dialect.stream, params, {
        ...KEY,
        "last-event-id": id as string,
      });
      expect((await byHeader.all()).map(plain)).toEqual(all.slice(i + 1));
      const more = { ...params, metadata: { afterSequence: Number(id) } };
      const byMetadata = await openStream(url, dialect.stream, more, KEY);
      expect((await byMetadata.all()).map(plain)).toEqual(all.slice(i + 1));
    }
    for (const id of ["0", "1", "99", "nonsense"]) {
      const whole = await openStream(url, dialect.stream, params, { ...KEY, "last-event-id": id });
      expect((await whole.all()).map(plain)).toEqual(all);
    }
    expect(runs).toEqual(["hello"]);
  });

  test("a reader that returns to a running stream gets the missed events, then the rest", async () => {
    const url = await start();
    const params = dialect.sendParams("slow");
    const first = await openStream(url, dialect.stream, params, KEY);
    const seen = [(await first.next()) as SseEvent, (await first.next()) as SseEvent];
    first.close();
    const last = seen.at(-1)?.id as string;
    const back = await openStream(url, dialect.stream, params, { ...KEY, "last-event-id": last });
    gate.open();
    const rest = await back.all();
    expect(idsOf(rest)[0]).toBe(Number(last) + 1);
    expect(dialect.toItem(rest.at(-1)?.data).state).toBe("completed");
    expect(runs).toEqual(["slow"]);
  });

  test("a key of another call is refused, and nothing is done", async () => {
    const url = await start([worker, { ...worker, name: "colleague" }]);
    const params = dialect.sendParams("hello");
    await rpcResult(url, dialect.send, params, KEY);
    for (const method of [dialect.send, dialect.stream]) {
      const error = await rpcError(url, method, dialect.sendParams("bye"), KEY);
      expect(error.code).toBe(-32054);
      expect(error.message).toMatch(/Idempotency-Key.*another call/);
    }
    expect(runs).toEqual(["hello"]);
    // Keys are separate for each agent.
    await rpcResult(`${url}/agents/colleague`, dialect.send, dialect.sendParams("bye"), KEY);
    expect(runs).toEqual(["hello", "bye"]);
  });

  test.each([replier, shy])("a bare reply is repeated as the same message ($name)", async definition => {
    gate.open();
    const url = await start([definition]);
    const params = dialect.sendParams("hello");
    const first = dialect.messageIn(await rpcResult(url, dialect.send, params, KEY));
    expect(dialect.messageIn(await rpcResult(url, dialect.send, params, KEY))).toEqual(first);
    const events = await (await openStream(url, dialect.stream, params, KEY)).all();
    expect(events.map(event => dialect.toItem(event.data).value)).toEqual([first]);
    expect(await total(url)).toBe(0);
  });

  test("a repeated non-blocking call gets a task that can be read, whatever the agent replies", async () => {
    const url = await start([shy]);
    const params = dialect.sendParams("hello");
    const waiting = rpcResult(url, dialect.send, params, KEY);
    await until(() => runs.length === 1);
    const atOnce = { ...params, configuration: dialect.nonBlocking };
    const { id } = dialect.taskIn(await rpcResult(url, dialect.send, atOnce, KEY));
    gate.open();
    expect(dialect.taskIn(await waiting)).toMatchObject({ id });
    expect(dialect.stateOf(await rpcResult(url, dialect.get, { id }))).toBe("completed");
    expect(runs).toHaveLength(1);
  });

  test("a repeated answer to a question is recorded once, and gets the same reply", async () => {
    const url = await start([asker]);
    const question = dialect.sendParams("book");
    const asked = await rpcResult(url, dialect.send, question, KEY);
    const { id } = dialect.taskIn(asked);
    const answer = dialect.sendParams("red", { taskId: id });
    const key = { "idempotency-key": "k-2" };
    const done = await rpcResult(url, dialect.send, answer, key);
    expect(dialect.stateOf(dialect.taskIn(done))).toBe("completed");
    expect(await rpcResult(url, dialect.send, answer, key)).toEqual(done);
    // The first call is still answered with the question.
    expect(await rpcResult(url, dialect.send, question, KEY)).toEqual(asked);
  });
});

test("a call can be repeated in the other dialect, and with or without a stream", async () => {
  const url = await start();
  const message = { messageId: "m", contextId: "c" };
  const { id } = V1.taskIn(await rpcResult(url, V1.send, V1.sendParams("hello", message), KEY));
  expect((await rpcResult(url, V03.send, V03.sendParams("hello", message), KEY)).id).toBe(id);
  const events = await (await openStream(url, V03.stream, V03.sendParams("hello", message), KEY)).all();
  expect(events[0]?.data.result).toMatchObject({ kind: "task", id });
  expect(runs).toEqual(["hello"]);
});

test("an invalid key is refused with its name; a read ignores keys", async () => {
  const url = await start();
  for (const key of [" ", "x".repeat(257)]) {
    const error = await rpcError(url, "SendMessage", V1.sendParams("hello"), { "idempotency-key": key });
    expect(error.code).toBe(-32602);
    expect(fieldsOf(error)).toEqual(["Idempotency-Key"]);
  }
  for (const afterSequence of ["soon", -1, 1.5, {}]) {
    const error = await rpcError(url, "SendStreamingMessage", {
      ...V1.sendParams("x"),
      metadata: { afterSequence },
    });
    expect(fieldsOf(error)).toEqual(["metadata.afterSequence"]);
  }
  expect(runs).toEqual([]);
  await rpcResult(url, "ListTasks", {}, KEY);
});

describe("an agent that declares message ids as keys", () => {
  const once: AgentDefinition = { ...worker, dedupe: "messageId" };

  test.each(OFFICIAL_DIALECTS)("gets each message once, in $name", async dialect => {
    const url = await start([once]);
    const params = dialect.sendParams("hello", { messageId: "m-1" });
    const send = (more: Loose = {}, headers = {}) =>
      rpcResult(url, dialect.send, { ...params, ...more }, headers);
    const answers = await Promise.all([send(), send(), send({}, KEY)]);
    expect(new Set(answers.map(answer => dialect.taskIn(answer).id)).size).toBe(1);
    expect(await send()).toEqual(answers[0]);
    expect(runs).toEqual(["hello"]);
    const error = await rpcError(url, dialect.send, dialect.sendParams("bye", { messageId: "m-1" }));
    expect(error.code).toBe(-32054);
    if (dialect === V1) expect(JSON.stringify(error.data)).toContain("message.messageId");
    await rpcResult(url, dialect.send, dialect.sendParams("bye", { messageId: "m-2" }));
    expect(runs).toEqual(["hello", "bye"]);
  });

  test("a key and a messageId of the same spelling are different", async () => {
    const url = await start([once]);
    await rpcResult(url, "SendMessage", V1.sendParams("one", { messageId: "k-1" }));
    await rpcResult(url, "SendMessage", V1.sendParams("two", { messageId: "m-1" }), KEY);
    expect(runs).toEqual(["one", "two"]);
  });
});

test("keys are valid after a restart", async () => {
  const params = V1.sendParams("hello");
  const first = await rpcResult(await start([worker], folder.path), "SendMessage", params, KEY);
  await server?.stop();
  const url = await start([worker], folder.path);
  expect(await rpcResult(url, "SendMessage", params, KEY)).toEqual(first);
  expect((await rpcError(url, "SendMessage", V1.sendParams("bye"), KEY)).code).toBe(-32054);
  expect(runs).toEqual(["hello"]);
});

describe("a client that got no response from a killed server, and repeats its call with the same key", () => {
  /** Ends only after the kill, in whichever attempt: it waits for a file. */
  const slow = (): string => `
    const { existsSync } = await import("node:fs");
    yield ctx.text("attempt " + ctx.attempt + " ");
    while (!existsSync(${JSON.stringify(join(folder.path, "open"))})) await sleep(5, undefined, { signal: ctx.signal });
    yield ctx.text("done");`;
  const letEnd = (): void => writeFileSync(join(folder.path, "open"), "");
  const launch = (port = 0): Promise<Child> =>
    startChild({
      agents: [writeAgent(folder.path, "slow", slow())],
      data: join(folder.path, "data"),
      port,
      flags: ["--log-level", "error"],
    });
  /** Repeats the call until there is a response, as a careful client does. */
  const insist = async (url: string, dialect: TestDialect, params: Loose, key: string): Promise<Loose> => {
    let answer: Loose;
    await until(async () => {
      answer = await rpc(url, dialect.send, params, { "idempotency-key": key }).catch(() => undefined);
      return answer?.body.result !== undefined;
    });
    return dialect.taskIn(answer.body.result);
  };

  test("finds the one task that it created, with its reply", async () => {
    const first = await launch();
    const { url, port } = first;
    const wishes = Array.from({ length: 20 }, (_, i) => {
      const dialect = OFFICIAL_DIALECTS[i % 2] as TestDialect;
      return { tongue: dialect, params: dialect.sendParams(`wish ${i}`), key: `key ${i}` };
    });
    const answers = wishes.map(({ tongue: dialect, params, key }) => insist(url, dialect, params, key));
    await until(async () => (await total(url)) >= 5);
    await first.kill();
    letEnd();
    await launch(port);
    const ids = (await Promise.all(answers)).map(task => task.id);
    expect(new Set(ids).size).toBe(20);
    expect(await total(url)).toBe(20);
    const again = await Promise.all(
      wishes.map(({ tongue: dialect, params, key }) => insist(url, dialect, params, key)),
    );
    expect(again.map(task => task.id)).toEqual(ids);
    expect(await total(url)).toBe(20);
  });

  test("gets exactly the missed events, if it was reading a stream", async () => {
    const first = await launch();
    const { url, port } = first;
    const params = V1.sendParams("go");
    const stream = await openStream(url, "SendStreamingMessage", params, KEY);
    const seen = [await stream.next(), await stream.next(), await stream.next()] as SseEvent[];
    await first.kill();
    letEnd();
    await stream.all().catch(() => []);
    await launch(port);
    const last = seen.at(-1)?.id as string;
    const rest = await (
      await openStream(url, "SendStreamingMessage", params, { ...KEY, "last-event-id": last })
    ).all();
    expect(idsOf(rest)[0]).toBeGreaterThan(Number(last));
    expect(V1.toItem(rest.at(-1)?.data).state).toBe("completed");
    const whole = await (await openStream(url, "SendStreamingMessage", params, KEY)).all();
    expect(whole.map(plain)).toEqual([...seen, ...rest].map(plain));
    expect(await total(url)).toBe(1);
  });
});
