import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sniffProtocol } from "./sniff.ts";

const SILENT_MS = 100;
const http2: Socket[] = [];
/** Whether Node's parser reads from the socket itself, without a stream in between. */
const straight: unknown[] = [];
const server = createServer((request, response) => {
  straight.push((request.socket as unknown as { _handle: { _consumed: unknown } })._handle._consumed);
  response.end("hello");
});
const [takeHttp1] = server.listeners("connection");
const sniffing = sniffProtocol({
  server,
  takeHttp1(socket, bytes) {
    takeHttp1?.call(server, socket);
    socket.emit("data", bytes);
  },
  silentMs: SILENT_MS,
  takeHttp2: socket => http2.push(socket),
  refuseSilent: socket => void socket.end("too late"),
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  for (const socket of http2) socket.destroy();
  server.close();
  await once(server, "close");
});

function call(): Socket {
  return connect((server.address() as AddressInfo).port, "127.0.0.1").setEncoding("latin1");
}

async function exchange(text: string): Promise<string> {
  const socket = call();
  socket.write(text);
  return (await Array.fromAsync(socket)).join("");
}

describe("HTTP/1 and HTTP/2 at one port", () => {
  it("HTTP/1 goes to Node's server, which parses it straight from the socket", async () => {
    expect(await exchange("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).toMatch(/hello$/);
    expect(straight).toEqual([true]);
  });

  it("HTTP/2 is passed on with all bytes", async () => {
    const socket = call();
    for (const piece of ["P", "R", "I * HTTP/2.0\r\n"]) {
      socket.write(piece);
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    while (http2.length === 0) await new Promise(resolve => setTimeout(resolve, 5));
    expect(String(http2[0]?.read())).toBe("PRI * HTTP/2.0\r\n");
    socket.destroy();
  });

  it("a client that sends nothing, or too little, is refused after the timeout", async () => {
    expect(await exchange("")).toBe("too late");
    expect(await exchange("PR")).toBe("too late");
  });

  it("undecided connections are closed with the server, and removed when the client leaves", async () => {
    const leaving = call();
    await once(leaving, "connect");
    leaving.end();
    await once(leaving.resume(), "close");
    const waiting = call();
    await once(waiting, "connect");
    await new Promise(resolve => setTimeout(resolve, 10));
    sniffing.close();
    await once(waiting.resume(), "close");
  });
});
