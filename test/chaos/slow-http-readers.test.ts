import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createFastPath } from "../../src/http/fast-path/connection.ts";
import { sniffProtocol } from "../../src/http/fast-path/sniff.ts";
import { type HttpRequest, type HttpResponse, sendText } from "../../src/http/request.ts";
import { createStallTimer } from "../../src/http/sockets.ts";
import { createResponseWriter, type ResponseWriter } from "../../src/http/write-large.ts";
import { until } from "../support/client.ts";

const KEEP_ALIVE_MS = 100;
/** More than the buffers of a connection on loopback take. */
const LARGE = "x".repeat(24 * 1024 * 1024);
const MIDDLING = "x".repeat(60_000);

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server with and without the fast path, and a connection to it. */
async function open(text: string, stallMs?: number, send: ResponseWriter["send"] = sendText) {
  let served = 0;
  const serve = (_request: HttpRequest, response: HttpResponse): void => {
    served += 1;
    void send(response, 200, text, {});
  };
  const server: Server = createServer((request, response) => serve(request, response));
  const [onConnection] = server.listeners("connection");
  const sockets = new Set<Socket>();
  const fastPath = createFastPath({
    serve,
    passToNode(socket, bytes) {
      onConnection?.call(server, socket);
      socket.emit("data", bytes);
    },
    limits: { headersMax: 20, headBytesMax: 4_000, requestBytesMax: 10_000 },
    keepAliveMs: KEEP_ALIVE_MS,
    now: Date.now,
  });
  const sniffing = sniffProtocol({
    server,
    takeHttp1: (socket, bytes) => {
      sockets.add(socket);
      fastPath.take(socket, bytes);
    },
    takeHttp2: undefined,
    silentMs: 60_000,
    refuseSilent: socket => socket.destroy(),
  });
  const stalls = stallMs === undefined ? undefined : createStallTimer(stallMs, () => sockets);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => {});
  closing.push(() => {
    socket.destroy();
    stalls?.close();
    fastPath.closeAll();
    fastPath.close();
    sniffing.close();
    server.close();
    server.closeAllConnections();
  });
  return { socket, sockets, served: () => served };
}

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const NODES = "GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n";
const pause = (ms: number): Promise<void> => new Promise(resolve => void setTimeout(resolve, ms));

async function readAll(socket: Socket, bytes: number): Promise<number> {
  let received = 0;
  socket.on("data", piece => {
    received += piece.length;
    if (received >= bytes) socket.destroy();
  });
  socket.resume();
  if (!socket.closed) await once(socket, "close");
  return received;
}

it("a connection is not idle while bytes of its response wait in the socket", async () => {
  const { socket } = await open(LARGE);
  socket.write(GET);
  await once(socket, "readable");
  // Ten times the keep-alive timeout.
  await pause(10 * KEEP_ALIVE_MS);
  expect(await readAll(socket, LARGE.length)).toBeGreaterThan(LARGE.length);
});

it("a connection is idle after the last byte is sent, and is closed then", async () => {
  const { socket } = await open(LARGE);
  socket.write(GET);
  await once(socket, "readable");
  await pause(3 * KEEP_ALIVE_MS);
  socket.on("data", () => {}).resume();
  await once(socket, "close");
});

it.each([
  ["fast path", GET],
  ["Node", NODES],
])("a client that reads nothing for too long is disconnected: %s", async (_name, request) => {
  const { socket, sockets } = await open(LARGE, 400);
  socket.write(request);
  await once(socket, "readable");
  await until(() => [...sockets].every(one => one.destroyed));
  expect(await readAll(socket, LARGE.length)).toBeLessThan(LARGE.length);
});

it.each([
  ["fast path", GET],
  ["Node", NODES],
])("a client that reads slowly is not disconnected: %s", async (_name, request) => {
  const STALL_MS = 2_000;
  const { socket } = await open(LARGE, STALL_MS, createResponseWriter(STALL_MS).send);
  socket.write(request);
  let received = 0;
  const started = performance.now();
  for await (const piece of socket) {
    received += (piece as Buffer).length;
    if (received >= LARGE.length) break;
    // In total longer than the stall timeout.
    const due = started + (received / LARGE.length) * 2 * STALL_MS;
    await pause(Math.max(0, due - performance.now()));
  }
  expect(received).toBeGreaterThanOrEqual(LARGE.length);
});

it("a client that sends requests without reading responses is not served without limit", async () => {
  const { socket, served } = await open(MIDDLING);
  const ASKED = 3_000;
  let quiet = 0;
  for (let asked = 0; asked < ASKED && quiet < 100; asked++) {
    const before = served();
    socket.write(GET);
    for (quiet = 0; served() === before && quiet < 100; quiet++) await pause(2);
  }
  expect(served()).toBeLessThan(ASKED / 2);
  // After it has read, it is served again.
  const before = served();
  socket.on("data", () => {});
  await until(() => served() > before);
});
