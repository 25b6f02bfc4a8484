import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { echo, mirror } from "../support/puppet.ts";
import { errorIn, exchange, expectHonest, openRaw, type RawReply, request } from "../support/raw.ts";
import { serve, type TestServer } from "../support/server.ts";
import { ask, type Loose, TONGUES, type Tongue, V1, V03 } from "../support/tongue.ts";

/** Bodies that are no calls, or far too much of one. After each the server still answers a normal call. */

let server: TestServer;
beforeAll(async () => {
  server = await serve([mirror, echo], { bodyBytesMax: 3_000_000 });
});
afterAll(() => server.stop());
afterEach(async () => {
  const task = V1.taskIn(await ask(server.url, "SendMessage", V1.said("still there?")));
  expect(task.artifacts[0].parts[0].text).toBe("still there?");
  // Bad input is no failure of the server.
  expect(server.log.lines.splice(0).filter(line => line.level === "error")).toEqual([]);
});

const headers = (tongue: Tongue): Record<string, string> => ({ "A2A-Version": tongue.version });
const post = (body: string | Uint8Array, tongue: Tongue = V1): Promise<RawReply> =>
  exchange(server.url, request(body, headers(tongue)));
/** A call as text, with an id that must come back. */
const call = (method: string, params: string, id = '"id"'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`;
const codeOf = async (body: string | Uint8Array, tongue: Tongue = V1): Promise<number> =>
  errorIn(await post(body, tongue)).code;

describe.each(TONGUES)("$name: bodies that are no JSON", tongue => {
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
    const reply = await post(body, tongue);
    expect(errorIn(reply).code).toBe(-32700);
    expect(JSON.parse(reply.body)).toMatchObject({ jsonrpc: "2.0", id: null });
  });
});

describe("a byte order mark", () => {
  it.each(["1", "1.5", "12345678901234567890", '"x"'])("is no harm, also with the id %s", async id => {
    const reply = await post(`\ufeff${call("ListTasks", "{}", id)}`);
    expect(reply.status).toBe(200);
    expect(reply.body.startsWith(`{"jsonrpc":"2.0","id":${id},"result":`)).toBe(true);
  });
});

describe.each(TONGUES)("$name: names that mean something in JavaScript", tongue => {
  it.each(["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf", "__defineGetter__"])(
    "the method %s does not exist",
    async method => {
      expect(await codeOf(call(method, "{}"), tongue)).toBe(-32601);
      expect(await codeOf(call(method, '{"__proto__":{}}'), tongue)).toBe(-32601);
    },
  );

  it("members that come by way of __proto__ are not there", async () => {
    const inner = `{"jsonrpc":"2.0","id":1,"method":"${tongue.list}","params":{}}`;
    expect(await codeOf(`{"__proto__":${inner}}`, tongue)).toBe(-32600);
    expect(await codeOf(call(tongue.get, '{"__proto__":{"id":"x"}}'), tongue)).toBe(-32602);
    const part = `{"__proto__":${JSON.stringify(tongue.textPart("x"))}}`;
    const message = `{"messageId":"m","role":"${tongue.userRole}","parts":[${part}]}`;
    expect(await codeOf(call(tongue.send, `{"message":${message}}`), tongue)).toBe(-32602);
  });

  it("odd names in metadata and data are kept, and nothing else gets them", async () => {
    const odd = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1}';
    const part = tongue === V1 ? `{"data":${odd}}` : `{"kind":"data","data":${odd}}`;
    const message = `{"messageId":"m","role":"${tongue.userRole}","parts":[${part}],"metadata":${odd}}`;
    const reply = await post(call(tongue.send, `{"message":${message},"metadata":${odd}}`), tongue);
    expect(reply.body.split(odd).length - 1).toBe(4);
    expect(({} as Loose).polluted).toBeUndefined();
  });
});

const LEVELS = 10_000;
const deep = (levels = LEVELS): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const deepArray = (levels = LEVELS): string => "[".repeat(levels) + "]".repeat(levels);

describe.each(TONGUES)(`$name: ${LEVELS} levels of nesting`, tongue => {
  const text = JSON.stringify(tongue.textPart("x"));
  const message = (more: string, parts = text): string =>
    `{"messageId":"m","role":"${tongue.userRole}","parts":[${parts}]${more}}`;
  const data = (value: string): string =>
    tongue === V1 ? `{"data":${value}}` : `{"kind":"data","data":${value}}`;
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
    ["message.parts", "parts", `{"message":{"messageId":"m","role":"${tongue.userRole}","parts":${deep()}}}`],
    [
      "configuration.historyLength",
      "a number",
      `{"message":${message("")},"configuration":{"historyLength":${deep()}}}`,
    ],
  ];
  it.each(params)("are refused in %s (%s), and the field is named", async (field, _, given) => {
    for (const method of [tongue.send, tongue.stream]) {
      const error = errorIn(await post(call(method, given), tongue));
      expect(error.code).toBe(-32602);
      expect(error.message).toContain(field);
      expect(error.message.length).toBeLessThan(500);
    }
  });

  it.each(["1", "1.5", "12345678901234567890"])(
    "in a member that nobody reads are no harm, with the id %s",
    async id => {
      const list = call(tongue.list, `{"future":${deep()},"other":${deepArray()}}`, id);
      const reply = await post(list, tongue);
      expect(reply.body.startsWith(`{"jsonrpc":"2.0","id":${id},"result":`)).toBe(true);
    },
  );

  it("instead of a call are an invalid request", async () => {
    expect(await codeOf(deepArray(), tongue)).toBe(-32600);
    expect(await codeOf(deep(), tongue)).toBe(-32600);
    expect(await codeOf(`{"jsonrpc":"2.0","id":${deep()},"method":"x"}`, tongue)).toBe(-32600);
    expect(await codeOf(`{"jsonrpc":"2.0","id":1,"method":${deep()}}`, tongue)).toBe(-32600);
    expect(await codeOf(`{"jsonrpc":${deep()},"id":1,"method":"x"}`, tongue)).toBe(-32600);
  });
});

it("a hundred times as many levels are no harm either", async () => {
  const many = "[".repeat(500_000) + "]".repeat(500_000);
  expect(await codeOf(many)).toBe(-32600);
  expect(await codeOf(call("GetTask", `{"id":${many}}`))).toBe(-32602);
  expect(await codeOf(call("GetTask", `{"id":${many}}`, "1.5"))).toBe(-32602);
  expect(await codeOf(call("SendMessage", `{"metadata":{"a":${many}}}`))).toBe(-32602);
});

it("64 levels of data, and what they hold, come back as they were", async () => {
  for (const tongue of TONGUES) {
    const data = JSON.parse(deep(63)) as Loose;
    const part = tongue === V1 ? { data } : { kind: "data", data };
    const task = tongue.taskIn(await ask(server.url, tongue.send, tongue.said("", { parts: [part] })));
    expect(task.artifacts[0].parts[0].data).toEqual(data);
  }
});

describe.each(TONGUES)("$name: a body over the limit", tongue => {
  const large = (): string =>
    JSON.stringify({ id: 1, method: tongue.send, params: tongue.said("x".repeat(3_100_000)) });

  it("is 413 in the dialect, and the same connection answers the next call", async () => {
    const raw = openRaw(server.url);
    for (let i = 0; i < 3; i++) {
      raw.write(request(large(), headers(tongue)));
      const reply = (await raw.reply()) as RawReply;
      expect(reply.status).toBe(413);
      expect(reply.headers["a2a-version"]).toBe(tongue.version);
      expect(errorIn(reply)).toMatchObject({ code: -32600, message: expect.stringContaining("3000000") });
      raw.write(request(call(tongue.list, "{}", `${i}`), headers(tongue)));
      const next = (await raw.reply()) as RawReply;
      expect(next.body.startsWith(`{"jsonrpc":"2.0","id":${i},"result":`)).toBe(true);
    }
    raw.destroy();
  });

  it("is 413 also when its length is not known beforehand", async () => {
    const raw = openRaw(server.url);
    raw.write(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nA2A-Version: ${tongue.version}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = "x".repeat(65_536);
    for (let sent = 0; sent <= 3_000_000; sent += chunk.length) raw.write(`10000\r\n${chunk}\r\n`);
    raw.write("0\r\n\r\n");
    const reply = (await raw.reply()) as RawReply;
    expect(reply.status).toBe(413);
    expect(errorIn(reply).code).toBe(-32600);
    raw.write(request(call(tongue.list, "{}"), headers(tongue)));
    expect(((await raw.reply()) as RawReply).status).toBe(200);
    raw.destroy();
  });

  it("just at the limit is taken", async () => {
    const body = call(tongue.list, "{}");
    expect((await post(body + " ".repeat(3_000_000 - body.length), tongue)).status).toBe(200);
    expect((await post(body + " ".repeat(3_000_001 - body.length), tongue)).status).toBe(413);
  });
});

it("a body that goes on without end is refused, and the connection is closed", async () => {
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
    await ask(small.url, V03.send, V03.said("still there?"));
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
    for (const tongue of TONGUES) {
      const body = call(tongue.list, "{}");
      const reply = await exchange(server.url, request(body, { ...headers(tongue), "Content-Type": type }));
      expect(errorIn(reply).code).toBe(-32005);
      expect(reply.headers["a2a-version"]).toBe(tongue.version);
    }
  });

  it.each([
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "application/a2a+json",
  ])("%s is taken", async type => {
    const reply = await exchange(server.url, request(call("ListTasks", "{}"), { "Content-Type": type }));
    expect(JSON.parse(reply.body)).toHaveProperty("result");
    expectHonest(reply.body);
  });
});
