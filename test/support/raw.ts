/** A client on a bare socket, which sends what client libraries would not. */
import { connect } from "node:net";
import { expect } from "vitest";
import type { Loose } from "./official-dialects.ts";

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Raw {
  write(bytes: string | Uint8Array): void;
  /** The next response on this connection; undefined: it was closed first. */
  reply(): Promise<RawReply | undefined>;
  /** Resolves when the other side has closed. */
  readonly closed: Promise<void>;
  destroy(): void;
}

export function openRaw(url: string): Raw {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let held: Buffer = Buffer.alloc(0);
  let over = false;
  let look = (): void => {};
  const closed = new Promise<void>(resolve => socket.once("close", () => resolve()));
  socket.on("data", (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    look();
  });
  // A server may close while the client is still sending.
  socket.on("error", () => {});
  socket.on("close", () => {
    over = true;
    look();
  });

  async function reply(): Promise<RawReply | undefined> {
    for (;;) {
      const found = parse(held, over);
      if (found) {
        held = held.subarray(found.size);
        return found.reply;
      }
      if (over) return undefined;
      await new Promise<void>(resolve => (look = resolve));
    }
  }
  return { write: bytes => socket.write(bytes), reply, closed, destroy: () => void socket.destroy() };
}

function parse(bytes: Buffer, over: boolean): { reply: RawReply; size: number } | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const status = Number(first.split(" ")[1]);
  const rest = bytes.subarray(end + 4);
  const body = bodyOf(rest, status, headers, over);
  if (!body) return null;
  return { reply: { status, headers, body: body.text }, size: end + 4 + body.size };
}

function bodyOf(
  rest: Buffer,
  status: number,
  headers: Readonly<Record<string, string>>,
  over: boolean,
): { text: string; size: number } | null {
  if (status < 200 || status === 204) return { text: "", size: 0 };
  if (headers["transfer-encoding"] === "chunked") return unchunked(rest);
  const length = Number(headers["content-length"] ?? (over ? rest.length : Number.POSITIVE_INFINITY));
  return rest.length < length ? null : { text: rest.subarray(0, length).toString("utf8"), size: length };
}

function unchunked(rest: Buffer): { text: string; size: number } | null {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf("\r\n", at);
    if (lineEnd === -1) return null;
    const length = Number.parseInt(rest.toString("latin1", at, lineEnd), 16);
    const start = lineEnd + 2;
    if (rest.length < start + length + 2) return null;
    at = start + length + 2;
    if (length === 0) return { text: Buffer.concat(chunks).toString("utf8"), size: at };
    chunks.push(rest.subarray(start, start + length));
  }
}

/** A whole request as text. */
export function request(
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  line = "POST /",
): Buffer {
  const bytes = Buffer.from(body);
  const all = {
    Host: "localhost",
    "Content-Type": "application/json",
    "Content-Length": `${bytes.length}`,
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${line} HTTP/1.1\r\n${head.join("")}\r\n`), bytes]);
}

/** One exchange on a separate connection. */
export async function exchange(url: string, bytes: string | Uint8Array): Promise<RawReply> {
  const raw = openRaw(url);
  raw.write(bytes);
  const reply = await raw.reply();
  raw.destroy();
  if (!reply) throw new Error("the connection was closed without a response");
  return reply;
}

const LEAKS = [
  /\bat .*[:(]\d+:\d+/,
  /node:internal|node_modules|\.(ts|js):\d+/,
  /\/work\/|\/home\/|\/tmp\/|\/src\//,
  /sqlite|SELECT |INSERT |UPDATE |constraint/i,
  /<html|<!doctype|<body|<pre/i,
  /\b(TypeError|RangeError|SyntaxError|ReferenceError)\b|is not a function|Cannot read prop/,
  /Unexpected token|in JSON at position|Maximum call stack/,
];

/** No response reveals internals of the server, or is made for browsers. */
export function expectNoInternals(text: string): void {
  for (const leak of LEAKS) expect(text).not.toMatch(leak);
}

/** The error in a response that must be a refusal in JSON. */
export function errorIn(reply: RawReply): Loose {
  expectNoInternals(reply.body);
  expect(reply.headers["content-type"]).toMatch(/^application\/json/);
  const { error } = JSON.parse(reply.body) as Loose;
  expect(error.message).toMatch(/.{5,}/);
  return error;
}
