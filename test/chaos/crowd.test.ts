import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { openStream, rpc, type SseEvent, sendParams, until } from "../support/client.ts";
import { createGate, nextTurn } from "../support/gate.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { foldText, idsOf, isAscending, stateOf, summaryOf, textOf } from "../support/wire.ts";

let server: TestServer | undefined;
const sockets: Socket[] = [];
let folder: ReturnType<typeof tempFolder> | undefined;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.stop();
  server = undefined;
  folder?.remove();
});

/** Sends numbers when the gate opens. */
function counter(gate: { readonly opened: Promise<void> }, count: number, every: number): AgentDefinition {
  return {
    name: "counter",
    replies: "task",
    async *run(_task, ctx) {
      await gate.opened;
      for (let i = 0; i < count; i++) {
        yield ctx.text(`${i} `);
        if (i % every === every - 1) await nextTurn();
      }
    },
  };
}
const numbers = (count: number): string => Array.from({ length: count }, (_, i) => `${i} `).join("");

async function begin(): Promise<string> {
  const params = { ...sendParams("count"), configuration: { returnImmediately: true } };
  return (await rpc((server as TestServer).url, "SendMessage", params)).body.result.task.id;
}

async function start(agent: AgentDefinition): Promise<string> {
  folder = tempFolder();
  server = await serve([agent], { data: folder.path });
  return server.url;
}

/** A reader that reads one byte of its stream per second. */
function readOneByteASecond(url: string, taskId: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: taskId } });
  socket.write(
    `POST / HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  socket.pause();
  const timer = setInterval(() => socket.read(1), 1_000);
  socket.on("close", () => clearInterval(timer));
  return socket;
}

test("one reader that reads a byte per second slows none of 200 that read at full speed", async () => {
  const COUNT = 1_000;
  const gate = createGate();
  const url = await start(counter(gate, COUNT, 20));
  const taskId = await begin();
  const slow = readOneByteASecond(url, taskId);
  const open = Array.from({ length: 200 }, () => openStream(url, "SubscribeToTask", { id: taskId }));
  const streams = await Promise.all(open);
  const read = streams.map(stream => stream.all());
  gate.open();
  const all = await Promise.all(read);
  for (const events of all) {
    expect(foldText(events)).toBe(numbers(COUNT));
    expect(isAscending(idsOf(events))).toBe(true);
  }
  // It has got a few bytes, and is still connected.
  expect(slow.destroyed).toBe(false);
  await until(() => slow.bytesRead > 0);
});

test("2,000 subscriptions to one task all get all of it", async () => {
  const COUNT = 50;
  const READERS = 2_000;
  const gate = createGate();
  const url = await start(counter(gate, COUNT, 10));
  const taskId = await begin();
  let received = 0;
  const read = Array.from({ length: READERS }, async () => {
    const stream = await openStream(url, "SubscribeToTask", { id: taskId });
    const first = (await stream.next()) as SseEvent;
    received += 1;
    return [first, ...(await stream.all())];
  });
  await until(() => received === READERS, 150_000);
  gate.open();
  const texts = (await Promise.all(read)).map(events => foldText(events));
  expect(new Set(texts)).toEqual(new Set([numbers(COUNT)]));
  // No listener is left on the bus or in the table of streams.
  const after = await openStream(url, "SendStreamingMessage", sendParams("count"));
  expect(summaryOf((await after.all()).at(-1) as SseEvent).what).toBe("status completed");
});

test("an agent that sends 100,000 events has them all recorded, and a reader can continue from any of them", async () => {
  const COUNT = 100_000;
  const gate = createGate();
  const url = await start(counter(gate, COUNT, 500));
  gate.open();
  const whole = numbers(COUNT);
  const events = await (await openStream(url, "SendStreamingMessage", sendParams("count"))).all();
  expect(foldText(events)).toBe(whole);
  expect(idsOf(events).at(-1)).toBeGreaterThan(COUNT);
  const { id: taskId } = (events[0] as SseEvent).data.result.task;
  const task = await rpc(url, "GetTask", { id: taskId });
  expect([stateOf(task.body), textOf(task.body) === whole]).toEqual(["completed", true]);
  for (const at of [1, 50_000, events.length - 2]) {
    const { id } = events[at] as SseEvent;
    const rest = await openStream(url, "SubscribeToTask", { id: taskId }, { "last-event-id": id as string });
    const replayed = (await rest.all()).map(one => [one.id, one.data.result]);
    expect(replayed).toEqual(events.slice(at + 1).map(one => [one.id, one.data.result]));
  }
});
