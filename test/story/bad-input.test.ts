import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { echo, mirror } from "../support/agents.ts";
import {
  type Loose,
  OFFICIAL_DIALECTS,
  rpcResult,
  type TestDialect,
  V1,
  V03,
} from "../support/official-dialects.ts";
import { errorIn, exchange, expectNoInternals, openRaw, type RawReply, request } from "../support/raw.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Bodies that are no calls, or far too large. After each the server still answers a normal call. */

let server: TestServer;
beforeAll(async () => {
  server = await serve([mirror, echo], { bodyBytesMax: 3_000_000 });
});
afterAll(() => server.stop());
afterEach(async () => {
  const task = V1.taskIn(await rpcResult(server.url, "SendMessage", V1.sendParams("still there?")));
  expect(task.artifacts[0].parts[0].text).toBe("still there?");
  // Invalid input is not logged as an error of the server.
  expect(server.log.lines.splice(0).filter(line => line.level === "error")).toEqual([]);
});

const headers = (dialect: TestDialect): Record<string, string> => ({ "A2A-Version": dialect.version });
const post = (body: string | Uint8Array, dialect: TestDialect = V1): Promise<RawReply> =>
  exchange(server.url, request(body, headers(dialect)));
/** A call as text, with an id that must be returned. */
const call = (method: string, params: string, id = '"id"'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`;
const codeOf = async (body: string | Uint8Array, dialect: TestDialect = V1): Promise<number> =>
  errorIn(await post(body, dialect)).code;

describe.each(OFFICIAL_DIALECTS)("$name: bodies that are not JSON", dialect => {
  it.each([
    ["nothing", ""],
    ["one brace", "{"],
    ["a page", "<html><body>hi</body></html>"],
    ["a form", "jsonrpc=2.0&method=SendMessage"],
    ["two objects", '{"jsonrpc":"2.0"}{}'],
    ["a trailing comma", '{"jsonrpc":"2.0",}'],
    ["a NUL", "\u0000"],
    ["a raw control character in a string", '{"jsonrpc":"2.0","id":"a\u0001"}'],
    ["a megabyte of brackets", "[".repeat(1_000_000)],
    ["a megabyte of letters", "x".repeat(1_000_000)],
    ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d])],
    ["an overlong NUL", Buffer.from([0x22, 0xc0, 0x80, 0x22])],
    ["half a surrogate pair in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["UTF-16", Buffer.from('\ufeff{"jsonrpc":"2.0"}', "utf16le")],
    ["a gzip stream", Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0x00])],
  ])("%s is -32700 with the id null", async (_, body) => {
    const reply = await post(body, dialect);
    expect(errorIn(reply).code).toBe(-32700);
    expect(JSON.parse(reply.body)).toMatchObject({ jsonrpc: "2.0", id: null });
  });
});

describe("a byte order mark", () => {
  it.each(["1", "1.5", "12345678901234567890", '"x"'])("is ignored, also with the id %s", async id => {
    const reply = await post(`\ufeff${call("ListTasks", "{}", id)}`);
    expect(reply.status).toBe(200);
    expect(reply.body.startsWith(`{"jsonrpc":"2.0","id":${id},"result":`)).toBe(true);
  });
});

describe.each(OFFICIAL_DIALECTS)("$name: names of JavaScript's own members", dialect => {
  it.each(["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf", "__defineGetter__"])(
    "the method %s does not exist",
    async method => {
      expect(await codeOf(call(method, "{}"), dialect)).toBe(-32601);
      expect(await codeOf(call(method, '{"__proto__":{}}'), dialect)).toBe(-32601);
    },
  );

  it("members of __proto__ are not read", async () => {
    const inner = `{"jsonrpc":"2.0","id":1,"method":"${dialect.list}","params":{}}`;
    expect(await codeOf(`{"__proto__":${inner}}`, dialect)).toBe(-32600);
    expect(await codeOf(call(dialect.get, '{"__proto__":{"id":"x"}}'), dialect)).toBe(-32602);
    const part = `{"__proto__":${JSON.stringify(dialect.textPart("x"))}}`;
    const message = `{"messageId":"m","role":"${dialect.userRole}","parts":[${part}]}`;
    expect(await codeOf(call(dialect.send, `{"message":${message}}`), dialect)).toBe(-32602);
  });

  it("unusual names in metadata and data are stored, and affect no other object", async () => {
    const odd = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1}';
    const part = dialect === V1 ? `{"data":${odd}}` : `{"kind":"data","data":${odd}}`;
    const message = `{"messageId":"m","role":"${dialect.userRole}","parts":[${part}],"metadata":${odd}}`;
    const reply = await post(call(dialect.send, `{"message":${message},"metadata":${odd}}`), dialect);
    expect(reply.body.split(odd).length - 1).toBe(4);
    expect(({} as Loose).polluted).toBeUndefined();
  });
});

const LEVELS = 10_000;
const deep = (levels = LEVELS): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const deepArray = (levels = LEVELS): string => "[".repeat(levels) + "]".repeat(levels);

describe.each(OFFICIAL_DIALECTS)(`$name: ${LEVELS} levels of nesting`, dialect => {
  const text = JSON.stringify(dialect.textPart("x"));
  const message = (more: string, parts = text): string =>
    `{"messageId":"m","role":"${dialect.userRole}","parts":[${parts}]${more}}`;
  const data = (value: string): string =>
    dialect === V1 ? `{"data":${value}}` : `{"kind":"data","data":${value}}`;
  const params: [string, string, string][] = [
    ["message.metadata", "metadata of the message", `{"message":${message(`,"metadata":${deep()}`)}}`],
    ["metadata", "metadata of the call", `{"message":${message("")},"metadata":${deep()}}`],
    ["message.parts[0].data", "data", `{"message":${message("", data(deep()))}}`],
    [
      "message.parts[1].metadata",
      "metadata of a part",
      `{"message":${message("", `${text},${text.slice(0, -1)},"metadata":${deep()}}`)}}`,
    ],
    ["message.extensions", "a list of strings", `{"message":${message(`,"extensions":${deepArray()}`)}}`],
    ["message.contextId", "an id", `{"message":${message(`,"contextId":${deep()}`)}}`],
    [
      "message.parts",
      "parts",
      `{"message":{"messageId":"m","role":"${dialect.userRole}","parts":${deep()}}}`,
    ],
    [
      "configuration.historyLength",
      "a number",
      `{"message":${message("")},"configuration":{"historyLength":${deep()}}}`,
    ],
  ];
  it.each(params)("are refused in %s (%s), and the error names the field", async (field, _, given) => {
    for (const method of [dialect.send, dialect.stream]) {
      const error = errorIn(await post(call(method, given), dialect));
      expect(error.code).toBe(-32602);
      expect(error.message).toContain(field);
      expect(error.message.length).toBeLessThan(500);
    }
  });

  it.each(["1", "1.5", "12345678901234567890"])(
    "in an unknown member are ignored, with the id %s",
    async id => {
      const list = call(dialect.list, `{"future":${deep()},"other":${deepArray()}}`, id);
      const reply = await post(list, dialect);
      expect(reply.body.startsWith(`{"jsonrpc":"2.0","id":${id},"result":`)).toBe(true);
    },
  );

  it("instead of a call are an invalid request", async () => {
    expect(await codeOf(deepArray(), dialect)).toBe(-32600);
    expect(await codeOf(deep(), dialect)).toBe(-32600);
    expect(await codeOf(`{"jsonrpc":"2.0","id":${deep()},"method":"x"}`, dialect)).toBe(-32600);
    expect(await codeOf(`{"jsonrpc":"2.0","id":1,"method":${deep()}}`, dialect)).toBe(-32600);
    expect(await codeOf(`{"jsonrpc":${deep()},"id":1,"method":"x"}`, dialect)).toBe(-32600);
  });
});

it("a hundred times as many levels are handled alike", async () => {
  const many = "[".repeat(500_000) + "]".repeat(500_000);
  expect(await codeOf(many)).toBe(-32600);
  expect(await codeOf(call("GetTask", `{"id":${many}}`))).toBe(-32602);
  expect(await codeOf(call("GetTask", `{"id":${many}}`, "1.5"))).toBe(-32602);
  expect(await codeOf(call("SendMessage", `{"metadata":{"a":${many}}}`))).toBe(-32602);
});

it("64 levels of data are returned unchanged", async () => {
  for (const dialect of OFFICIAL_DIALECTS) {
    const data = JSON.parse(deep(63)) as Loose;
    const part = dialect === V1 ? { data } : { kind: "data", data };
    const task = dialect.taskIn(
      await rpcResult(server.url, dialect.send, dialect.sendParams("", { parts: [part] })),
    );
    expect(task.artifacts[0].parts[0].data).toEqual(data);
  }
});

describe.each(OFFICIAL_DIALECTS)("$name: a body over the limit", dialect => {
  const large = (): string =>
    JSON.stringify({ id: 1, method: dialect.send, params: dialect.sendParams("x".repeat(3_100_000)) });

  it("is 413 in the dialect, and the same connection answers the next call", async () => {
    const raw = openRaw(server.url);
    for (let i = 0; i < 3; i++) {
      raw.write(request(large(), headers(dialect)));
      const reply = (await raw.reply()) as RawReply;
      expect(reply.status).toBe(413);
      expect(reply.headers["a2a-version"]).toBe(dialect.version);
      expect(errorIn(reply)).toMatchObject({ code: -32600, message: expect.stringContaining("3000000") });
      raw.write(request(call(dialect.list, "{}", `${i}`), headers(dialect)));
      const next = (await raw.reply()) as RawReply;
      expect(next.body.startsWith(`{"jsonrpc":"2.0","id":${i},"result":`)).toBe(true);
    }
    raw.destroy();
  });

  it("is 413 also without a Content-Length", async () => {
    const raw = openRaw(server.url);
    raw.write(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nA2A-Version: ${dialect.version}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = "x".repeat(65_536);
    for (let sent = 0; sent <= 3_000_000; sent += chunk.length) raw.write(`10000\r\n${chunk}\r\n`);
    raw.write("0\r\n\r\n");
    const reply = (await raw.reply()) as RawReply;
    expect(reply.status).toBe(413);
    expect(errorIn(reply).code).toBe(-32600);
    raw.write(request(call(dialect.list, "{}"), headers(dialect)));
    expect(((await raw.reply()) as RawReply).status).toBe(200);
    raw.destroy();
  });

  it("exactly at the limit is accepted", async () => {
    const body = call(dialect.list, "{}");
    expect((await post(body + " ".repeat(3_000_000 - body.length), dialect)).status).toBe(200);
    expect((await post(body + " ".repeat(3_000_001 - body.length), dialect)).status).toBe(413);
  });
});

it("an endless body is refused, and the connection is closed", async () => {
  const small = await serve([echo], { bodyBytesMax: 1_000, bodyDrainBytesMax: 100_000 } as object);
  try {
    const raw = openRaw(small.url);
    raw.write(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999999999\r\n\r\n",
    );
    for (let i = 0; i < 4; i++) raw.write("x".repeat(50_000));
    const reply = (await raw.reply()) as RawReply;
    expect(reply.status).toBe(413);
    expect(errorIn(reply).code).toBe(-32600);
    expect(reply.headers.connection).toBe("close");
    await raw.closed;
    await rpcResult(small.url, V03.send, V03.sendParams("still there?"));
  } finally {
    await small.stop();
  }
});

describe("the content type", () => {
  it.each([
    "text/plain",
    "application/xml",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "json",
    "*/*",
  ])("%s is ContentTypeNotSupported, in the dialect", async type => {
    for (const dialect of OFFICIAL_DIALECTS) {
      const body = call(dialect.list, "{}");
      const reply = await exchange(server.url, request(body, { ...headers(dialect), "Content-Type": type }));
      expect(errorIn(reply).code).toBe(-32005);
      expect(reply.headers["a2a-version"]).toBe(dialect.version);
    }
  });

  it.each([
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "application/a2a+json",
  ])("%s is accepted", async type => {
    const reply = await exchange(server.url, request(call("ListTasks", "{}"), { "Content-Type": type }));
    expect(JSON.parse(reply.body)).toHaveProperty("result");
    expectNoInternals(reply.body);
  });
});
