import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { echo } from "../support/agents.ts";
import { openStream, rpc, sendParams } from "../support/client.ts";
import { createGrpcClient } from "../support/grpc.ts";
import { exchange, openRaw, request } from "../support/raw.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Requests that Node's HTTP server has read, by port. */
const read = new Map<string, number>();
const CHANNEL = "http.server.request.start";
const count = (message: unknown): void => {
  const { socket } = message as { readonly socket: Socket };
  read.set(`${socket.localPort}`, (read.get(`${socket.localPort}`) ?? 0) + 1);
};

let server: TestServer | undefined;
async function start(settings: Partial<ServerSettings>): Promise<TestServer> {
  server = await serve([echo], { adminPort: 0, ...settings });
  subscribe(CHANNEL, count);
  return server;
}
afterEach(async () => {
  unsubscribe(CHANNEL, count);
  read.clear();
  await server?.stop();
});

const readAt = (url: string | undefined): number => read.get(new URL(url as string).port) ?? 0;
const CALL = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "ListTasks", params: {} });
const V = { "A2A-Version": "1.0" };

/** Requests that are written in one piece, in the plain form that the fast path accepts: 4 and 1. */
async function askPlainly({ url, admin }: TestServer): Promise<void> {
  const raw = openRaw(url);
  for (const path of ["/", "/", "/agents/echo"]) {
    raw.write(request(CALL, V, `POST ${path}`));
    expect((await raw.reply())?.status).toBe(200);
  }
  raw.destroy();
  expect((await exchange(url, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")).status).toBe(404);
  const metrics = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  expect((await exchange(admin as string, metrics)).status).toBe(200);
}

it("the fast path accepts plain requests by default, at both ports: Node's server reads none of them", async () => {
  const server = await start({});
  await askPlainly(server);
  expect([readAt(server.url), readAt(server.admin)]).toEqual([0, 0]);
});

it("the fast path is switched off by httpFastPath: Node's server reads every request, at both ports, and answers it", async () => {
  const server = await start({ httpFastPath: false });
  const { url } = server;
  await askPlainly(server);
  expect([readAt(url), readAt(server.admin)]).toEqual([4, 1]);
  expect((await fetch(`${url}/.well-known/agent-card.json`)).status).toBe(200);
  expect((await rpc(url, "SendMessage", sendParams("hello"))).body.result).toBeDefined();
  expect((await rpc(url, "SendMessage", sendParams("é".repeat(100_000)))).body.result).toBeDefined();
  expect((await rpc(url, "Nonsense", {})).body.error).toBeDefined();
  const stream = await openStream(url, "SendStreamingMessage", sendParams("hello"));
  expect((await stream.all()).length).toBeGreaterThan(0);
  expect(readAt(url)).toBe(9);
});

it("a stream whose events are all there is one write: its frames and its end have a length", async () => {
  const { url } = await start({});
  const { id } = (await rpc(url, "SendMessage", sendParams("hello"))).body.result.task;
  const reply = await fetch(`${url}/v1/responses/${id}?stream=true`);
  expect(Number(reply.headers.get("content-length"))).toBe((await reply.bytes()).length);
  expect(reply.headers.get("transfer-encoding")).toBeNull();
});

it("gRPC on the same port works without the fast path", async () => {
  const { url } = await start({ httpFastPath: false });
  const client = createGrpcClient(new URL(url).host);
  const { json } = await client.ask("SendMessage", sendParams("hello"));
  expect(JSON.stringify(json)).toContain("hello");
  client.close();
});

it("idle connections do not delay a stop without the fast path", async () => {
  const { url } = await start({ httpFastPath: false });
  const raw = openRaw(url);
  raw.write(request(CALL, V));
  expect((await raw.reply())?.status).toBe(200);
  await server?.stop();
  await raw.closed;
});

it.each([true, false])(
  "a head of many headers and a byte beyond ASCII is answered, with the fast path: %s",
  async httpFastPath => {
    const { url } = await start({ httpFastPath });
    const many = Array.from({ length: 60 }, (_, i) => `X${i}: v\r\n`).join("");
    const text = `POST / HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\n${many}Last: é\r\nContent-Length: ${CALL.length}\r\n\r\n${CALL}`;
    expect((await exchange(url, Buffer.from(text, "latin1"))).status).toBe(200);
    expect(readAt(url)).toBe(1);
  },
);
