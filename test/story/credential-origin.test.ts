/** Credentials for another agent are sent to the configured origin, and to no other that its card names. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { createServer as createHttp2, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AgentDefinition, agent } from "../../src/agent/definition.ts";
import { type RemoteOptions, remote } from "../../src/runtime/remote/index.ts";
import { runCli } from "../support/cli.ts";
import { rpc, sendParams } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";
import { stateOf, textOf } from "../support/wire.ts";

const SECRET = "drg_of-the-gateway";
const closers: (() => unknown)[] = [];
/** Requests to the other port of the same host. */
let stolen: IncomingHttpHeaders[];
let thief: string;
/** Requests to the origin of the card. */
let trusted: IncomingHttpHeaders[];

const close = (server: { close(): unknown; closeAllConnections?(): void }) => () => {
  server.closeAllConnections?.();
  server.close();
};

beforeEach(async () => {
  stolen = [];
  trusted = [];
  const server = createServer((request, response) => {
    stolen.push(request.headers);
    response.writeHead(401, { "www-authenticate": "Bearer" }).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(close(server));
  thief = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const one of closers.splice(0).reverse()) await one();
});

/** A card at a separate origin; `answer`: the response of the origin to calls. */
async function publish(interfaces: (own: string) => readonly object[], answer = 200): Promise<string> {
  const server = createServer((request, response) => {
    trusted.push(request.headers);
    if (request.method === "POST")
      return void response.writeHead(answer, { location: `http://${thief}/` }).end("{}");
    const { port } = server.address() as AddressInfo;
    const card = {
      name: "worker",
      description: "",
      version: "1",
      capabilities: { streaming: false },
      supportedInterfaces: interfaces(`http://127.0.0.1:${port}`),
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(card));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(close(server));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const over = (protocolBinding: string, url: string) => ({ url, protocolBinding, protocolVersion: "1.0" });

async function gateway(
  definition: AgentDefinition,
  callAllow: readonly string[] = ["127.0.0.1"],
): Promise<TestServer> {
  const server = await serve([definition], { callAllow });
  closers.push(() => server.stop());
  return server;
}
const send = async (server: TestServer): Promise<object> =>
  (await rpc(server.url, "SendMessage", sendParams("hi"))).body;
const isTold = (headers: readonly IncomingHttpHeaders[]): boolean => JSON.stringify(headers).includes(SECRET);
const withSecret = (more: Partial<RemoteOptions>): AgentDefinition =>
  remote({ name: "gate", auth: { bearer: SECRET }, headers: { "x-tenant-key": SECRET }, ...more });

describe("a card that names another port of its host", () => {
  it.each(["JSONRPC", "HTTP+JSON"])("does not get the token there, over %s", async binding => {
    const card = await publish(() => [over(binding, `http://${thief}/rpc`)]);
    const here = await gateway(withSecret({ card }));
    expect(stateOf(await send(here))).toBe("failed");
    expect(isTold(trusted)).toBe(true);
    expect(stolen.length).toBeGreaterThan(0);
    expect(isTold(stolen)).toBe(false);
    const why = here.log.lines.map(line => String((line.facts.err as Error | undefined)?.message)).join();
    expect(why).toContain("credentials are not sent: if it is right, set the option endpoint");
  });

  it("gets the token there if the config names that origin", async () => {
    const card = await publish(() => [over("JSONRPC", `http://${thief}/rpc`)]);
    const here = await gateway(withSecret({ card, endpoint: `http://${thief}/rpc` }));
    await send(here);
    expect(isTold(stolen)).toBe(true);
  });

  it("is not called over gRPC unless the config names that origin", async () => {
    const calls: IncomingHttpHeaders[] = [];
    const listener = createHttp2().on("stream", (stream: ServerHttp2Stream, headers) => {
      calls.push(headers);
      stream.respond(
        { ":status": 200, "content-type": "application/grpc", "grpc-status": "16" },
        { endStream: true },
      );
    });
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    const spoken = ["127.0.0.1", "grpc://127.0.0.1", "http://127.0.0.1"].map(host => `${host}:${port}`);
    for (const url of spoken) {
      const card = await publish(() => [over("GRPC", url)]);
      expect(stateOf(await send(await gateway(withSecret({ card }))))).toBe("failed");
      expect(calls).toEqual([]);
    }
    const card = await publish(() => [over("GRPC", `127.0.0.1:${port}`)]);
    await send(await gateway(withSecret({ card, endpoint: `127.0.0.1:${port}` })));
    expect(isTold(calls)).toBe(true);
    closers.push(close(listener));
    // gRPC connections stay open for a while; their servers are stopped first.
    closers.reverse();
  });

  it("does not get the headers of ctx.call there either", async () => {
    const card = await publish(() => [over("JSONRPC", `http://${thief}/rpc`)]);
    const caller = agent({
      name: "caller",
      run: async (_task, ctx) =>
        (await ctx.call(card, "hi", { trusted: true, headers: { authorization: `Bearer ${SECRET}` } })).text,
    });
    await send(await gateway(caller));
    expect(isTold(trusted)).toBe(true);
    expect(stolen.length).toBeGreaterThan(0);
    expect(isTold(stolen)).toBe(false);
  });
});

it.each([301, 302, 307, 308])("a redirect (%i) to another port is not followed", async status => {
  const card = await publish(own => [over("JSONRPC", `${own}/rpc`)], status);
  await send(await gateway(withSecret({ card })));
  expect(isTold(trusted)).toBe(true);
  expect(stolen).toEqual([]);
});

describe("on the command line", () => {
  const HEADER = ["--header", `Authorization: Bearer ${SECRET}`];
  it("a header is sent to the origin that was typed, and the user is informed of the origin in the card", async () => {
    const card = await publish(() => [over("JSONRPC", `http://${thief}/rpc`)]);
    const { code, err } = await runCli("call", card, "hi", ...HEADER);
    expect(code).not.toBe(0);
    expect(isTold(trusted)).toBe(true);
    expect(stolen.length).toBeGreaterThan(0);
    expect(isTold(stolen)).toBe(false);
    expect(err).toContain(`the card names http://${thief}/rpc, another origin: --header is not sent there`);
  });

  it("a header is sent to the same origin", async () => {
    const echo = agent({ name: "echo", run: task => task.text });
    const there = await gateway(echo);
    const { code, out, err } = await runCli("call", there.url, "hi", ...HEADER);
    expect([code, err]).toEqual([0, expect.not.stringContaining("another origin")]);
    expect(out).toContain("hi");
    expect(textOf(await send(there))).toBe("hi");
  });
});
