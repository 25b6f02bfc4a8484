import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ParsedRequest, parseRequest } from "./parse.ts";

const LIMITS = { headersMax: 100, headBytesMax: 16_384, requestBytesMax: 65_536 };

/** Node's parser, with the options of the server; responds with what it has parsed. */
const node = createServer({ joinDuplicateHeaders: true }, async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const { method, url, headers } = request;
  const body = Buffer.concat(pieces).toString("latin1");
  response.end(JSON.stringify({ method, url, headers, body }));
});

beforeAll(async () => {
  node.listen(0, "127.0.0.1");
  await once(node, "listening");
});
afterAll(() => {
  node.close();
  node.closeAllConnections();
});

/** The request as Node parses it, and whether Node keeps the connection alive. */
async function parseWithNode(text: string): Promise<{ read: unknown; isKept: boolean }> {
  const socket = connect((node.address() as AddressInfo).port, "127.0.0.1").setEncoding("latin1");
  let answer = "";
  const answered = new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", resolve);
    socket.on("data", piece => {
      answer += piece;
      const end = answer.indexOf("\r\n\r\n");
      const length = Number(/^content-length: (\d+)/im.exec(answer)?.[1] ?? Number.NaN);
      if (end !== -1 && answer.length >= end + 4 + length) resolve();
    });
  });
  socket.write(text, "latin1");
  await answered;
  socket.destroy();
  expect(answer, JSON.stringify(text)).toMatch(/^HTTP\/1\.1 200 /);
  return {
    read: JSON.parse(Buffer.from(answer.slice(answer.indexOf("\r\n\r\n") + 4), "latin1").toString()),
    isKept: /^connection: keep-alive\r$/im.test(answer),
  };
}

const parseFast = (text: string): ParsedRequest | null => {
  const read = parseRequest(Buffer.from(text, "latin1"), LIMITS);
  return read === "incomplete" ? null : read;
};

/** Whether the fast path accepts it; then Node must parse it in the same way, and keep the connection alive. */
async function isAccepted(text: string): Promise<boolean> {
  const here = parseFast(text);
  if (!here) return false;
  const { method, url, headers } = here.head;
  const read = { method, url, headers, body: here.body.toString("latin1") };
  expect(await parseWithNode(text), JSON.stringify(text)).toEqual({ read, isKept: true });
  return true;
}

const BYTES = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
const among = (from: string, to: string): string[] => BYTES.filter(byte => byte >= from && byte <= to);
const TOKEN = BYTES.filter(byte => /[!#$%&'*+.^_`|~0-9A-Za-z-]/.test(byte));
const get = (headers: string): string => `GET /path HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

/** The position of a byte, and the bytes that are accepted there. */
const POSITIONS: readonly [string, (byte: string) => string, readonly string[]][] = [
  ["in the URL", byte => `GET /a${byte}b HTTP/1.1\r\nHost: x\r\n\r\n`, among("!", "~")],
  ["at the end of the URL", byte => `GET /a${byte} HTTP/1.1\r\nHost: x\r\n\r\n`, among("!", "~")],
  ["before the URL", byte => `GET ${byte}/a HTTP/1.1\r\nHost: x\r\n\r\n`, ["/"]],
  ["after the method", byte => `GET${byte}/a HTTP/1.1\r\nHost: x\r\n\r\n`, [" "]],
  ["after the version", byte => `GET /a HTTP/1.1${byte}\r\nHost: x\r\n\r\n`, []],
  ["instead of the line's end", byte => `GET /a HTTP/1.1${byte}Host: x\r\n\r\n`, []],
  ["before the first name", byte => `GET /a HTTP/1.1\r\n${byte}Host: x\r\nHost: y\r\n\r\n`, TOKEN],
  ["in a name", byte => get(`A${byte}b: c\r\n`), [...TOKEN, ":"].sort()],
  ["before the colon", byte => get(`A${byte}: c\r\n`), [...TOKEN, ":"].sort()],
  ["after the colon", byte => get(`A:${byte}c\r\n`), among(" ", "~")],
  ["in a value", byte => get(`A: b${byte}c\r\n`), among(" ", "~")],
  ["at the end of a value", byte => get(`A: b${byte}\r\n`), among(" ", "~")],
  ["as a value", byte => get(`A: ${byte}\r\n`), among(" ", "~")],
  ["alone as a value, without a space", byte => get(`A:${byte}\r\n`), among(" ", "~")],
  ["between two headers", byte => get(`A: b\r\n${byte}C: d\r\n`), TOKEN],
  ["after a carriage return", byte => get(`A: b\r${byte}C: d\r\n`), ["\n"]],
  ["before a line feed", byte => get(`A: b${byte}\nC: d\r\n`), ["\r"]],
  [
    "in a length",
    byte => `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: ${byte}1\r\n\r\n${"b".repeat(91)}`,
    ["9"],
  ],
  ["as a length", byte => `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: ${byte}\r\n\r\nabc`, ["3"]],
  [
    "around a length",
    byte => `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length:${byte}3 \r\n\r\nabc`,
    [" ", "0"],
  ],
  ["in a body", byte => `POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na${byte}b`, BYTES],
];

/** Requests, and whether they are accepted. */
const REQUESTS: readonly [string, string, boolean][] = [
  ["many names", get(Array.from({ length: 60 }, (_, i) => `X${i}: v\r\n`).join("")), true],
  ["many names and no space", get(Array.from({ length: 60 }, (_, i) => `X${i}:v\r\n`).join("")), true],
  [
    "many names and a last value beyond ASCII",
    get(`${Array.from({ length: 60 }, (_, i) => `X${i}: v\r\n`).join("")}Last: \xe9\r\n`),
    false,
  ],
  ["as many headers as may be", get(Array.from({ length: 99 }, (_, i) => `X${i}: v\r\n`).join("")), true],
  ["one header too many", get(Array.from({ length: 100 }, (_, i) => `X${i}: v\r\n`).join("")), false],
  ["empty values", get("A:\r\nB: \r\nC:   \r\nD:\r\n"), true],
  ["a tab as a value", get("A:\t\r\n"), false],
  ["blanks and tabs around a value", get("A: \t b \t\r\n"), false],
  ["blanks around a value", get(`A:${" ".repeat(50)}b c${" ".repeat(50)}\r\n`), true],
  ["colons in a value", get("A: b:c: d::\r\nB::\r\n"), true],
  ["a long name", get(`${"a".repeat(100)}: b\r\n`), true],
  ["a name that is too long", get(`${"a".repeat(101)}: b\r\n`), false],
  ["a long URL", `GET /${"a".repeat(2_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, true],
  ["a URL that is too long", `GET /${"a".repeat(2_001)} HTTP/1.1\r\nHost: x\r\n\r\n`, false],
  ["names like those of every object", get("constructor: a\r\ntoString: b\r\nvalueOf: c\r\n"), true],
  ["__proto__, twice", get("__proto__: a\r\n__proto__: b\r\n"), true],
  ["numbers as names", get("7: a\r\n0: b\r\n-1: c\r\n"), true],
  ["a name twice", get("A: b\r\na: c\r\n"), false],
  ["a host twice", get("HOST: y\r\n"), false],
  ["no header", "GET / HTTP/1.1\r\n\r\n", false],
  ["no host", "GET / HTTP/1.1\r\nA: b\r\n\r\n", false],
  ["an empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", true],
  ["Connection: close", get("Connection: close\r\n"), false],
  ["Connection: Keep-Alive", get("Connection:Keep-Alive \r\n"), true],
  ["Connection: keep-alive and more", get("Connection: keep-alive, close\r\n"), false],
  ["Proxy-Connection: close", get("Proxy-Connection: close\r\n"), false],
  ["Upgrade", get("Upgrade: h2c\r\n"), false],
  ["a length with nothing in it", get("Content-Length:\r\n"), false],
  ["a length of zeros", get("Content-Length: 000\r\n"), true],
  ["a length of ten digits", get("Content-Length: 0000000000\r\n"), false],
  ["HTTP/1.0", "GET / HTTP/1.0\r\nHost: x\r\n\r\n", false],
  ["a method in small letters", "get / HTTP/1.1\r\nHost: x\r\n\r\n", false],
  ["a longer method", "GETS / HTTP/1.1\r\nHost: x\r\n\r\n", false],
  ["the asterisk form", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", false],
];

describe("the fast path accepts only requests that Node parses in the same way", () => {
  it.each(POSITIONS)("every byte %s", async (_, made, expected) => {
    const accepted: string[] = [];
    for (const bytes of [BYTES.slice(0, 64), BYTES.slice(64, 128), BYTES.slice(128)])
      await Promise.all(bytes.map(async byte => (await isAccepted(made(byte))) && accepted.push(byte)));
    expect(accepted.sort()).toEqual([...expected].sort());
  });

  it.each(REQUESTS)("%s", async (_, text, expected) => {
    expect(await isAccepted(text)).toBe(expected);
  });

  it("random requests", async () => {
    const name = fc.constantFrom(
      "A",
      "b-c",
      "Host",
      "Content-Length",
      "Connection",
      "TE",
      "Proxy-Connection",
      "x_y",
      "7",
    );
    const value = fc.oneof(
      fc.constantFrom(
        "",
        "x",
        "3",
        "keep-alive",
        "close",
        "chunked",
        " y ",
        "a, b",
        "\t",
        "\xe9",
        "a:b",
        "a\rb",
        "a\nb",
      ),
      fc.string({ maxLength: 8 }).map(text => Buffer.from(text).toString("latin1")),
    );
    const colon = fc.constantFrom(": ", ":", ":  ", ":\t", " : ", "");
    const lineEnd = fc.constantFrom("\r\n", "\r\n", "\r\n", "\r\n", " \r\n", "\n", "\r", "\r\n ", "\r\r\n");
    const line = fc.tuple(name, colon, value, lineEnd).map(parts => parts.join(""));
    const first = fc.constantFrom(
      "GET / HTTP/1.1\r\n",
      "POST /a?b#c HTTP/1.1\r\n",
      "DELETE /[\\]^{|} HTTP/1.1\r\n",
    );
    const whole = fc
      .tuple(first, fc.array(line, { maxLength: 8 }), fc.constantFrom("", "abc", "abcd"))
      .map(([first, lines, body]) => `${first}Host: x\r\n${lines.join("")}\r\n${body}`);
    await fc.assert(
      fc.asyncProperty(whole, async text => void (await isAccepted(text))),
      { numRuns: 1_000 },
    );
  });
});
