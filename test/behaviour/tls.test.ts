import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { get } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { writeCertificate } from "../support/certificate.ts";
import { sendParams, until } from "../support/client.ts";
import { createGrpcClient, refusedBy } from "../support/grpc.ts";
import type { Loose } from "../support/official-dialects.ts";
import { SETTINGS, serve, type TestServer, tempFolder } from "../support/server.ts";

const folder = tempFolder();
const { cert, ...files } = writeCertificate(folder.path);
const other = writeCertificate(folder.path, "other");
const puppet = createScriptedAgent();
let server: TestServer;

beforeAll(async () => {
  server = await serve([echo, puppet.definition], files);
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

async function read(url: string, more: object = {}): Promise<{ status: number; body: Loose }> {
  const call = get(url, { ca: cert, agent: false, headers: { "a2a-version": "1.0" }, ...more });
  const [response] = await once(call, "response");
  const text = (await Array.fromAsync(response.setEncoding("utf8"))).join("");
  return { status: response.statusCode, body: JSON.parse(text) };
}

const cardOf = async (one: TestServer): Promise<Loose> =>
  (await read(`${one.url}/.well-known/agent-card.json`)).body;
const grpcIn = (card: Loose): string =>
  card.supportedInterfaces.find((entry: Loose) => entry.protocolBinding === "GRPC").url;
/** The gRPC client needs a host name, not an address. */
const connectGrpc = (address: string) =>
  createGrpcClient(address.replace("127.0.0.1", "localhost"), credentials.createSsl(Buffer.from(cert)));

describe("with a certificate", () => {
  it("all of HTTP is HTTPS, and the URLs in cards are https", async () => {
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const card = await cardOf(server);
    expect(card.supportedInterfaces[0].url).toBe(`${server.url}/agents/echo`);
    expect((await read(`${server.url}/agents`)).body.agents).toHaveLength(2);
  });

  it.each([
    ["at the same port", {}],
    ["at a separate port", { grpcPort: 0 }],
  ] as const)("gRPC is %s, which the card names, with the same certificate", async (_where, more) => {
    const one = await serve([echo], { ...files, ...more });
    const address = grpcIn(await cardOf(one));
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(`https://${address}` === one.url).toBe(!("grpcPort" in more));
    const client = connectGrpc(address);
    const stream = client.open("SendStreamingMessage", sendParams("hello"));
    const last = (await stream.all()).at(-1);
    expect(last.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
    client.close();
    const untrusting = createGrpcClient(address);
    const error = await refusedBy(
      untrusting.ask("SendMessage", sendParams("hello"), {}, { deadline: soon() }),
    );
    expect(error.details).not.toBe("");
    untrusting.close();
    await one.stop();
  });

  it("gRPC calls and HTTP requests share a connection, and anything that is not gRPC is a request", async () => {
    const session = connectHttp2(server.url, { ca: cert });
    const answerTo = async (headers: object, body: Uint8Array | string) => {
      const call = session.request({ ":method": "POST", "a2a-version": "1.0", ...headers });
      const received: Loose = {};
      call
        .on("response", more => Object.assign(received, more))
        .on("trailers", more => Object.assign(received, more));
      call.end(body);
      await once(call.resume(), "end");
      return received;
    };
    const path = "/grpc.health.v1.Health/Check";
    const health = await answerTo({ ":path": path, "content-type": "application/grpc" }, Buffer.alloc(5));
    expect(health["grpc-status"]).toBe("0");
    const asked = { jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} };
    const list = await answerTo({ ":path": "/", "content-type": "application/json" }, JSON.stringify(asked));
    expect([list[":status"], list["content-type"]]).toEqual([200, "application/json"]);
    const web = await answerTo({ ":path": path, "content-type": "application/grpc-web" }, "");
    expect(web[":status"]).toBe(404);
    session.close();
  });

  it("streams of gRPC at the same port end after a whole event when the server stops", async () => {
    const stopping = await serve([puppet.definition], files);
    const client = connectGrpc(grpcIn(await cardOf(stopping)));
    const stream = client.open("SendStreamingMessage", sendParams("go"));
    await stream.first();
    const [{ error }] = await Promise.all([stream.ended(), stopping.stop()]);
    expect(error?.details).toBe("The server stops; subscribe to the task to continue");
    client.close();
  });

  it("a client that sends clear text, or never completes the handshake, affects no other", async () => {
    for (const words of [
      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "",
    ]) {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      socket.on("error", () => {});
      socket.end(words);
      await once(socket.resume(), "close");
    }
    expect((await read(`${server.url}/agents`)).status).toBe(200);
    expect(server.log.lines.filter(line => line.level === "error")).toEqual([]);
  });

  it("a stop does not wait for connections in the handshake", async () => {
    const stopping = await serve([echo], files);
    const ports = [new URL(stopping.url).port, grpcIn(await cardOf(stopping)).split(":")[1]];
    const sockets = ports.map(port => connect(Number(port), "127.0.0.1"));
    await Promise.all(sockets.map(socket => once(socket, "connect")));
    const client = connectGrpc(grpcIn(await cardOf(stopping)));
    await client.ask("SendMessage", sendParams("hello"));
    await stopping.stop();
    client.close();
    for (const socket of sockets) socket.destroy();
  });

  it("streams over HTTPS arrive event by event and end when their reader disconnects", async () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "SendStreamingMessage",
      params: sendParams("go"),
    });
    const { port } = new URL(server.url);
    const socket = connectTls({ port: Number(port), host: "127.0.0.1", ca: cert });
    socket.write(
      `POST /agents/puppet HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    let text = "";
    socket.on("data", bytes => (text += bytes));
    await until(() => text.includes('"task"'));
    const id = /"task":\{"id":"([^"]+)"/.exec(text)?.[1] as string;
    puppet.send(id, ctx => ctx.text("a word"));
    await until(() => text.includes("a word"));
    socket.destroy();
    puppet.end(id);
  });
});

describe("over HTTP/2, with a certificate", () => {
  let session: ClientHttp2Session;
  beforeAll(() => {
    session = connectHttp2(server.url, { ca: cert });
  });
  afterAll(() => session.close());

  interface Reply {
    readonly head: Loose;
    readonly stream: ClientHttp2Stream;
    text(): Promise<string>;
  }
  async function call(headers: Loose, body?: string): Promise<Reply> {
    const stream = session.request({ "a2a-version": "1.0", "content-type": "application/json", ...headers });
    stream.setEncoding("utf8").end(body);
    const [head] = await once(stream, "response");
    return { head, stream, text: async () => (await Array.fromAsync(stream)).join("") };
  }
  const rpc = (method: string, params: object): string =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

  it("documents, calls and refusals are the same", async () => {
    const card = await call({ ":path": "/.well-known/agent-card.json" });
    expect(card.head).toMatchObject({ ":status": 200, "content-type": "application/json" });
    expect(JSON.parse(await card.text())).toEqual(await cardOf(server));
    const sent = await call({ ":path": "/", ":method": "POST" }, rpc("SendMessage", sendParams("hi")));
    expect(JSON.parse(await sent.text()).result.task.status.state).toBe("TASK_STATE_COMPLETED");
    const got = await call({ ":path": "/tasks/nope" });
    expect(got.head[":status"]).toBe(404);
    expect(JSON.parse(await got.text()).error.status).toBe("NOT_FOUND");
    const lost = await call({ ":path": "/nowhere" });
    expect(lost.head[":status"]).toBe(404);
    await lost.text();
  });

  it("HEAD has no body, a notification has status 204, an unchanged card 304", async () => {
    const path = { ":path": "/.well-known/agent-card.json" };
    const head = await call({ ...path, ":method": "HEAD" });
    expect([head.head[":status"], await head.text()]).toEqual([200, ""]);
    const same = await call({ ...path, "if-none-match": head.head.etag });
    expect([same.head[":status"], await same.text()]).toEqual([304, ""]);
    const body = JSON.stringify({ jsonrpc: "2.0", method: "SendMessage", params: sendParams("hi") });
    const quiet = await call({ ":path": "/", ":method": "POST" }, body);
    expect([quiet.head[":status"], await quiet.text()]).toEqual([204, ""]);
  });

  it("a body that is too large is refused, and the session stays open", async () => {
    const large = rpc("SendMessage", sendParams("x".repeat(SETTINGS.bodyBytesMax)));
    const refused = await call({ ":path": "/", ":method": "POST" }, large);
    expect(refused.head[":status"]).toBe(413);
    await refused.text();
    const after = await call({ ":path": "/agents" });
    expect(after.head[":status"]).toBe(200);
    await after.text();
  });

  it("many streams share a connection, each arrives event by event, and canceling one ends no run", async () => {
    const open = async (): Promise<{ id: string; stream: ClientHttp2Stream; text: () => string }> => {
      const path = { ":path": "/agents/puppet", ":method": "POST" };
      const { head, stream } = await call(path, rpc("SendStreamingMessage", sendParams("go")));
      expect(head["content-type"]).toBe("text/event-stream");
      let received = "";
      stream.on("data", piece => (received += piece));
      await until(() => received.includes('"task"'));
      return { id: /"task":\{"id":"([^"]+)"/.exec(received)?.[1] as string, stream, text: () => received };
    };
    const [one, two] = await Promise.all([open(), open()]);
    one.stream.close();
    puppet.send(two.id, ctx => ctx.text("a word"));
    await until(() => two.text().includes("a word"));
    puppet.end(two.id);
    await until(() => two.text().includes("TASK_STATE_COMPLETED"));
    const left = await call({ ":path": `/agents/puppet/tasks/${one.id}` });
    expect(JSON.parse(await left.text()).status.state).toBe("TASK_STATE_WORKING");
    puppet.end(one.id);
  });

  it("a stop ends streams after a whole event, and does not wait for idle sessions", async () => {
    const stopping = await serve([puppet.definition], files);
    const stays = connectHttp2(stopping.url, { ca: cert });
    const headers = {
      ":path": "/",
      ":method": "POST",
      "a2a-version": "1.0",
      "content-type": "application/json",
    };
    const stream = stays.request(headers);
    stream.setEncoding("utf8").end(rpc("SendStreamingMessage", sendParams("go")));
    let received = "";
    stream.on("data", piece => (received += piece));
    await until(() => received.includes('"task"'));
    await stopping.stop();
    await until(() => stream.closed);
    expect(received.endsWith("\n\n")).toBe(true);
    stays.close();
  });
});

const soon = (): Date => new Date(Date.now() + 30_000);

describe("a separate port for gRPC, without a certificate", () => {
  it("is the only one with gRPC", async () => {
    const apart = await serve([echo], { grpcPort: 0 });
    const response = await fetch(`${apart.url}/.well-known/agent-card.json`, {
      headers: { "a2a-version": "1.0" },
    });
    const address = grpcIn(await response.json());
    expect(address).not.toBe(new URL(apart.url).host);
    const client = createGrpcClient(address);
    expect((await client.ask("SendMessage", sendParams("hello"))).json.task.status.state).toBe(
      "TASK_STATE_COMPLETED",
    );
    client.close();
    const wrong = createGrpcClient(new URL(apart.url).host);
    await refusedBy(wrong.ask("SendMessage", sendParams("hello"), {}, { deadline: soon() }));
    wrong.close();
    await apart.stop();
  });

  it("is in the card behind a proxy, too; a shared port is not, because the proxy may not forward gRPC", async () => {
    const publicUrl = "https://agents.example/a2a";
    for (const [settings, expected] of [
      [{ publicUrl, grpcPort: 0 }, /^agents\.example:\d+$/],
      [{ publicUrl }, undefined],
      [{ trustProxy: true }, undefined],
    ] as const) {
      const proxied = await serve([echo], settings);
      const response = await fetch(`${proxied.url}/.well-known/agent-card.json`);
      const card = (await response.json()) as Loose;
      const grpc = card.supportedInterfaces.filter((one: Loose) => one.protocolBinding === "GRPC");
      if (expected) expect(grpc[0].url).toMatch(expected);
      else expect(grpc).toEqual([]);
      expect(card.additionalInterfaces.some((one: Loose) => one.transport === "GRPC")).toBe(
        expected !== undefined,
      );
      await proxied.stop();
    }
  });
});

describe("an invalid certificate", () => {
  const junk = join(folder.path, "junk");
  writeFileSync(junk, "nothing");
  const wrong: readonly (readonly [what: string, settings: object, message: RegExp])[] = [
    [
      "a key is missing",
      { tlsCert: files.tlsCert },
      /^A certificate needs its key: give --tls-key as well\.$/,
    ],
    ["a certificate is missing", { tlsKey: files.tlsKey }, /give --tls-cert as well\.$/],
    [
      "a file is missing",
      { ...files, tlsCert: join(folder.path, "none") },
      /^--tls-cert: .*none cannot be read: ENOENT/,
    ],
    ["a file is no certificate", { ...files, tlsCert: junk }, /--tls-cert: .*junk has no "CERTIFICATE"/],
    ["a file is no key", { ...files, tlsKey: files.tlsCert }, /--tls-key: .*test\.crt has no "PRIVATE KEY"/],
    [
      "key and certificate do not match",
      { ...files, tlsKey: other.tlsKey },
      /test\.crt and .*other\.key are not a certificate and its key \(key values mismatch\)\.$/,
    ],
  ];
  it.each(wrong)("prevents startup: %s", async (_what, settings, message) => {
    await expect(serve([echo], { ...SETTINGS, ...settings })).rejects.toThrow(message);
  });
});
