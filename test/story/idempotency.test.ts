import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import { openStream, rpc, type SseEvent, until } from "../support/client.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { asker, replier } from "../support/puppet.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { ask, fieldsOf, type Loose, refused, TONGUES, type Tongue, V1, V03 } from "../support/tongue.ts";
import { idsOf } from "../support/wire.ts";

/** D10: the same call twice is one call. */

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

/** Counts its runs; waits at the gate in the middle of a task that is to be slow. */
const worker: AgentDefinition = {
  name: "worker",
  async *run(task, ctx) {
    runs.push(task.text);
    yield ctx.text(`${task.text} `);
    if (task.text === "slow") await gate.opened;
    yield ctx.text("done");
  },
};
/** Answers with a bare message, but has not said that it will. */
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
const total = async (url: string): Promise<number> => (await ask(url, "ListTasks", {})).totalSize;

describe.each(TONGUES)("in $name", tongue => {
  test("a send that is repeated with its key gets the same answer, and nothing is done twice", async () => {
    const url = await start();
    const params = tongue.said("hello");
    const first = await ask(url, tongue.send, params, KEY);
    const second = await ask(url, tongue.send, params, KEY);
    expect(second).toEqual(first);
    expect([runs, await total(url)]).toEqual([["hello"], 1]);
    const other = await ask(url, tongue.send, params, { "idempotency-key": "k-2" });
    expect(tongue.taskIn(other).id).not.toBe(tongue.taskIn(first).id);
  });

  test("many at once are one task, and all get its answer", async () => {
    const url = await start();
    const params = tongue.said("hello");
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(url, tongue.send, params, KEY)));
    expect(new Set(answers.map(answer => tongue.taskIn(answer).id)).size).toBe(1);
    expect([runs, await total(url)]).toEqual([["hello"], 1]);
  });

  test("a stream that is repeated with its key is the same stream, while it runs and after it", async () => {
    const url = await start();
    const params = tongue.said("slow");
    const first = await openStream(url, tongue.stream, params, KEY);
    const seen = [await first.next(), await first.next(), await first.next()] as SseEvent[];
    const second = await openStream(url, tongue.stream, params, KEY);
    gate.open();
    const all = [...seen, ...(await first.all())].map(plain);
    expect((await second.all()).map(plain)).toEqual(all);
    const third = await openStream(url, tongue.stream, params, KEY);
    expect((await third.all()).map(plain)).toEqual(all);
    expect(runs).toEqual(["slow"]);
  });

  test("with the last event that was seen, a repeated stream is exactly the rest, from every point", async () => {
    const url = await start();
    const params = tongue.said("hello");
    const all = (await (await openStream(url, tongue.stream, params, KEY)).all()).map(plain);
    for (const [i, { id }] of all.entries()) {
      const byHeader = await openStream(url, tongue.stream, params, {
        ...KEY,
        "last-event-id": id as string,
      });
      expect((await byHeader.all()).map(plain)).toEqual(all.slice(i + 1));
      const more = { ...params, metadata: { afterSequence: Number(id) } };
      const byMetadata = await openStream(url, tongue.stream, more, KEY);
      expect((await byMetadata.all()).map(plain)).toEqual(all.slice(i + 1));
    }
    for (const id of ["0", "1", "99", "nonsense"]) {
      const whole = await openStream(url, tongue.stream, params, { ...KEY, "last-event-id": id });
      expect((await whole.all()).map(plain)).toEqual(all);
    }
    expect(runs).toEqual(["hello"]);
  });

  test("a reader that comes back to a running stream hears what it missed, then the rest", async () => {
    const url = await start();
    const params = tongue.said("slow");
    const first = await openStream(url, tongue.stream, params, KEY);
    const seen = [(await first.next()) as SseEvent, (await first.next()) as SseEvent];
    first.close();
    const last = seen.at(-1)?.id as string;
    const back = await openStream(url, tongue.stream, params, { ...KEY, "last-event-id": last });
    gate.open();
    const rest = await back.all();
    expect(idsOf(rest)[0]).toBe(Number(last) + 1);
    expect(tongue.hear(rest.at(-1)?.data).state).toBe("completed");
    expect(runs).toEqual(["slow"]);
  });

  test("a key that belongs to another call is refused, and nothing is done", async () => {
    const url = await start([worker, { ...worker, name: "colleague" }]);
    const params = tongue.said("hello");
    await ask(url, tongue.send, params, KEY);
    for (const method of [tongue.send, tongue.stream]) {
      const error = await refused(url, method, tongue.said("bye"), KEY);
      expect(error.code).toBe(-32054);
      expect(error.message).toMatch(/Idempotency-Key.*another call/);
    }
    expect(runs).toEqual(["hello"]);
    // Another agent's keys are others.
    await ask(`${url}/agents/colleague`, tongue.send, tongue.said("bye"), KEY);
    expect(runs).toEqual(["hello", "bye"]);
  });

  test.each([replier, shy])("a bare reply is repeated as the same message ($name)", async definition => {
    gate.open();
    const url = await start([definition]);
    const params = tongue.said("hello");
    const first = tongue.messageIn(await ask(url, tongue.send, params, KEY));
    expect(tongue.messageIn(await ask(url, tongue.send, params, KEY))).toEqual(first);
    const heard = await (await openStream(url, tongue.stream, params, KEY)).all();
    expect(heard.map(event => tongue.hear(event.data).value)).toEqual([first]);
    expect(await total(url)).toBe(0);
  });

  test("whoever repeats a call without waiting gets a task that can be read, whatever the agent says then", async () => {
    const url = await start([shy]);
    const params = tongue.said("hello");
    const waiting = ask(url, tongue.send, params, KEY);
    await until(() => runs.length === 1);
    const atOnce = { ...params, configuration: tongue.atOnce };
    const { id } = tongue.taskIn(await ask(url, tongue.send, atOnce, KEY));
    gate.open();
    expect(tongue.taskIn(await waiting)).toMatchObject({ id });
    expect(tongue.stateOf(await ask(url, tongue.get, { id }))).toBe("completed");
    expect(runs).toHaveLength(1);
  });

  test("an answer to a question that is repeated is given once, and gets the same reply", async () => {
    const url = await start([asker]);
    const question = tongue.said("book");
    const asked = await ask(url, tongue.send, question, KEY);
    const { id } = tongue.taskIn(asked);
    const answer = tongue.said("red", { taskId: id });
    const key = { "idempotency-key": "k-2" };
    const done = await ask(url, tongue.send, answer, key);
    expect(tongue.stateOf(tongue.taskIn(done))).toBe("completed");
    expect(await ask(url, tongue.send, answer, key)).toEqual(done);
    // The first call is still answered as it was: with the question.
    expect(await ask(url, tongue.send, question, KEY)).toEqual(asked);
  });
});

test("a call can be repeated in the other dialect, and with or without a stream", async () => {
  const url = await start();
  const message = { messageId: "m", contextId: "c" };
  const { id } = V1.taskIn(await ask(url, V1.send, V1.said("hello", message), KEY));
  expect((await ask(url, V03.send, V03.said("hello", message), KEY)).id).toBe(id);
  const heard = await (await openStream(url, V03.stream, V03.said("hello", message), KEY)).all();
  expect(heard[0]?.data.result).toMatchObject({ kind: "task", id });
  expect(runs).toEqual(["hello"]);
});

test("what no key can be is refused with its name; a read takes no notice of one", async () => {
  const url = await start();
  for (const key of [" ", "x".repeat(257)]) {
    const error = await refused(url, "SendMessage", V1.said("hello"), { "idempotency-key": key });
    expect(error.code).toBe(-32602);
    expect(fieldsOf(error)).toEqual(["Idempotency-Key"]);
  }
  for (const afterSequence of ["soon", -1, 1.5, {}]) {
    const error = await refused(url, "SendStreamingMessage", {
      ...V1.said("x"),
      metadata: { afterSequence },
    });
    expect(fieldsOf(error)).toEqual(["metadata.afterSequence"]);
  }
  expect(runs).toEqual([]);
  await ask(url, "ListTasks", {}, KEY);
});

describe("an agent that takes the id of a message for a key", () => {
  const once: AgentDefinition = { ...worker, dedupe: "messageId" };

  test.each(TONGUES)("gets each message once, in $name", async tongue => {
    const url = await start([once]);
    const params = tongue.said("hello", { messageId: "m-1" });
    const send = (more: Loose = {}, headers = {}) => ask(url, tongue.send, { ...params, ...more }, headers);
    const answers = await Promise.all([send(), send(), send({}, KEY)]);
    expect(new Set(answers.map(answer => tongue.taskIn(answer).id)).size).toBe(1);
    expect(await send()).toEqual(answers[0]);
    expect(runs).toEqual(["hello"]);
    const error = await refused(url, tongue.send, tongue.said("bye", { messageId: "m-1" }));
    expect(error.code).toBe(-32054);
    if (tongue === V1) expect(JSON.stringify(error.data)).toContain("message.messageId");
    await ask(url, tongue.send, tongue.said("bye", { messageId: "m-2" }));
    expect(runs).toEqual(["hello", "bye"]);
  });

  test("a key and a messageId of the same spelling are not the same", async () => {
    const url = await start([once]);
    await ask(url, "SendMessage", V1.said("one", { messageId: "k-1" }));
    await ask(url, "SendMessage", V1.said("two", { messageId: "m-1" }), KEY);
    expect(runs).toEqual(["one", "two"]);
  });
});

test("keys are known after a restart", async () => {
  const params = V1.said("hello");
  const first = await ask(await start([worker], folder.path), "SendMessage", params, KEY);
  await server?.stop();
  const url = await start([worker], folder.path);
  expect(await ask(url, "SendMessage", params, KEY)).toEqual(first);
  expect((await refused(url, "SendMessage", V1.said("bye"), KEY)).code).toBe(-32054);
  expect(runs).toEqual(["hello"]);
});

describe("a client that got no answer, because the server was killed, and sends again with its key", () => {
  /** Ends only after the kill, whichever attempt it is then: it waits for a file. */
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
  /** Sends until there is an answer, as a careful client does. */
  const insist = async (url: string, tongue: Tongue, params: Loose, key: string): Promise<Loose> => {
    let answer: Loose;
    await until(async () => {
      answer = await rpc(url, tongue.send, params, { "idempotency-key": key }).catch(() => undefined);
      return answer?.body.result !== undefined;
    });
    return tongue.taskIn(answer.body.result);
  };

  test("finds the one task that it began, with its answer", async () => {
    const first = await launch();
    const { url, port } = first;
    const wishes = Array.from({ length: 20 }, (_, i) => {
      const tongue = TONGUES[i % 2] as Tongue;
      return { tongue, params: tongue.said(`wish ${i}`), key: `key ${i}` };
    });
    const answers = wishes.map(({ tongue, params, key }) => insist(url, tongue, params, key));
    await until(async () => (await total(url)) >= 5);
    await first.kill();
    letEnd();
    await launch(port);
    const ids = (await Promise.all(answers)).map(task => task.id);
    expect(new Set(ids).size).toBe(20);
    expect(await total(url)).toBe(20);
    const again = await Promise.all(
      wishes.map(({ tongue, params, key }) => insist(url, tongue, params, key)),
    );
    expect(again.map(task => task.id)).toEqual(ids);
    expect(await total(url)).toBe(20);
  });

  test("gets exactly the events that it missed, if it was reading a stream", async () => {
    const first = await launch();
    const { url, port } = first;
    const params = V1.said("go");
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
    expect(V1.hear(rest.at(-1)?.data).state).toBe("completed");
    const whole = await (await openStream(url, "SendStreamingMessage", params, KEY)).all();
    expect(whole.map(plain)).toEqual([...seen, ...rest].map(plain));
    expect(await total(url)).toBe(1);
  });
});
