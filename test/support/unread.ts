/**
 * Callers that request a large task over each transport, and read as much of the response as a test wants.
 */
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { get } from "node:https";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { GetTaskRequest } from "@a2a-js/sdk";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { createHandler, type MountedServer } from "dragoman";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { writeCertificate } from "./certificate.ts";
import { rpc, sendParams } from "./client.ts";
import { createTestLog, serve, type TestServer, tempFolder } from "./server.ts";
import { taskOf } from "./wire.ts";

export const MB = 1024 * 1024;

/** Creates an artifact of as many MB as the message says. */
export const large: AgentDefinition = {
  name: "large",
  async *run(task, ctx) {
    for (let i = 0; i < Number(task.text); i++)
      yield ctx.artifact({ artifactId: `part-${i}`, parts: "é".repeat(MB / 2) });
  },
};

export interface Servers {
  readonly plain: TestServer;
  readonly secure: TestServer;
  readonly mounted: MountedServer;
  readonly cert: string;
  close(): Promise<void>;
}

export async function openServers(settings: object): Promise<Servers> {
  const folder = tempFolder();
  const { cert, ...files } = writeCertificate(folder.path);
  const plain = await serve([large], settings);
  const secure = await serve([large], { ...settings, ...files });
  const config = { agents: [large], data: ":memory:", drainMs: 100, ...settings };
  const mounted = await createHandler(config as object, { log: createTestLog() });
  return {
    plain,
    secure,
    mounted,
    cert,
    async close() {
      await plain.stop();
      await secure.stop();
      await mounted.close();
      folder.remove();
    },
  };
}

/** A response of which only the beginning was read. */
export interface PartialResponse {
  /** Whether it succeeded. */
  readonly isOk: boolean;
  /** The Retry-After of a refusal. */
  readonly retryAfter: string | undefined;
  /** Reads the rest; resolves with the number of bytes after the head. */
  rest(): Promise<number>;
  close(): void;
}

export interface UnreadClient {
  send(text: string): Promise<string>;
  request(taskId: string): Promise<PartialResponse>;
  /** The metric of the server; a handler shows it to administrators only, and has none. */
  unread?(): Promise<number>;
}

const HEADERS = "Host: localhost\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n";
const rpcBody = (id: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id } });
const toRpc = (id: string, more = ""): string =>
  `POST / HTTP/1.1\r\n${HEADERS}${more}Content-Length: ${rpcBody(id).length}\r\n\r\n${rpcBody(id)}`;
const toRest = (id: string): string => `GET /tasks/${id} HTTP/1.1\r\n${HEADERS}\r\n`;

async function requestOverSocket(socket: Socket, request: string): Promise<PartialResponse> {
  socket.on("error", () => {});
  socket.write(request);
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  const end = first.indexOf("\r\n\r\n");
  const head = first.toString("latin1", 0, end);
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
  return {
    isOk: length > MB,
    retryAfter: /retry-after: (\d+)/i.exec(head)?.[1],
    close: () => void socket.destroy(),
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

async function requestOverHttp2(
  session: ClientHttp2Session,
  open: () => ClientHttp2Stream,
): Promise<PartialResponse> {
  const call = open();
  call.on("error", () => {});
  const [headers] = await once(call, "response");
  return {
    isOk: headers[":status"] === 200 && (headers["grpc-status"] ?? "0") === "0",
    retryAfter: headers["retry-after"] as string | undefined,
    close: () => void session.destroy(),
    async rest() {
      let bytes = 0;
      call.on("data", more => (bytes += more.length));
      if (!call.destroyed) await new Promise(resolve => call.once("close", resolve));
      session.destroy();
      return bytes;
    },
  };
}

export const portOf = (server: TestServer): number => Number(new URL(server.url).port);
export const valueIn = (text: string): number => Number(/^dragoman_unread_bytes (\d+)$/m.exec(text)?.[1]);

export async function sendPlain(url: string, text: string): Promise<string> {
  return taskOf((await rpc(url, "SendMessage", sendParams(text))).body).id;
}

const onPlain = (plain: TestServer, toRequest: (id: string) => string): UnreadClient => ({
  send: text => sendPlain(plain.url, text),
  request: id => requestOverSocket(connect(portOf(plain), "127.0.0.1"), toRequest(id)),
  unread: async () => valueIn(await (await fetch(`${plain.url}/metrics`)).text()),
});

const onSecure = ({ secure, cert }: Servers, request: UnreadClient["request"]): UnreadClient => ({
  request,
  async send(text) {
    const session = connectHttp2(secure.url, { ca: cert });
    const call = session.request({
      ...{ ":method": "POST", ":path": "/", "a2a-version": "1.0", "content-type": "application/json" },
    });
    call.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: sendParams(text) }));
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
const onFetch = ({ mounted }: Servers): UnreadClient => ({
  async send(text) {
    const body = JSON.stringify(sendParams(text));
    const init = { method: "POST", headers: V1, body };
    const reply = (await (await mounted.fetch(new Request(`${BASE}/message:send`, init))).json()) as object;
    return taskOf({ result: reply }).id;
  },
  async request(id) {
    const response = await mounted.fetch(new Request(`${BASE}/tasks/${id}`, { headers: V1 }));
    return {
      isOk: response.status === 200,
      retryAfter: response.headers.get("retry-after") ?? undefined,
      close: () => void response.body?.cancel(),
      rest: async () => (await response.arrayBuffer()).byteLength,
    };
  },
});

/** For each transport. */
export const UNREAD_CLIENTS: readonly (readonly [name: string, of: (servers: Servers) => UnreadClient])[] = [
  ["JSON-RPC", ({ plain }) => onPlain(plain, id => toRpc(id))],
  ["HTTP+JSON", ({ plain }) => onPlain(plain, toRest)],
  // No plain request: Node's server reads it.
  ["JSON-RPC, read by Node", ({ plain }) => onPlain(plain, id => toRpc(id, "TE: trailers\r\n"))],
  [
    "gRPC",
    ({ plain }) => ({
      ...onPlain(plain, toRest),
      request: id => requestOverGrpc(connectHttp2(plain.url), id),
    }),
  ],
  ["JSON-RPC over TLS", servers => onSecure(servers, id => requestOverSocket(openTls(servers), toRpc(id)))],
  [
    "HTTP+JSON over HTTP/2",
    servers =>
      onSecure(servers, async id => {
        const session = connectHttp2(servers.secure.url, { ca: servers.cert });
        return requestOverHttp2(session, () =>
          session.request({ ":path": `/tasks/${id}`, "a2a-version": "1.0" }),
        );
      }),
  ],
  [
    "gRPC over TLS",
    servers =>
      onSecure(servers, id => requestOverGrpc(connectHttp2(servers.secure.url, { ca: servers.cert }), id)),
  ],
  ["fetch of a handler", onFetch],
];

const requestOverGrpc = (session: ClientHttp2Session, id: string): Promise<PartialResponse> =>
  requestOverHttp2(session, () => grpcCall(session, id));
const openTls = ({ secure, cert }: Servers): Socket =>
  connectTls({ port: portOf(secure), host: "127.0.0.1", ca: cert, servername: "localhost" });
