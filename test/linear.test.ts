/**
 * Parsers of untrusted input must take linear time. Each case is a parser and an input that is expensive for a quadratic
 * one; the input grows, and the cost is compared with that of the smallest.
 */
import { describe, it } from "vitest";
import { bearerChallenge, bearerOf } from "../src/auth/bearer.ts";
import { MessageReader } from "../src/binding/grpc/message.ts";
import { sourceOfId } from "../src/binding/jsonrpc-id.ts";
import { parseAgentAddress } from "../src/client/address.ts";
import { dedupe } from "../src/client/dedupe.ts";
import { excerpt } from "../src/client/errors.ts";
import { createRest as createRestClient } from "../src/client/rest.ts";
import { readSse } from "../src/client/sse.ts";
import type { ReceivedResponse } from "../src/client/types.ts";
import { createBaseUrl } from "../src/http/base-url.ts";
import { isJson, parseJson } from "../src/http/body.ts";
import { parseRequest } from "../src/http/fast-path/parse.ts";
import { createHostCheck } from "../src/http/host-check.ts";
import { createRoutes } from "../src/http/routes.ts";
import { findNearest } from "../src/lib/did-you-mean.ts";
import type { Json } from "../src/lib/json.ts";
import type { ContextId } from "../src/model/index.ts";
import { createAddressRules, normalizeHost } from "../src/outbound/address-rules.ts";
import type { WireCall } from "../src/ports/index.ts";
import { checkAccept } from "../src/protocol/langgraph/decode.ts";
import { ProtobufReader } from "../src/protocol/protobuf/reader.ts";
import { WELL_KNOWN_TYPES } from "../src/protocol/protobuf/well-known-types.ts";
import { checkJson, normalizeBase64 } from "../src/protocol/shared/fields.ts";
import { readExtensions, readVersion } from "../src/protocol/shared/headers.ts";
import { readLines } from "../src/runtime/shared/read-lines.ts";
import { toCanonicalJson } from "../src/signature/canonical.ts";
import { redact, scrub } from "../src/telemetry/redact.ts";
import { toSpanContext } from "../src/telemetry/spans.ts";
import { expectLinear } from "./support/linear.ts";

interface Case {
  readonly name: string;
  work(input: unknown): unknown;
  make(size: number): unknown;
  readonly size: number;
}
const cases: Case[] = [];
/** `size`: of the smallest input, in repetitions. */
function add<T>(name: string, size: number, work: (input: T) => unknown, make: (size: number) => T): void {
  cases.push({ name, size, make, work: work as Case["work"] });
}

const times = (count: number, one: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => one(i)).join("");
const catchError = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

// The head of a request. No limit applies here, so that the whole head is read.
const PLAIN = { headersMax: 1e9, headBytesMax: 1e9, requestBytesMax: 1e9 };
const readHead = (head: Buffer): unknown => parseRequest(head, PLAIN);
const head = (lines: string): Buffer => Buffer.from(`GET / HTTP/1.1\r\nHost: x\r\n${lines}\r\n`, "latin1");
const many = (count: number, line: string): string => times(count, i => `X${i}${line}\r\n`);
for (const [name, line] of [
  ["a space after the colon", ": v"],
  ["no space", ":v"],
  ["blanks", ":      v     "],
  ["empty values", ":"],
  ["tabs", ":\tv"],
] as const) {
  add(`heads of many headers, ${name}`, 8, readHead, size => head(many(size, line)));
  add(`heads of many headers, ${name}, and a last byte beyond ASCII`, 8, readHead, size =>
    head(`${many(size, line)}Last: \xe9\r\n`),
  );
  add(`heads of many headers, ${name}, and a last line without a colon`, 8, readHead, size =>
    head(`${many(size, line)}Last\r\n`),
  );
}
add("heads with a long value of blanks", 2_000, readHead, size => head(`A:${" ".repeat(size)}\x01\r\n`));
add("heads with blanks after a value", 2_000, readHead, size => head(`A: b${" ".repeat(size)}\r\n`));
add("heads with a long name", 2_000, readHead, size => head(`${"a".repeat(size)}: b\r\n`));
add("heads with a long URL", 2_000, readHead, size =>
  Buffer.from(`GET /${"/".repeat(size)} HTTP/1.1\r\n\r\n`),
);
add("heads with a long length", 2_000, readHead, size => head(`Content-Length: ${"0".repeat(size)}\r\n`));
add("requests without an end", 2_000, readHead, size => Buffer.from("\r\n\r".repeat(size)));

// Other headers.
const hosts = createHostCheck({
  auth: ["none"],
  host: "127.0.0.1",
  publicUrl: undefined,
  allowedHosts: [],
  cors: [],
  corsRules: undefined,
  trustProxy: false,
});
add(
  "Host",
  2_000,
  (host: string) => hosts?.({ host }, "POST"),
  size => `${":1".repeat(size)}x`,
);
add(
  "Origin",
  2_000,
  (origin: string) => hosts?.({ host: "localhost", origin }, "POST"),
  size => `http://${"a.".repeat(size)}/`,
);
const base = createBaseUrl({ publicUrl: undefined, trustProxy: true });
const SITE = { scheme: "http", prefix: "" } as const;
add(
  "X-Forwarded-Host",
  2_000,
  (host: string) => base({ "x-forwarded-host": host }, SITE),
  size => `${"a.-".repeat(size)}!`,
);
add(
  "X-Forwarded-Prefix",
  2_000,
  (path: string) => base({ "x-forwarded-prefix": path }, SITE),
  size => `${"/a".repeat(size)}!`,
);
add(
  "Authorization",
  2_000,
  (authorization: string) => bearerOf({ authorization }),
  size => `Bearer ${" ".repeat(size)}x`,
);
add("challenges", 2_000, bearerChallenge, size => '"\\'.repeat(size));
add("Content-Type", 2_000, isJson, size => `application/${"a.-".repeat(size)}`);
add("Content-Type with blanks", 2_000, isJson, size => `application/json${" ".repeat(size)}x`);
const call = (headers: Record<string, string>): WireCall =>
  ({ method: "a", headers, query: new URLSearchParams() }) as unknown as WireCall;
add(
  "Accept",
  500,
  (accept: string) => catchError(() => checkAccept(call({ accept }), true)),
  size => "a/b ; q=1 ,".repeat(size),
);
add(
  "A2A-Extensions",
  500,
  (text: string) => readExtensions(call({ "a2a-extensions": text })),
  size => " ,a ,".repeat(size),
);
add(
  "A2A-Version",
  2_000,
  (text: string) => readVersion(call({ "a2a-version": text })),
  size => `${"1.".repeat(size)}x`,
);
add(
  "traceparent",
  2_000,
  (traceparent: string) => toSpanContext({ traceparent }),
  size => `00-${"0".repeat(size)}`,
);
const PARENT = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
add(
  "tracestate",
  500,
  (tracestate: string) => toSpanContext({ traceparent: PARENT, tracestate }),
  size => "a=b, ".repeat(size),
);
const locate = createRoutes([], []);
add("paths", 500, locate, size => "/a:b%41".repeat(size));

// Bodies.
const parse = (text: string): Json => parseJson(text, "application/json");
const check = (text: string): unknown => catchError(() => checkJson(parse(text), "data"));
add(
  "ids in an envelope",
  500,
  sourceOfId,
  size => `{${times(size, () => '"id":1234567890123456789,"\\u0069d" : {"a":[]},')}"a":1}`,
);
add("objects with many members", 500, check, size => `{${times(size, i => `"a${i}":${i},`)}"a":1}`);
add("objects with one member many times", 500, check, size => `{${times(size, () => '"a":1,')}"a":1}`);
add("objects with numbers as names", 500, check, size => `{${times(size, i => `"${i * 7_919}":1,`)}"a":1}`);
add("lists", 2_000, check, size => `[${"{},".repeat(size)}1]`);
add("deep lists", 500, check, size => "[".repeat(size) + "]".repeat(size));
add("deep objects", 500, check, size => `${'{"a":'.repeat(size)}1${"}".repeat(size)}`);
add(
  "base64",
  2_000,
  (text: string) => catchError(() => normalizeBase64(text, "bytes")),
  size => `${"=".repeat(size)}a`,
);
add(
  "base64 of the other alphabet",
  2_000,
  (text: string) => normalizeBase64(text, "bytes"),
  size => "-_-_".repeat(size),
);
add(
  "names that are not known",
  500,
  (name: string) => findNearest(name, ["SendMessage", "GetTask"], 3),
  size => "-_aB".repeat(size),
);

// Protocol Buffers.
const field = (tag: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.of(tag), varint(content.length), content]);
function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}
const LIST = 0x32;
const OBJECT = 0x2a;
const NULL = field(0x0a, Buffer.of(0x08, 0x00));
const repeated = (count: number, one: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => one));
const readValue = (content: Buffer): unknown =>
  WELL_KNOWN_TYPES.Value?.read(new ProtobufReader(content, 100), undefined);
const value = (...fields: Buffer[]): Buffer => field(0, Buffer.concat(fields)).subarray(1);
const EMPTY = Buffer.alloc(0);
add("a list that is put together from many", 2_000, readValue, size =>
  value(field(LIST, repeated(size, NULL)), repeated(size, field(LIST, EMPTY))),
);
add("a list that grows", 500, readValue, size => value(repeated(size, field(LIST, NULL))));
add("an object that is put together from many", 500, readValue, size => {
  const entries = Array.from({ length: size }, (_, i) =>
    field(
      OBJECT,
      field(0x0a, Buffer.concat([field(0x0a, Buffer.from(`k${i}`)), field(0x12, Buffer.of(0x08, 0x00))])),
    ),
  );
  return value(...entries);
});
add(
  "fields that are not known",
  500,
  (bytes: Buffer) => catchError(() => readValue(bytes)),
  size => value(repeated(size, field(0x7a, EMPTY))),
);
add(
  "groups",
  500,
  (bytes: Buffer) => catchError(() => readValue(bytes)),
  size => value(repeated(size, Buffer.of(0x7b, 0x7c))),
);
add(
  "a message in small pieces",
  500,
  (pieces: readonly Buffer[]) => {
    const reader = new MessageReader(1e9);
    for (const piece of pieces) reader.add(piece);
  },
  size => [Buffer.of(0, 0, 15, 255, 255), ...Array.from({ length: size }, () => Buffer.alloc(100))],
);

// Output of other agents and programs.
async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function readAll(all: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of all) count += 1;
  return count;
}
add(
  "a line of a program in small pieces",
  250,
  (text: string) => readAll(readLines(inPieces(text, 64), 1e9)),
  size => `${"x".repeat(size * 64)}\n`,
);
add(
  "lines of a program",
  250,
  (text: string) => readAll(readLines(inPieces(text, 64), 1e9)),
  size => "\r\nabc\r\n".repeat(size),
);
add(
  "an event in small pieces",
  250,
  (text: string) => readAll(readSse(inPieces(text, 64), 1e9)),
  size => `data: ${"x".repeat(size * 64)}\n\n`,
);
add(
  "an event of many lines",
  250,
  (text: string) => readAll(readSse(inPieces(text, 64), 1e9)),
  size => `${"data: x\r".repeat(size)}\r`,
);
const words = async function* (count: number): AsyncGenerator<ReceivedResponse> {
  for (let i = 0; i < count; i++) {
    const artifact = { artifactId: "a", parts: [{ kind: "text" as const, text: "word " }] };
    yield {
      raw: null,
      item: {
        kind: "artifact",
        taskId: "t",
        contextId: "c" as ContextId,
        artifact,
        append: i > 0,
        last: false,
      },
    };
  }
};
add(
  "words of an agent",
  500,
  (count: number) => readAll(dedupe(words(count), { repeatsText: true })),
  size => size,
);
add("responses that are no JSON", 2_000, excerpt, size => ` \n\t${"a ".repeat(size)}`);
add(
  "addresses of agents",
  2_000,
  (url: string) => parseAgentAddress(url, undefined),
  size => `http://a/${"/".repeat(size)}x`,
);
add(
  "addresses of cards",
  2_000,
  (url: string) => parseAgentAddress(url, undefined),
  size => `http://a${"/.well-known".repeat(size)}/x.json`,
);
add(
  "addresses in cards",
  2_000,
  async (url: string) => {
    const link = { url, headers: {}, pathPrefix: "", mediaType: "application/json" };
    const access = { fetch: async () => new Response("{}"), credentials: async () => ({}) };
    await createRestClient({ ...link, ...access }).call(
      { method: "GetTask", params: { id: "1" }, headers: {} },
      AbortSignal.timeout(60_000),
    );
  },
  size => `http://a/${"/".repeat(size)}x`,
);
add("host names", 2_000, normalizeHost, size => `${".".repeat(size)}x`);
const addresses = createAddressRules({ allow: [], loopback: false });
add(
  "addresses of hosts",
  2_000,
  (address: string) => addresses.isAllowed(address, "a"),
  size => `${"%".repeat(size)}\n`,
);
add("signed cards", 100, toCanonicalJson, size => {
  let card: Json = "x".repeat(size * 500);
  for (let i = 0; i < size; i++) card = { a: [card, 1], b: 1 };
  return card;
});

// The log.
for (const [name, text] of [
  ["JSON Web Tokens without an end", "eyJaaaaaaaa-"],
  ["JSON Web Tokens with one dot", "eyJaaaaaaaa."],
  ["JSON Web Tokens in a row", "eyJaaaaaaaa.aaaaaaaa.a-"],
  ["words of Authorization", "Bearer "],
  ["users and passwords", "://a:"],
  ["keys", "api_key = "],
  ["keys of models", "sk-"],
  ["blanks", "token \t"],
] as const)
  add(`texts for the log: ${name}`, 250, scrub, size => text.repeat(size));
add(
  "texts for the log: blanks after a word",
  2_000,
  scrub,
  size => `token${" ".repeat(size)}x Bearer${" ".repeat(size)}!`,
);
add(
  "facts for the log with long names",
  250,
  (facts: object) => scrub(JSON.stringify(redact(facts))),
  size => ({ ["eyJaaaaaaaa-".repeat(size)]: 1 }),
);

describe("the cost of parsing is linear in the length of", () => {
  it.each(cases.map(one => [one.name, one] as const))("%s", async (_, { work, make, size }) => {
    await expectLinear(work, make, size);
  });
});
