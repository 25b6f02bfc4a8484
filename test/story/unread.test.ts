import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { get } from "node:https";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { GetTaskRequest } from "@a2a-js/sdk";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { createHandler, type Mounted } from "dragoman";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent.ts";
import { writeCertificate } from "../support/certificate.ts";
import { rpc, said, until } from "../support/client.ts";
import { createTestLog, serve, type TestServer, tempFolder } from "../support/server.ts";
import { taskOf } from "../support/wire.ts";

const MB = 1024 * 1024;
/** More than the buffers of a connection on loopback take, so that an answer nobody reads stays with the server. */
const TASK_MB = 24;
/** A caller may have half of it: two such answers, and not three. */
const UNREAD_BYTES_MAX = 120 * MB;
const CALLERS = 12;

/** Makes a task of as many MB as it is told. */
const large: AgentDefinition = {
  name: "large",
  async *run(task, ctx) {
    for (let i = 0; i < Number(task.text); i++)
      yield ctx.artifact({ artifactId: `part-${i}`, parts: "é".repeat(MB / 2) });
  },
};
const SETTINGS = { unreadBytesMax: UNREAD_BYTES_MAX };

const folder = tempFolder();
const { cert, ...files } = writeCertificate(folder.path);
let plain: TestServer;
let secure: TestServer;
let mounted: Mounted;
beforeAll(async () => {
  plain = await serve([large], SETTINGS);
  secure = await serve([large], { ...SETTINGS, ...files });
  const config = { agents: [large], data: ":memory:", drainMs: 100, ...SETTINGS };
  mounted = await createHandler(config as object, { log: createTestLog() });
});
afterAll(async () => {
  await plain.stop();
  await secure.stop();
  await mounted.close();
  folder.remove();
});

/** What a caller got that has read the beginning of its answer and no more. */
interface Begun {
  /** Whether it is an answer, and not a refusal. */
  readonly taken: boolean;
  /** When it may be tried again, as a refusal has it. */
  readonly retryAfter: string | undefined;
  /** Reads on; resolves with the number of bytes after the head. */
  rest(): Promise<number>;
  leave(): void;
}

interface Way {
  readonly name: string;
  send(text: string): Promise<string>;
  ask(taskId: string): Promise<Begun>;
  /** What the server counts; a handler shows it to administrators only, and has none. */
  unread?(): Promise<number>;
}

const HEADERS = "Host: localhost\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n";
const rpcBody = (id: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id } });
const byRpc = (id: string, more = ""): string =>
  `POST / HTTP/1.1\r\n${HEADERS}${more}Content-Length: ${rpcBody(id).length}\r\n\r\n${rpcBody(id)}`;
const byRest = (id: string): string => `GET /tasks/${id} HTTP/1.1\r\n${HEADERS}\r\n`;

async function askSocket(socket: Socket, request: string): Promise<Begun> {
  socket.on("error", () => {});
  socket.write(request);
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  const end = first.indexOf("\r\n\r\n");
  const head = first.toString("latin1", 0, end);
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
  return {
    taken: length > MB,
    retryAfter: /retry-after: (\d+)/i.exec(head)?.[1],
    leave: () => void socket.destroy(),
    async rest() {
      let bytes = first.length - end - 4;
      socket.on("data", more => {
        bytes += more.length;
        if (bytes >= length) socket.destroy();
      });
      socket.resume();
      await once(socket, "close");
      return bytes;
    },
  };
}

async function askHttp2(session: ClientHttp2Session, open: () => ClientHttp2Stream): Promise<Begun> {
  const call = open();
  call.on("error", () => {});
  const [headers] = await once(call, "response");
  return {
    taken: headers[":status"] === 200 && (headers["grpc-status"] ?? "0") === "0",
    retryAfter: headers["retry-after"] as string | undefined,
    leave: () => void session.destroy(),
    async rest() {
      let bytes = 0;
      call.on("data", more => (bytes += more.length));
      await once(call, "end");
      session.destroy();
      return bytes;
    },
  };
}

const portOf = (server: TestServer): number => Number(new URL(server.url).port);
const valueIn = (text: string): number => Number(/^dragoman_unread_bytes (\d+)$/m.exec(text)?.[1]);

async function sendPlain(url: string, text: string): Promise<string> {
  return taskOf((await rpc(url, "SendMessage", said(text))).body).id;
}

const onPlain = (name: string, toRequest: (id: string) => string): Way => ({
  name,
  send: text => sendPlain(plain.url, text),
  ask: id => askSocket(connect(portOf(plain), "127.0.0.1"), toRequest(id)),
  unread: async () => valueIn(await (await fetch(`${plain.url}/metrics`)).text()),
});

const onSecure = (name: string, ask: Way["ask"]): Way => ({
  name,
  ask,
  async send(text) {
    const session = connectHttp2(secure.url, { ca: cert });
    const call = session.request({
      ...{ ":method": "POST", ":path": "/", "a2a-version": "1.0", "content-type": "application/json" },
    });
    call.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: said(text) }));
    const body = (await Array.fromAsync(call.setEncoding("utf8"))).join("");
    session.destroy();
    return taskOf(JSON.parse(body)).id;
  },
  async unread() {
    const call = get(`${secure.url}/metrics`, { ca: cert, agent: false });
    const [response] = await once(call, "response");
    return valueIn((await Array.fromAsync(response.setEncoding("utf8"))).join(""));
  },
});

const toGrpc = (id: string): Buffer => {
  const message = A2AService.getTask.requestSerialize(GetTaskRequest.fromJSON({ id }));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};
const grpcCall = (session: ClientHttp2Session, id: string): ClientHttp2Stream => {
  const call = session.request({
    ...{ ":method": "POST", ":path": A2AService.getTask.path },
    ...{ "content-type": "application/grpc", te: "trailers" },
  });
  call.end(toGrpc(id));
  return call;
};

const BASE = "http://agents.example";
const V1 = { "content-type": "application/json", "a2a-version": "1.0" };
const onFetch: Way = {
  name: "fetch of a handler",
  async send(text) {
    const body = JSON.stringify(said(text));
    const init = { method: "POST", headers: V1, body };
    const reply = (await (await mounted.fetch(new Request(`${BASE}/message:send`, init))).json()) as object;
    return taskOf({ result: reply }).id;
  },
  async ask(id) {
    const response = await mounted.fetch(new Request(`${BASE}/tasks/${id}`, { headers: V1 }));
    return {
      taken: response.status === 200,
      retryAfter: response.headers.get("retry-after") ?? undefined,
      leave: () => void response.body?.cancel(),
      rest: async () => (await response.arrayBuffer()).byteLength,
    };
  },
};

const WAYS: readonly Way[] = [
  onPlain("JSON-RPC", id => byRpc(id)),
  onPlain("HTTP+JSON", byRest),
  // No plain request: Node reads it.
  onPlain("JSON-RPC by way of Node", id => byRpc(id, "TE: trailers\r\n")),
  {
    ...onPlain("gRPC", byRest),
    async ask(id) {
      const session = connectHttp2(plain.url);
      return askHttp2(session, () => grpcCall(session, id));
    },
  },
  onSecure("JSON-RPC over TLS", async id => {
    const socket = connectTls({ port: portOf(secure), host: "127.0.0.1", ca: cert, servername: "localhost" });
    return askSocket(socket, byRpc(id));
  }),
  onSecure("HTTP+JSON over HTTP/2", async id => {
    const session = connectHttp2(secure.url, { ca: cert });
    return askHttp2(session, () => session.request({ ":path": `/tasks/${id}`, "a2a-version": "1.0" }));
  }),
  onSecure("gRPC over TLS", async id => {
    const session = connectHttp2(secure.url, { ca: cert });
    return askHttp2(session, () => grpcCall(session, id));
  }),
  onFetch,
];

describe.each(WAYS)("large answers that are not read: $name", way => {
  it("are bounded, the others are refused honestly, and every caller can read its task whole", async () => {
    const taskId = await way.send(String(TASK_MB));
    const callers: Begun[] = [];
    for (let i = 0; i < CALLERS; i++) callers.push(await way.ask(taskId));
    const taken = callers.filter(one => one.taken);
    expect(taken).toHaveLength(2);
    const unread = (await way.unread?.()) ?? 2 * TASK_MB * MB;
    expect(unread).toBeGreaterThan(TASK_MB * MB);
    expect(unread).toBeLessThanOrEqual(UNREAD_BYTES_MAX / 2);
    for (const one of callers) if (!one.taken) expect(one.retryAfter).toMatch(/^\d+$/);
    // Small answers have room all the same.
    const small = await way.ask(await way.send("1"));
    expect(small.retryAfter).toBeUndefined();
    small.leave();
    const first = taken[0] as Begun;
    expect(await first.rest()).toBeGreaterThan(TASK_MB * MB);
    for (const one of callers) if (one !== first) one.leave();
    let again = await way.ask(taskId);
    await until(async () => again.taken || (again = await way.ask(taskId)).taken);
    expect(await again.rest()).toBeGreaterThan(TASK_MB * MB);
    await until(async () => ((await way.unread?.()) ?? 0) === 0);
  });
});

describe("streams whose events are large", () => {
  const subscribe = (id: string): string => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/resubscribe", params: { id } });
    const head =
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n";
    return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  const open = async (server: TestServer, id: string) => {
    const socket = connect(portOf(server), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(subscribe(id));
    const pieces = [((await once(socket, "data")) as [Buffer])[0]];
    socket.pause();
    return {
      leave: () => void socket.destroy(),
      async all(): Promise<string> {
        socket.on("data", piece => pieces.push(piece)).resume();
        if (!socket.closed) await once(socket, "close");
        return toBody(Buffer.concat(pieces));
      },
    };
  };

  it("are bounded alike, break off with a fault, and can be read whole", async () => {
    const id = await sendPlain(plain.url, String(TASK_MB));
    const metrics = async (): Promise<number> => valueIn(await (await fetch(`${plain.url}/metrics`)).text());
    const first = await open(plain, id);
    const second = await open(plain, id);
    await until(async () => (await metrics()) > 2 * TASK_MB * MB);
    for (let i = 0; i < CALLERS; i++)
      expect(await (await open(plain, id)).all()).toMatch(/^data: .*"error":.*unread/m);
    expect(await metrics()).toBeLessThanOrEqual(UNREAD_BYTES_MAX / 2);
    const data = /^data: (.*)$/m.exec(await first.all())?.[1] ?? "";
    const { artifacts } = JSON.parse(data).result;
    expect(artifacts).toHaveLength(TASK_MB);
    for (const { parts } of artifacts) expect(parts[0].text).toBe("é".repeat(MB / 2));
    second.leave();
    await until(async () => (await metrics()) === 0);
  });
});

/** RFC 9112 §7.1: the chunks of a body, put together. */
function toBody(bytes: Buffer): string {
  const pieces: Buffer[] = [];
  for (let at = bytes.indexOf("\r\n\r\n") + 4; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.toString("latin1", at, end), 16);
    pieces.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return Buffer.concat(pieces).toString();
}
