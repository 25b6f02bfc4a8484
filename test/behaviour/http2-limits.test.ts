import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/model/index.ts";
import { echo, mirror } from "../support/agents.ts";
import { writeCertificate } from "../support/certificate.ts";
import { until } from "../support/client.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** HTTP/2 has the same limits as HTTP/1: over TLS, in clear text, and at a separate gRPC port. */

const folder = tempFolder();
const { cert, ...files } = writeCertificate(folder.path);
let plain: TestServer;
let apart: TestServer;
let secure: TestServer;
const sessions: ClientHttp2Session[] = [];
beforeAll(async () => {
  plain = await serve([echo]);
  apart = await serve([echo], { grpcPort: 0 });
  secure = await serve([mirror, echo], { ...files, heartbeatMs: 250 });
});
afterAll(async () => {
  for (const session of sessions) session.destroy();
  for (const server of [plain, apart, secure]) await server.stop();
  folder.remove();
});

function open(url: string, settings: object = {}): ClientHttp2Session {
  const session = connect(url, { ca: cert, ...settings });
  session.on("error", () => {});
  sessions.push(session);
  return session;
}

interface WireReply {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly rst: number;
}

async function readReply(call: ClientHttp2Stream): Promise<WireReply> {
  let headers: Record<string, unknown> = {};
  let text = "";
  const take = (more: object): void => void (headers = { ...headers, ...more });
  call.on("response", take).on("trailers", take);
  call.on("error", () => {});
  call.setEncoding("utf8").on("data", piece => (text += piece));
  await new Promise(resolve => call.once("close", resolve));
  return { headers, text, rst: call.rstCode ?? 0 };
}

const SEND = "/lf.a2a.v1.A2AService/SendMessage";
const GRPC = {
  ...{ ":method": "POST", ":path": SEND },
  ...{ "content-type": "application/grpc", te: "trailers" },
};
const CARD = { ":path": "/.well-known/agent-card.json" };
const bulk = (bytes: number): object => ({ "x-bulk": "b".repeat(bytes) });
const many = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, "b"]));

const ENDPOINTS: readonly (readonly [string, () => string, object, (reply: WireReply) => void])[] = [
  ["requests over TLS", () => secure.url, CARD, reply => expect(reply.headers[":status"]).toBe(431)],
  ["gRPC over TLS", () => secure.url, GRPC, reply => expect(reply.headers["grpc-status"]).toBe("8")],
  ["gRPC in clear text", () => plain.url, GRPC, reply => expect(reply.headers["grpc-status"]).toBe("8")],
  [
    "gRPC at its own port",
    () => `http://${apart.grpc}`,
    GRPC,
    reply => expect(reply.headers["grpc-status"]).toBe("8"),
  ],
  [
    "other requests at that port",
    () => `http://${apart.grpc}`,
    CARD,
    reply => expect(reply.headers[":status"]).toBe(431),
  ],
];

describe.each(ENDPOINTS)("headers of HTTP/2: %s", (_name, urlOf, request, isRefused) => {
  it("may have as many bytes as those of HTTP/1, and no more; the connection stays open", async () => {
    const session = open(urlOf());
    await once(session, "remoteSettings");
    for (const bytes of [LIMITS.headerBytesMax, 40_000, 60_000])
      isRefused(await readReply(session.request({ ...request, ...bulk(bytes) }, { endStream: true })));
    const fine = await readReply(session.request({ ...request, ...bulk(12_000) }, { endStream: true }));
    expect([fine.headers[":status"], fine.headers["grpc-status"]]).not.toEqual([431, undefined]);
    expect(fine.headers["grpc-status"]).not.toBe("8");
    expect(session.destroyed).toBe(false);
  });

  it("may be as many as in HTTP/1; more of them reset the stream", async () => {
    const session = open(urlOf());
    const refused = await readReply(session.request({ ...request, ...many(200) }, { endStream: true }));
    expect(refused.headers[":status"]).toBeUndefined();
    expect(refused.rst).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
});

describe("a call of gRPC without a message", () => {
  it.each([
    ["in clear text", () => plain.url],
    ["at its own port", () => `http://${apart.grpc}`],
    ["over TLS", () => secure.url],
  ])("that ends with an empty DATA frame is answered, also if it is the first: %s", async (_name, urlOf) => {
    for (let i = 0; i < 5; i++) {
      const session = open(urlOf());
      const call = session.request(GRPC);
      const reply = readReply(call);
      call.end();
      expect((await reply).headers["grpc-status"]).toBe("12");
    }
  });
});

describe("a connection of HTTP/2 whose client does not read", () => {
  const text = "x".repeat(30_000);
  const ask = (session: ClientHttp2Session): ClientHttp2Stream => {
    const call = session.request({
      ...{ ":method": "POST", ":path": "/agents/mirror", "a2a-version": "1.0" },
      "content-type": "application/json",
    });
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text }] };
    call.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }));
    call.on("error", () => {});
    return call;
  };

  it("gets 503 for further calls, and its waiting streams are closed", async () => {
    const session = open(secure.url, { settings: { initialWindowSize: 0 } });
    await once(session, "remoteSettings");
    const calls: ClientHttp2Stream[] = [];
    let refused = false;
    while (!refused && calls.length < 1_000) {
      const call = ask(session);
      const [headers] = await once(call, "response");
      refused = headers[":status"] === 503 && headers["retry-after"] !== undefined;
      calls.push(call);
    }
    expect(refused).toBe(true);
    // Each response has the message twice.
    expect(calls.length * 2 * text.length).toBeLessThan(2 * LIMITS.unsentBytesMax);
    await until(() => calls.every(call => call.closed), 30_000);
  });
});
