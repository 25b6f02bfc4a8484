import { createServer, request } from "node:http";
import { connect } from "node:http2";
import type { AddressInfo } from "node:net";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { createOwnBaseUrlCheck } from "../../src/http/host-check.ts";
import type { AgentName } from "../../src/model/index.ts";
import { V1_SCHEMA } from "../../src/protocol/a2a-v1/schema.ts";
import { createCodecs } from "../../src/protocol/protobuf/codec.ts";
import { toAgent } from "../../src/runtime/function/index.ts";
import { startMounted } from "../../src/server/create-server.ts";
import { echo } from "../support/agents.ts";
import { serveGuarded } from "../support/callers.ts";
import { writeCertificate } from "../support/certificate.ts";
import type { Loose } from "../support/official-dialects.ts";
import { openRaw } from "../support/raw.ts";
import { createTestLog, SETTINGS, tempFolder } from "../support/server.ts";

/**
 * The server signs cards for addresses that the operator configured, never for the Host header of a request.
 */

const CARD = "/.well-known/agent-card.json";
const extensible = { ...echo, extendedCard: { description: "For those who are known" } };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function guarded(settings: Parameters<typeof serveGuarded>[1] = {}) {
  const server = await serveGuarded([extensible], { signCards: true, ...settings });
  closers.push(() => server.stop());
  const port = new URL(server.url).port;
  return { server, port, url: `http://127.0.0.1:${port}`, token: await server.issue("alice") };
}

/** `fetch` does not allow a program to set Host. */
const read = (url: string, headers: Record<string, string>, body?: object): Promise<Loose> =>
  new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const outgoing = request(
      url,
      { method, headers: { "content-type": "application/json", ...headers } },
      async response => {
        const text = (await Array.fromAsync(response.setEncoding("utf8"))).join("");
        resolve(JSON.parse(text));
      },
    );
    outgoing.on("error", reject).end(body && JSON.stringify(body));
  });

/** Every card of every version with signatures, and the extended card over both transports. */
async function cardsFor(
  at: Awaited<ReturnType<typeof guarded>>,
  headers: Record<string, string>,
): Promise<readonly Loose[]> {
  const known = { ...headers, ...at.token.headers };
  const rpc = (method: string) => ({ jsonrpc: "2.0", id: 1, method, params: {} });
  return [
    await read(`${at.url}${CARD}`, headers),
    await read(`${at.url}${CARD}`, { ...headers, "a2a-version": "1.0" }),
    await read(`${at.url}${CARD}`, { ...headers, "a2a-version": "0.3" }),
    await read(`${at.url}/agents/echo${CARD}`, headers),
    await read(`${at.url}/extendedAgentCard`, { ...known, "a2a-version": "1.0" }),
    (await read(`${at.url}/`, { ...known, "a2a-version": "1.0" }, rpc("GetExtendedAgentCard"))).result,
    (await read(`${at.url}/`, { ...known, "a2a-version": "0.3" }, rpc("agent/getAuthenticatedExtendedCard")))
      .result,
  ];
}
const isSigned = (card: Loose): boolean => Array.isArray(card.signatures) && card.signatures.length > 0;
const signed = async (at: Awaited<ReturnType<typeof guarded>>, headers: Record<string, string>) => {
  const cards = await cardsFor(at, headers);
  for (const card of cards) expect(card.name).toBe("echo");
  return [...new Set(cards.map(isSigned))];
};

describe("a server with auth and without publicUrl", () => {
  it("signs for the addresses at which it listens, with its port", async () => {
    const at = await guarded();
    for (const host of [`127.0.0.1:${at.port}`, `localhost:${at.port}`, `LocalHost:${at.port}`])
      expect([host, await signed(at, { host })]).toEqual([host, [true]]);
  });

  it("serves cards for any other Host without a signature", async () => {
    const at = await guarded();
    const hosts = [
      "evil.example",
      `evil.example:${at.port}`,
      "127.0.0.1",
      "127.0.0.1:1",
      `127.0.0.1:0${at.port}`,
      `127.0.0.1.:${at.port}`,
      `localhost.:${at.port}`,
      `127.1:${at.port}`,
      `2130706433:${at.port}`,
      `[::1]:${at.port}`,
      `[::ffff:127.0.0.1]:${at.port}`,
      `127.0.0.1:${at.port}@evil.example`,
      `127.0.0.1:${at.port}#@evil.example`,
      `127.0.0.1:${at.port}/evil`,
      `evil.example, 127.0.0.1:${at.port}`,
      `127.0.0.1.evil.example:${at.port}`,
    ];
    for (const host of hosts) expect([host, await signed(at, { host })]).toEqual([host, [false]]);
  });

  it("ignores the headers of proxies that it does not trust", async () => {
    const at = await guarded();
    const host = `127.0.0.1:${at.port}`;
    for (const forged of [
      { "x-forwarded-host": "evil.example" },
      { forwarded: "host=evil.example;proto=https" },
      { "x-forwarded-prefix": "/evil", "x-forwarded-proto": "https" },
    ])
      for (const card of await cardsFor(at, { host, ...forged } as Record<string, string>)) {
        expect(isSigned(card)).toBe(true);
        expect(JSON.stringify({ ...card, signatures: undefined })).not.toContain("evil");
      }
  });

  it("does not sign for an address in the request line, nor for two Host headers", async () => {
    const at = await guarded();
    const ask = async (line: string, ...hosts: readonly string[]): Promise<Loose> => {
      const raw = openRaw(at.url);
      raw.write(`${line} HTTP/1.1\r\n${hosts.map(host => `Host: ${host}\r\n`).join("")}\r\n`);
      const reply = await raw.reply();
      raw.destroy();
      return reply?.status === 200 ? JSON.parse(reply.body) : {};
    };
    const own = `127.0.0.1:${at.port}`;
    const cards = [
      await ask(`GET http://evil.example${CARD}`, "evil.example"),
      await ask(`GET http://${own}${CARD}`, "evil.example"),
      await ask(`GET ${CARD}`, own, "evil.example"),
      await ask(`GET ${CARD}`, "evil.example", own),
    ];
    for (const card of cards) expect(isSigned(card)).toBe(false);
    const absolute = await ask(`GET http://evil.example${CARD}`, own);
    expect(isSigned(absolute)).toBe(true);
    expect(JSON.stringify(absolute)).not.toContain("evil");
  });
});

it("an allowed host is signed for, with the port of this server and with the default port", async () => {
  const at = await guarded({ allowedHosts: ["Agents.example"] });
  for (const host of ["agents.example", "AGENTS.EXAMPLE", `agents.example:${at.port}`])
    expect([host, await signed(at, { host })]).toEqual([host, [true]]);
  for (const host of ["agents.example:1", "agents.example.", "x.agents.example", "agents.example.evil"])
    expect([host, await signed(at, { host })]).toEqual([host, [false]]);
});

it("behind a trusted proxy, the forwarded host is signed for if it is allowed and has no prefix", async () => {
  const at = await guarded({ trustProxy: true, allowedHosts: ["agents.example"] });
  const forward = (host: string, more = {}) =>
    signed(at, { "x-forwarded-host": host, "x-forwarded-proto": "https", ...more });
  expect(await forward("agents.example")).toEqual([true]);
  expect(await forward("evil.example")).toEqual([false]);
  expect(await forward("evil.example, agents.example")).toEqual([false]);
  expect(await forward("agents.example", { "x-forwarded-prefix": "/evil" })).toEqual([false]);
});

it("with publicUrl every card has that address and is signed, whatever the Host", async () => {
  const at = await guarded({ publicUrl: "https://agents.example/a" });
  const cards = await cardsFor(at, { host: "evil.example" });
  for (const card of cards) {
    expect(isSigned(card)).toBe(true);
    expect(JSON.stringify(card)).not.toContain("evil");
  }
});

it("the authority of HTTP/2 is treated like a Host header", async () => {
  const folder = tempFolder();
  closers.push(folder.remove);
  const { tlsCert, tlsKey } = writeCertificate(folder.path);
  const at = await guarded({ tlsCert, tlsKey });
  const ask = async (authority: string, more: Record<string, string> = {}): Promise<Loose> => {
    const session = connect(`https://127.0.0.1:${at.port}`, { rejectUnauthorized: false });
    try {
      const stream = session.request({ ":path": CARD, ":authority": authority, ...more });
      return JSON.parse((await Array.fromAsync(stream.setEncoding("utf8"))).join(""));
    } finally {
      session.close();
    }
  };
  expect(isSigned(await ask(`127.0.0.1:${at.port}`))).toBe(true);
  expect(isSigned(await ask("evil.example"))).toBe(false);
  expect(isSigned(await ask(`127.0.0.1:${at.port}`, { host: "evil.example" }))).toBe(false);
});

it("over gRPC a card has the address at which the server listens, whatever the authority", async () => {
  const at = await guarded();
  const client = new Client(`127.0.0.1:${at.port}`, credentials.createInsecure(), {
    "grpc.default_authority": "evil.example",
  });
  closers.push(() => client.close());
  const metadata = new Metadata();
  metadata.set("authorization", at.token.headers.authorization);
  const { decode } = createCodecs(V1_SCHEMA)("AgentCard");
  const path = `/${V1_SCHEMA.package}.${V1_SCHEMA.service}/GetExtendedAgentCard`;
  const card = await new Promise<Loose>((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      () => Buffer.alloc(0),
      decode,
      {},
      metadata,
      (error, made) => (error ? reject(error) : resolve(made as Loose)),
    );
  });
  expect(isSigned(card)).toBe(true);
  expect(card.supportedInterfaces[0].url).toBe(`${at.url}/agents/echo`);
  expect(JSON.stringify(card)).not.toContain("evil");
});

describe("inside another program", () => {
  async function mounted(settings: Partial<typeof SETTINGS>, path?: string) {
    const agents = [toAgent(echo)];
    const parts = {
      settings: { ...SETTINGS, signCards: true, ...settings },
      agents,
      defaultAgent: "echo" as AgentName,
    };
    const mount = await startMounted({ ...parts, log: createTestLog() }, path);
    const server = createServer(mount.handler);
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    closers.push(async () => {
      server.close();
      await mount.close();
    });
    const { port } = server.address() as AddressInfo;
    const ask = (host: string) => read(`http://127.0.0.1:${port}${path ?? ""}${CARD}`, { host });
    const fetched = async (url: string): Promise<Loose> => (await mount.fetch(new Request(url))).json();
    return { ask, fetched, port };
  }

  it("only publicUrl and allowed hosts are signed for", async () => {
    const { ask, fetched, port } = await mounted({ allowedHosts: ["agents.example"] }, "/a2a");
    expect(isSigned(await ask("agents.example"))).toBe(true);
    expect(isSigned(await fetched(`https://agents.example/a2a${CARD}`))).toBe(true);
    for (const host of ["evil.example", `127.0.0.1:${port}`, "agents.example:1"])
      expect([host, isSigned(await ask(host))]).toEqual([host, false]);
    expect(isSigned(await fetched(`https://evil.example/a2a${CARD}`))).toBe(false);
    const configured = await mounted({ publicUrl: "https://agents.example" });
    expect(isSigned(await configured.ask("evil.example"))).toBe(true);
  });
});

it("the addresses of a server follow from where it listens", () => {
  const own = (address: string, host: string) =>
    createOwnBaseUrlCheck({
      host,
      publicUrl: undefined,
      allowedHosts: undefined,
      trustProxy: false,
      listening: () => ({ address, port: 80 }),
    });
  expect(own("0.0.0.0", "0.0.0.0")("http://127.0.0.1")).toBe(true);
  expect(own("0.0.0.0", "0.0.0.0")("http://0.0.0.0:80")).toBe(false);
  expect(own("::", "::")("http://[::1]:80")).toBe(true);
  expect(own("::1", "::1")("http://[::1]")).toBe(true);
  expect(own("::1", "::1")("http://127.0.0.1:80")).toBe(false);
  expect(own("10.0.0.5", "box.local")("http://box.local:80")).toBe(true);
  expect(own("10.0.0.5", "box.local")("https://box.local")).toBe(false);
  expect(own("10.0.0.5", "box.local")("http://localhost:80")).toBe(false);
  expect(own("127.0.0.1", "127.0.0.1")("http://127.0.0.1:80/evil")).toBe(false);
});
