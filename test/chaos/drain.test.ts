import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import { openStream, rpc, type SseEvent, sendParams, until } from "../support/client.ts";
import { tempFolder } from "../support/server.ts";
import { foldText, idsOf, isAscending, stateOf, summaryOf, taskOf, textOf } from "../support/wire.ts";

let folder: ReturnType<typeof tempFolder>;
let agent: string;
const gate = (): string => join(folder.path, "gate");

beforeEach(() => {
  folder = tempFolder();
  agent = writeAgent(
    folder.path,
    "worker",
    `
    const { existsSync } = await import("node:fs");
    yield ctx.text("begun, ");
    while (!existsSync(${JSON.stringify(gate())})) {
      if (task.text === "deaf") await sleep(5);
      else await sleep(5, undefined, { signal: ctx.signal });
    }
    yield ctx.text("done");`,
  );
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

const PATIENT = ["--drain-ms", "60000"];
const HASTY = ["--drain-ms", "20", "--cancel-grace-ms", "100"];

const start = (flags: readonly string[], port = 0): Promise<Child> =>
  startChild({
    agents: [agent],
    data: join(folder.path, "data"),
    port,
    flags: ["--durability", "process", "--log-level", "warn", ...flags],
  });

/** Sends SIGTERM and waits until the server has received it. */
async function terminate(server: Child): Promise<void> {
  server.signal("SIGTERM");
  await until(() => /finishing|stopping/.test(server.stderr()));
}

const atOnce = { configuration: { returnImmediately: true } };
async function begin(url: string, content: string, message: object = {}): Promise<string> {
  return taskOf((await rpc(url, "SendMessage", { ...sendParams(content, message), ...atOnce })).body).id;
}
const get = async (url: string, id: string) => (await rpc(url, "GetTask", { id })).body;

/** A call whose last byte is held back until `finish`. */
async function half(url: string, params: object): Promise<{ finish(): Promise<IncomingMessage> }> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params });
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "a2a-version": "1.0",
  };
  const call: ClientRequest = request(url, { method: "POST", headers });
  const answer = once(call, "response") as Promise<[IncomingMessage]>;
  await new Promise<void>(resolve => call.write(body.slice(0, -1), () => resolve()));
  return {
    async finish() {
      call.end(body.slice(-1));
      return (await answer)[0];
    },
  };
}

test("a short run finishes, new calls are refused, and the server exits with code 0", async () => {
  const server = await start(PATIENT);
  const { url } = server;
  const stream = await openStream(url, "SendStreamingMessage", sendParams("short"));
  const first = (await stream.next()) as SseEvent;
  const held = await half(url, sendParams("too late"));
  await rpc(url, "GetTask", { id: "nobody" });
  await terminate(server);

  const refusal = await held.finish();
  expect(refusal.statusCode).toBe(503);
  const { error } = JSON.parse(await text(refusal));
  expect(error.data[0]).toMatchObject({ reason: "UNAVAILABLE" });
  await expect(rpc(url, "SendMessage", sendParams("anyone?"))).rejects.toThrow();

  writeFileSync(gate(), "");
  const events = await stream.all();
  expect(foldText([first, ...events])).toBe("begun, done");
  expect(summaryOf(events.at(-1) as SseEvent).what).toBe("status completed");
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

test("a long run is left for the next start: its stream ends cleanly and is resumed there", async () => {
  const server = await start(HASTY);
  const { url, port } = server;
  const stream = await openStream(url, "SendStreamingMessage", sendParams("long"));
  const before = [(await stream.next()) as SseEvent];
  const { id, contextId } = (before[0] as SseEvent).data.result.task;
  before.push((await stream.next()) as SseEvent);
  const queued = await begin(url, "queued", { contextId });
  await terminate(server);
  // A stream that was cut would throw here.
  before.push(...(await stream.all()));
  expect(await server.exited).toEqual({ code: 0, signal: null });
  const last = before.at(-1)?.id as string;
  expect(last).toMatch(/^\d+$/);
  expect(before.map(summaryOf).some(event => /failed|canceled|completed/.test(event.what))).toBe(false);

  writeFileSync(gate(), "");
  const next = await start(HASTY, port);
  expect(next.banner.unfinished).toEqual({ worker: 2 });
  const resumed = await openStream(url, "SubscribeToTask", { id }, { "last-event-id": last });
  const rest = await resumed.all();
  expect(isAscending(idsOf([...before, ...rest]))).toBe(true);
  expect(foldText([...before, ...rest])).toBe("begun, done");
  expect(summaryOf(rest.at(-1) as SseEvent).what).toBe("status completed");
  expect(textOf(await get(url, id))).toBe("begun, done");
  await until(async () => stateOf(await get(url, queued)) === "completed");
});

test("a stream that is ended by a stop ends after a whole event", async () => {
  const server = await start(HASTY);
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 7,
    method: "SendStreamingMessage",
    params: sendParams("long"),
  });
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const response = await fetch(server.url, { method: "POST", headers, body });
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const chunks = [(await reader.read()).value as Uint8Array];
  server.signal("SIGTERM");
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  const all = Buffer.concat(chunks).toString();
  expect(all.endsWith("\n\n")).toBe(true);
  const blocks = all.slice(0, -2).split("\n\n");
  for (const block of blocks) {
    expect(block).toMatch(/^id: \d+\ndata: /);
    JSON.parse(block.slice(block.indexOf("data: ") + 6));
  }
  expect((await server.exited).code).toBe(0);
});

test("a caller that waits for a long run gets the task as it is", async () => {
  const server = await start(HASTY);
  const answer = rpc(server.url, "SendMessage", sendParams("long"));
  await until(async () => {
    const { totalSize } = (await rpc(server.url, "ListTasks", {})).body.result;
    return totalSize === 1;
  });
  server.signal("SIGTERM");
  const { status, body } = await answer;
  expect(status).toBe(200);
  expect(["working", "submitted"]).toContain(stateOf(body));
  expect((await server.exited).code).toBe(0);
});

test("an agent that ignores the stop is abandoned, and its task is run by the next start", async () => {
  const server = await start(HASTY);
  const { url, port } = server;
  const id = await begin(url, "deaf");
  await until(async () => textOf(await get(url, id)) === "begun, ");
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  writeFileSync(gate(), "");
  await start(HASTY, port);
  await until(async () => stateOf(await get(url, id)) === "completed");
  expect(textOf(await get(url, id))).toBe("begun, done");
});

test("graceful restarts, however many, do not count as crashes: the task is not given up", async () => {
  let server = await start(HASTY);
  const { url, port } = server;
  const id = await begin(url, "long");
  for (let restarts = 0; restarts < 5; restarts++) {
    await until(async () => stateOf(await get(url, id)) === "working");
    expect((await server.stop()).code).toBe(0);
    server = await start(HASTY, port);
  }
  await until(async () => stateOf(await get(url, id)) === "working");
  writeFileSync(gate(), "");
  await until(async () => stateOf(await get(url, id)) === "completed");
  expect(textOf(await get(url, id))).toBe("begun, done");
});

test("a cancel during the drain is not lost", async () => {
  const server = await start(["--drain-ms", "60000", "--cancel-grace-ms", "60000"]);
  const { url, port } = server;
  const id = await begin(url, "long");
  await until(async () => stateOf(await get(url, id)) === "working");
  const params = { id };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "CancelTask", params });
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "a2a-version": "1.0",
  };
  const call = request(url, { method: "POST", headers });
  const answer = once(call, "response") as Promise<[IncomingMessage]>;
  await new Promise<void>(resolve => call.write(body.slice(0, -1), () => resolve()));
  await rpc(url, "GetTask", { id });
  await terminate(server);
  call.end(body.slice(-1));
  const [response] = await answer;
  expect(stateOf(JSON.parse(await text(response)))).toBe("canceled");
  expect((await server.exited).code).toBe(0);
  await start(HASTY, port);
  expect(stateOf(await get(url, id))).toBe("canceled");
});
