import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shareDoor } from "./sniff.ts";

const SILENT_MS = 100;
const http2: Socket[] = [];
/** Whether Node's parser reads from the socket itself, without a stream in between. */
const straight: unknown[] = [];
const server = createServer((request, response) => {
  straight.push((request.socket as unknown as { _handle: { _consumed: unknown } })._handle._consumed);
  response.end("hello");
});
const [takeHttp1] = server.listeners("connection");
const door = shareDoor({
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

async function answerTo(words: string): Promise<string> {
  const socket = call();
  socket.write(words);
  return (await Array.fromAsync(socket)).join("");
}

describe("a door that two protocols share", () => {
  it("leaves HTTP/1 to the server, and parses it straight from the socket", async () => {
    expect(await answerTo("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).toMatch(/hello$/);
    expect(straight).toEqual([true]);
  });

  it("hands HTTP/2 on with all that was said", async () => {
    const socket = call();
    for (const piece of ["P", "R", "I * HTTP/2.0\r\n"]) {
      socket.write(piece);
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    while (http2.length === 0) await new Promise(resolve => setTimeout(resolve, 5));
    expect(String(http2[0]?.read())).toBe("PRI * HTTP/2.0\r\n");
    socket.destroy();
  });

  it("refuses whoever says nothing, or not enough, in time", async () => {
    expect(await answerTo("")).toBe("too late");
    expect(await answerTo("PR")).toBe("too late");
  });

  it("closes what is undecided, and forgets who leaves", async () => {
    const leaving = call();
    await once(leaving, "connect");
    leaving.end();
    await once(leaving.resume(), "close");
    const waiting = call();
    await once(waiting, "connect");
    await new Promise(resolve => setTimeout(resolve, 10));
    door.close();
    await once(waiting.resume(), "close");
  });
});
