import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { until } from "../../test/support/client.ts";
import { createWicket } from "./fast-path/connection.ts";
import { shareDoor } from "./fast-path/sniff.ts";
import { type HttpRequest, type HttpResponse, sendText } from "./request.ts";
import { createStalls } from "./stall-timer.ts";
import { type Answers, createAnswers } from "./write-large.ts";

const KEEP_ALIVE_MS = 100;
/** More than the buffers of a connection on loopback take. */
const LARGE = "x".repeat(24 * 1024 * 1024);
const MIDDLING = "x".repeat(60_000);

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server with both ways, and a connection to it. */
async function open(text: string, stallMs?: number, send: Answers["send"] = sendText) {
  let served = 0;
  const serve = (_request: HttpRequest, response: HttpResponse): void => {
    served += 1;
    void send(response, 200, text, {});
  };
  const server: Server = createServer((request, response) => serve(request, response));
  const [takeAll] = server.listeners("connection");
  const sockets = new Set<Socket>();
  const wicket = createWicket({
    serve,
    pass(socket, bytes) {
      takeAll?.call(server, socket);
      socket.emit("data", bytes);
    },
    limits: { headersMax: 20, headBytesMax: 4_000, requestBytesMax: 10_000 },
    keepAliveMs: KEEP_ALIVE_MS,
    now: Date.now,
  });
  const door = shareDoor({
    server,
    takeHttp1: (socket, bytes) => {
      sockets.add(socket);
      wicket.take(socket, bytes);
    },
    takeHttp2: undefined,
    silentMs: 60_000,
    refuseSilent: socket => socket.destroy(),
  });
  const stalls = stallMs === undefined ? undefined : createStalls(stallMs, () => sockets);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => {});
  closing.push(() => {
    socket.destroy();
    stalls?.close();
    wicket.closeAll();
    wicket.close();
    door.close();
    server.close();
    server.closeAllConnections();
  });
  return { socket, sockets, served: () => served };
}

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const NODES = "GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n";
const pause = (ms: number): Promise<void> => new Promise(resolve => void setTimeout(resolve, ms));

async function readAll(socket: Socket, bytes: number): Promise<number> {
  let heard = 0;
  socket.on("data", piece => {
    heard += piece.length;
    if (heard >= bytes) socket.destroy();
  });
  socket.resume();
  if (!socket.closed) await once(socket, "close");
  return heard;
}

it("a connection is not idle while bytes of its answer wait for the reader", async () => {
  const { socket } = await open(LARGE);
  socket.write(GET);
  await once(socket, "readable");
  // Ten times as long as an idle connection is kept.
  await pause(10 * KEEP_ALIVE_MS);
  expect(await readAll(socket, LARGE.length)).toBeGreaterThan(LARGE.length);
});

it("a connection is idle when the last of them has gone, and is closed then", async () => {
  const { socket } = await open(LARGE);
  socket.write(GET);
  await once(socket, "readable");
  await pause(3 * KEEP_ALIVE_MS);
  socket.on("data", () => {}).resume();
  await once(socket, "close");
});

it.each([
  ["read here", GET],
  ["read by Node", NODES],
])("a reader that takes nothing for too long loses its connection: %s", async (_name, request) => {
  const { socket, sockets } = await open(LARGE, 400);
  socket.write(request);
  await once(socket, "readable");
  await until(() => [...sockets].every(one => one.destroyed));
  expect(await readAll(socket, LARGE.length)).toBeLessThan(LARGE.length);
});

it.each([
  ["read here", GET],
  ["read by Node", NODES],
])("a reader that takes some now and then keeps it, however long it takes: %s", async (_name, request) => {
  const STALL_MS = 2_000;
  const { socket } = await open(LARGE, STALL_MS, createAnswers(STALL_MS).send);
  socket.write(request);
  let heard = 0;
  const begun = performance.now();
  for await (const piece of socket) {
    heard += (piece as Buffer).length;
    if (heard >= LARGE.length) break;
    // In all it takes longer than nothing may be taken.
    const due = begun + (heard / LARGE.length) * 2 * STALL_MS;
    await pause(Math.max(0, due - performance.now()));
  }
  expect(heard).toBeGreaterThanOrEqual(LARGE.length);
});

it("a caller that asks on and on and reads nothing is not served on and on", async () => {
  const { socket, served } = await open(MIDDLING);
  const ASKED = 3_000;
  let quiet = 0;
  for (let asked = 0; asked < ASKED && quiet < 100; asked++) {
    const before = served();
    socket.write(GET);
    for (quiet = 0; served() === before && quiet < 100; quiet++) await pause(2);
  }
  expect(served()).toBeLessThan(ASKED / 2);
  // Who reads after all is served on.
  const before = served();
  socket.on("data", () => {});
  await until(() => served() > before);
});
