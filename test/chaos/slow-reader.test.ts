import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import { openStream, rpc, type SseEvent, type Stream, sendParams, until } from "../support/client.ts";
import { readLiveMemory, writeMemoryAgent } from "../support/memory-agent.ts";
import { tempFolder } from "../support/server.ts";
import { isAscending, partsText, taskOf } from "../support/wire.ts";

const MB = 1024 * 1024;
const TOTAL_BYTES = 50 * MB;
/** Six of them: a server that buffered the unread events of each would grow by 300 MB. */
const SLOW = 6;
const FAST = 2;
/** In use after garbage collection: the tail of the log, and a page for each reader. */
const LIVE_MB_MAX = 100;
/** Resident, with garbage. */
const RESIDENT_MB_MAX = 150;

let folder: ReturnType<typeof tempFolder>;
const gate = (): string => join(folder.path, "gate");

beforeEach(() => {
  folder = tempFolder();
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

/** Replaces one image again and again, so that the task stays small while its log grows. */
function painter(): string {
  return writeAgent(
    folder.path,
    "painter",
    `
    const { existsSync } = await import("node:fs");
    const bytes = Number(task.text);
    const paint = "x".repeat(bytes - 10);
    yield ctx.status("ready");
    while (!existsSync(${JSON.stringify(gate())})) await sleep(5);
    for (let i = 0; i < ${TOTAL_BYTES} / bytes; i++) {
      yield ctx.artifact({ artifactId: "picture", parts: i + ":" + paint });
      if (i % 8 === 0) await new Promise(resolve => setImmediate(resolve));
    }`,
  );
}

/** The maximum of resident memory, in bytes. */
function mostMemory(server: Child): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** A caller that requests a stream and then does not read its socket. */
async function openUnread(
  url: string,
  method: string,
  id: string,
  more: object = {},
): Promise<IncomingMessage> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { id } });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...more };
  const call = request(url, { method: "POST", headers, agent: false });
  call.end(body);
  const [response] = (await once(call, "response")) as [IncomingMessage];
  return response;
}

interface Seen {
  readonly ids: number[];
  readonly pictures: number[];
  last: string;
}

const nothing = (): Seen => ({ ids: [], pictures: [], last: "" });

/** Keeps the relevant members of an event and drops its 50 MB. */
function note(seen: Seen, id: number, result: SseEvent["data"]): void {
  seen.ids.push(id);
  const update = result.artifactUpdate ?? (result.kind === "artifact-update" ? result : undefined);
  if (update) seen.pictures.push(Number.parseInt(partsText(update.artifact.parts).slice(0, 10), 10));
  const status = result.statusUpdate?.status ?? result.status;
  if (status) seen.last = status.state;
}

async function readFast(stream: Stream): Promise<Seen> {
  const seen = nothing();
  for await (const event of stream) note(seen, Number(event.id), event.data.result);
  return seen;
}

async function readAtLast(response: IncomingMessage, seen: Seen = nothing()): Promise<Seen> {
  let rest = "";
  for await (const chunk of response.setEncoding("utf8")) {
    rest += chunk;
    for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n")) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      const found = /^id: (\d+)\ndata: /.exec(block);
      if (found) note(seen, Number(found[1]), JSON.parse(block.slice(found[0].length)).result);
    }
  }
  return seen;
}

/** Whether the server still has the connection open, according to the system. */
function isHeld(server: Child, response: IncomingMessage): boolean {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");
  const line = new RegExp(`:${hex(server.port)} \\w+:${hex(response.socket.localPort as number)} 01 `);
  return line.test(readFileSync("/proc/net/tcp", "utf8"));
}

interface Painting {
  readonly slow: IncomingMessage[];
  readonly fast: Seen[];
}

/** One task of 50 MB with its readers, all connected before its first image. */
async function paint(url: string, eventBytes: number, slowReaders: number): Promise<Painting> {
  rmSync(gate(), { force: true });
  const params = { ...sendParams(String(eventBytes)), configuration: { returnImmediately: true } };
  const { id } = taskOf((await rpc(url, "SendMessage", params)).body);
  const dialect = (i: number): string => (i % 2 === 0 ? "SubscribeToTask" : "tasks/resubscribe");
  const slow: IncomingMessage[] = [];
  for (let i = 0; i < slowReaders; i++) slow.push(await openUnread(url, dialect(i), id));
  const streams: Stream[] = [];
  for (let i = 0; i < FAST; i++) streams.push(await openStream(url, dialect(i), { id }));
  writeFileSync(gate(), "");
  return { slow, fast: await Promise.all(streams.map(readFast)) };
}

for (const eventBytes of [16 * 1024, MB])
  test(`readers that do not read cost the others nothing and the server little, and get everything in the end (events of ${eventBytes} bytes)`, async ({
    skip,
  }) => {
    if (!existsSync("/proc/self/status"))
      return skip("NOT TESTED: this system has no /proc to read memory from");
    const server = await startChild({
      agents: [painter(), writeMemoryAgent(folder.path)],
      data: join(folder.path, "data"),
      flags: ["--durability", "process", "--log-level", "warn"],
    });
    const { url } = server;
    // The memory that the same task takes without them is not theirs.
    await paint(url, eventBytes, 0);
    const before = { live: await readLiveMemory(url), most: mostMemory(server) };

    const { slow, fast } = await paint(url, eventBytes, SLOW);
    const stuck = mostMemory(server) - before.most;
    const live = (await readLiveMemory(url)) - before.live;
    const numbers = Array.from({ length: TOTAL_BYTES / eventBytes }, (_, i) => i);
    for (const seen of fast) {
      expect(seen.pictures).toEqual(numbers);
      expect(seen.last).toMatch(/completed/i);
    }

    for (const seen of await Promise.all(slow.map(one => readAtLast(one)))) {
      expect(seen.pictures).toEqual(numbers);
      expect(isAscending(seen.ids)).toBe(true);
      expect(seen.last).toMatch(/completed/i);
    }
    const after = (await readLiveMemory(url)) - before.live;
    const growth = [live, stuck, after].map(bytes => Math.round(bytes / MB));
    const limits = [LIVE_MB_MAX, RESIDENT_MB_MAX, LIVE_MB_MAX];
    expect({ growth, limits }).toSatisfy(() => growth.every((mb, i) => mb <= (limits[i] as number)));
  });

test("a reader that is stuck for too long is disconnected, and continues from its last event when it reconnects", async ({
  skip,
}) => {
  if (!existsSync("/proc/net/tcp")) return skip("NOT TESTED: this system has no /proc to see connections in");
  writeFileSync(gate(), "");
  const server = await startChild({
    agents: [painter()],
    data: join(folder.path, "data"),
    flags: ["--durability", "process", "--log-level", "warn", "--heartbeat-ms", "100"],
  });
  const { url } = server;
  const params = { ...sendParams(String(16 * 1024)), configuration: { returnImmediately: true } };
  const { id } = taskOf((await rpc(url, "SendMessage", params)).body);
  const response = await openUnread(url, "SubscribeToTask", id, {
    "a2a-version": "1.0",
    "last-event-id": "2",
  });
  await until(() => !isHeld(server, response));
  // Bytes that the system had buffered by then can still be read; then the connection breaks.
  const seen = nothing();
  await expect(readAtLast(response, seen)).rejects.toThrow();
  expect(seen.last).not.toMatch(/completed/i);

  const back = { "last-event-id": String(seen.ids.at(-1)) };
  const rest = await readFast(await openStream(url, "SubscribeToTask", { id }, back));
  expect(isAscending([...seen.ids, ...rest.ids])).toBe(true);
  const numbers = Array.from({ length: TOTAL_BYTES / (16 * 1024) }, (_, i) => i);
  expect([...seen.pictures, ...rest.pictures]).toEqual(numbers);
  expect(rest.last).toMatch(/completed/i);
});
