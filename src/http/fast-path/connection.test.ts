import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBodyReader } from "../body.ts";
import { type HttpRequest, type HttpResponse, sendText } from "../request.ts";
import { createFastPath } from "./connection.ts";
import { sniffProtocol } from "./sniff.ts";

const bodies = createBodyReader({ bodyBytesMax: 100_000, bodyDrainBytesMax: 200_000, bodyReadMs: 5_000 });
/** Which parser read each request. */
const parsers: string[] = [];
const closed: HttpResponse[] = [];

/** Echoes the request; the path chooses other behaviours. */
async function serve(request: HttpRequest, response: HttpResponse, url: string): Promise<void> {
  parsers.push(request.takeBody ? "fast path" : "Node");
  const { "content-length": length, ...headers } = request.headers;
  response.once("close", () => response.destroyed && closed.push(response));
  if (url.startsWith("/silent")) return;
  const body = request.method === "GET" ? "" : await bodies.read(request);
  if (url.startsWith("/empty")) {
    response.writeHead(204, { "X-Kind": "empty" });
    response.end();
  } else if (url.startsWith("/stream")) {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const piece of ["data: one\n\n", "data: é🙂\n\n", ""]) {
      response.write(piece);
      // Node joins writes of one turn to one chunk.
      await new Promise(resolve => setTimeout(resolve, 2));
    }
    response.write("data: last\n\n", "latin1");
    response.end();
  } else if (url.startsWith("/close")) sendText(response, 200, body, { Connection: "close" });
  else if (url.startsWith("/forged")) {
    try {
      response.writeHead(200, { "X-Forged": "a\r\nX-More: b" });
    } catch {
      response.destroy();
    }
  } else {
    await new Promise(resolve => setImmediate(resolve));
    sendText(response, 200, JSON.stringify({ method: request.method, url, headers, body }), {
      "X-Kind": "echo",
    });
  }
}

const handle = (request: HttpRequest, response: HttpResponse, url: string): void => {
  serve(request, response, url).catch(error => sendText(response, 400, error.message, {}));
};
const OPTIONS = { keepAliveTimeout: 65_000, joinDuplicateHeaders: true };
const toServer = (): Server =>
  createServer(OPTIONS, (request, response) => handle(request, response, request.url ?? "/"));

const node = toServer();
const fast = toServer();
const [onConnection] = fast.listeners("connection");
const fastPath = createFastPath({
  serve: handle,
  passToNode(socket, bytes) {
    onConnection?.call(fast, socket);
    socket.emit("data", bytes);
  },
  limits: { headersMax: 20, headBytesMax: 4_000, requestBytesMax: 10_000 },
  keepAliveMs: 65_000,
  now: Date.now,
});
sniffProtocol({
  server: fast,
  takeHttp1: fastPath.take,
  takeHttp2: undefined,
  silentMs: 60_000,
  refuseSilent: socket => socket.destroy(),
});

beforeAll(async () => {
  for (const server of [node, fast]) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
});
afterAll(() => {
  fastPath.closeAll();
  fastPath.close();
  for (const server of [node, fast]) {
    server.close();
    server.closeAllConnections();
  }
  bodies.close();
});

function call(server: Server): Socket {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").setEncoding("latin1");
  socket.on("error", () => {});
  return socket;
}

const pause = (ms = 3): Promise<void> => new Promise(resolve => void setTimeout(resolve, ms));

/** Sends these pieces one after another and returns all responses; the last request must close the connection. */
async function exchange(server: Server, pieces: readonly string[]): Promise<string> {
  const socket = call(server);
  let received = "";
  socket.on("data", text => (received += text));
  const ended = once(socket, "close");
  for (const piece of pieces) {
    socket.write(piece, "latin1");
    await pause();
  }
  await ended;
  return received.replace(/^Date: .*\r\n/gim, "");
}

/** Only the order of headers may differ. */
function sorted(answer: string): readonly string[] {
  return answer.split(/(?=HTTP\/1\.1 \d)/).map(one => {
    const end = one.indexOf("\r\n\r\n");
    const [first, ...headers] = one.slice(0, end).toLowerCase().split("\r\n");
    return [first, ...headers.sort(), one.slice(end)].join("\n");
  });
}

const LAST = "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
const post = (body: string, head = ""): string =>
  `POST /echo HTTP/1.1\r\nHost: x\r\n${head}Content-Length: ${Buffer.byteLength(body, "latin1")}\r\n\r\n${body}`;

const get = (headers: string): string => `GET /echo HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const many = (count: number, colon = ": "): string =>
  Array.from({ length: count }, (_, i) => `X${i}${colon}v\r\n`).join("");

/** Sends a text, and collects what is received. */
function open(server: Server, text: string): { received: string; readonly socket: Socket } {
  const connection = { received: "", socket: call(server) };
  connection.socket.on("data", piece => (connection.received += piece));
  connection.socket.write(text, "latin1");
  return connection;
}

const statusAndBody = (answer: string): string =>
  `${/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]} ${/\{.*\}/.exec(answer)?.[0]}`;

async function expectSame(...pieces: string[]): Promise<void> {
  const [one, other] = await Promise.all([exchange(node, pieces), exchange(fast, pieces)]);
  expect(sorted(other)).toEqual(sorted(one));
}

describe("the fast path", () => {
  it("answers a plain request, and the next one on the same connection", async () => {
    parsers.length = 0;
    const socket = call(fast);
    const answers: string[] = [];
    for (const asked of [post("one"), "GET /two HTTP/1.1\r\nHost: x\r\n\r\n", LAST]) {
      socket.write(asked);
      answers.push(String((await once(socket, "data"))[0]));
    }
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answers[0]).toContain('"body":"one"');
    expect(answers[0]).toContain("Keep-Alive: timeout=65\r\n");
    expect(parsers).toEqual(["fast path", "fast path", "Node"]);
  });

  it.each<[string, ...string[]]>([
    ["a plain request", post("hello"), LAST],
    [
      "names in any spelling, values with blanks around",
      post("x", "aCCept: \t a, b \t\r\nX-Empty:\r\n"),
      LAST,
    ],
    ["the same head twice", post("one"), post("two"), LAST],
    ["no body", "POST /echo HTTP/1.1\r\nHost: x\r\n\r\n", LAST],
    ["DELETE", "DELETE /echo?a=%20b HTTP/1.1\r\nHost: x\r\n\r\n", LAST],
    [
      "a body in a piece of its own",
      post("hello").slice(0, -5),
      "hello",
      post("again").slice(0, -5),
      "again",
      LAST,
    ],
    [
      "a body in pieces that are too large",
      post("x".repeat(20_000)).slice(0, 8_000),
      post("x".repeat(20_000)).slice(8_000),
      LAST,
    ],
    ["more than the body", post("hello").slice(0, -3), `llo${post("next")}`, LAST],
    ["a body that comes later", post("hello").slice(0, -3), "llo", LAST],
    ["a head in two pieces", "POST /echo HTTP/1.1\r\nHo", "st: x\r\nContent-Length: 2\r\n\r\nhi", LAST],
    ["byte after byte", ..."GET /e HTTP/1.1\r\nHost: x\r\n\r\n".split(""), LAST],
    ["three at once", post("one") + post("two") + LAST],
    ["the next one before the answer", "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n", post("next"), LAST],
    [
      "chunks",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
      LAST,
    ],
    ["a stream", "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n", LAST],
    ["a response without a body", "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n", LAST],
    ["an answer that ends the connection", "POST /close HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na"],
    ["HTTP/1.0", "GET /echo HTTP/1.0\r\nHost: x\r\n\r\n"],
    ["HEAD", "HEAD /echo HTTP/1.1\r\nHost: x\r\n\r\n", LAST],
    ["PUT", "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na", LAST],
    ["a duplicate", post("x", "Accept: a\r\nAccept: b\r\n"), LAST],
    ["two lengths", post("x", "Content-Length: 1\r\n")],
    ["a length and chunks", post("x", "Transfer-Encoding: chunked\r\n")],
    ["an invalid length", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na"],
    ["a length with a blank in it", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1 1\r\n\r\na"],
    ["no host", "GET /echo HTTP/1.1\r\n\r\n"],
    ["a blank before the colon", "GET /echo HTTP/1.1\r\nHost : x\r\n\r\n"],
    ["a folded line", "GET /echo HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", LAST],
    ["a bare line feed", "GET /echo HTTP/1.1\nHost: x\n\n"],
    ["a bare carriage return", "GET /echo HTTP/1.1\r\nHost: x\rA: b\r\n\r\n"],
    ["NUL", "GET /echo HTTP/1.1\r\nHost: x\0\r\n\r\n"],
    ["letters beyond ASCII", "GET /echo HTTP/1.1\r\nHost: x\r\nA: \xe9\r\n\r\n", LAST],
    ["letters beyond ASCII after many headers", get(`${many(15)}A: \xe9\r\n`), LAST],
    ["letters beyond ASCII in UTF-8", get(`${many(15)}A: \xc3\xa9\r\n`), LAST],
    ["many headers", get(many(15)), LAST],
    ["many headers without a space", get(many(15, ":")), LAST],
    ["many headers and blanks", get(many(15, ":    ")), LAST],
    ["more headers than the fast path reads", get(many(25)), LAST],
    ["tabs around values", get("A:\tb\r\nC:\t\t\r\nD: e\tf\t\r\n"), LAST],
    ["empty values", get("A:\r\nB: \r\nC:   \r\n"), LAST],
    ["blanks after values", get("A: b   \r\nC:d \r\n"), LAST],
    ["a length with blanks around it", get("Content-Length:  0  \r\n"), LAST],
    ["a control byte in a value", get("A: b\x01c\r\n")],
    ["a control byte after many headers", get(`${many(15)}A: \x7f\r\n`)],
    ["a bare line feed in a value", get("A: b\nC: d\r\n")],
    ["a bare carriage return after many headers", get(`${many(15)}A: b\rc\r\n`)],
    ["odd characters in a name", get("!#$%&'*+.^_`|~-: b\r\n"), LAST],
    ["a character that no name may have", get("A(b): c\r\n")],
    ["letters beyond ASCII in a name", get("A\xe9: c\r\n")],
    ["a line without a colon", get(`${many(15)}A\r\n`)],
    ["Proxy-Connection", get("Proxy-Connection: close\r\n")],
    ["an empty name", "GET /echo HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n"],
    ["the absolute form", "GET http://x/echo HTTP/1.1\r\nHost: x\r\n\r\n", LAST],
    ["an explicit keep-alive", post("x", "Connection: Keep-Alive\r\n"), LAST],
    ["an Expect header", post("x", "Expect: 100-continue\r\n"), LAST],
    ["__proto__", post("x", "__proto__: y\r\nconstructor: z\r\n"), LAST],
    ["line ends before the request", `\r\n${post("x")}`, LAST],
    ["no HTTP at all", "hello\r\n\r\n"],
    ["a body that is not UTF-8", post("\xff\xfe"), LAST],
    ["a large body", post("x".repeat(90_000)), LAST],
  ])("answers as Node does: %s", async (_, ...pieces) => {
    await expectSame(...pieces);
  });

  it("answers as Node does to random changes of a plain request", async () => {
    const whole = post("some body", "Accept: text/plain\r\nA2A-Version: 1.0\r\n");
    const bits = [
      "\r\n",
      "\n",
      "\r",
      ":",
      " ",
      "\t",
      "\0",
      "Content-Length: 3\r\n",
      "Host: y\r\n",
      "0",
      "-1",
      "\x80",
    ];
    const change = fc.record({
      at: fc.nat({ max: whole.length }),
      cut: fc.nat({ max: 3 }),
      put: fc.constantFrom("", ...bits),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async changes => {
        const text = changes.reduce(
          (text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut),
          whole,
        );
        const [one, other] = [open(node, text), open(fast, text)];
        // Neither answers an incomplete request; if one has answered, wait for the other.
        for (let i = 0; i < 400 && !(one.received && other.received); i++) {
          if (i > 3 && one.received === other.received) break;
          await pause(i);
        }
        expect(statusAndBody(other.received)).toBe(statusAndBody(one.received));
        one.socket.destroy();
        other.socket.destroy();
      }),
      { numRuns: 150 },
    );
  });

  it("waits a moment for the body after the head, then passes the request to Node", async () => {
    const whole = post("hello");
    for (const [waitMs, parser] of [
      [1, "fast path"],
      [200, "Node"],
    ] as const) {
      parsers.length = 0;
      const socket = call(fast);
      socket.write(whole.slice(0, -5));
      await pause(waitMs);
      socket.write("hello");
      expect(String((await once(socket, "data"))[0])).toContain('"body":"hello"');
      expect(parsers).toEqual([parser]);
      socket.destroy();
    }
  });

  it("refuses a header value with a line end", async () => {
    expect(await exchange(fast, ["GET /forged HTTP/1.1\r\nHost: x\r\n\r\n"])).toBe("");
  });

  it("reports to the response that the caller has closed or reset the connection", async () => {
    for (const leave of [(one: Socket) => one.end(), (one: Socket) => one.resetAndDestroy()]) {
      closed.length = 0;
      const socket = call(fast);
      socket.write("GET /silent HTTP/1.1\r\nHost: x\r\n\r\n");
      await pause(20);
      leave(socket);
      while (closed.length === 0) await pause();
      expect(closed[0]?.destroyed).toBe(true);
    }
  });

  it("closes idle connections, and not those that wait for a response", async () => {
    const idle = call(fast);
    idle.write(post("one"));
    await once(idle, "data");
    const waiting = call(fast);
    waiting.write("GET /silent HTTP/1.1\r\nHost: x\r\n\r\n");
    await pause(20);
    fastPath.closeIdle();
    await once(idle, "end");
    expect(waiting.readableEnded).toBe(false);
    fastPath.closeAll();
    await once(waiting, "close");
  });
});

const LONG_HEAD = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n";

it("a body in very many pieces is passed to Node's server, with all bytes that have arrived", () => {
  const served: string[] = [];
  const passed: string[] = [];
  const path = createFastPath({
    serve: (_request, _response, url) => void served.push(url),
    passToNode: (_socket, bytes) => void passed.push(bytes.toString("latin1")),
    limits: { headersMax: 20, headBytesMax: 4_000, requestBytesMax: 64 * 1024 },
    keepAliveMs: 60_000,
    now: () => 0,
  });
  const socket = new Socket();
  path.take(socket, Buffer.from(LONG_HEAD));
  let sent = LONG_HEAD;
  // Joining them again with each of 60,000 pieces would copy 1.8 GB.
  for (let i = 0; i < 60_000 && passed.length === 0; i++) {
    socket.emit("data", Buffer.from("x"));
    sent += "x";
  }
  path.close();
  expect(served).toEqual([]);
  expect(passed).toEqual([sent]);
  expect(sent.length).toBeLessThan(LONG_HEAD.length + 100);
});
