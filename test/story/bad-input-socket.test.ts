import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { echo } from "../support/agents.ts";
import { type Loose, OFFICIAL_DIALECTS, rpcResult, V1 } from "../support/official-dialects.ts";
import { errorIn, exchange, expectNoInternals, openRaw, type RawReply, request } from "../support/raw.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Invalid HTTP on bare sockets: wrong verbs, wrong paths, wrong heads, and slow clients. */

let server: TestServer;
beforeAll(async () => {
  server = await serve([echo]);
});
afterAll(() => server.stop());
afterEach(async () => {
  const task = V1.taskIn(await rpcResult(server.url, "SendMessage", V1.sendParams("still there?")));
  expect(task.artifacts[0].parts[0].text).toBe("still there?");
  expect(server.log.lines.splice(0).filter(line => line.level === "error")).toEqual([]);
});

const CALL = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "ListTasks", params: {} });
const V = { "A2A-Version": "1.0" };
const isAnswer = (reply: RawReply | undefined): void => {
  expect(reply?.status).toBe(200);
  expect(JSON.parse(reply?.body ?? "")).toMatchObject({ jsonrpc: "2.0", id: 7, result: { pageSize: 50 } });
};

describe("verbs", () => {
  it.each(["GET", "PUT", "DELETE", "PATCH"])("%s on an endpoint is 405 with an Allow header", async verb => {
    for (const path of ["/agents/echo", "/agents/echo/"]) {
      const reply = await exchange(server.url, request("", {}, `${verb} ${path}`));
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).toMatch(/\bPOST\b/);
      errorIn(reply);
    }
  });

  it.each(["PUT", "DELETE", "PATCH"])("%s on the root and on a card is 405", async verb => {
    for (const path of ["/", "/.well-known/agent-card.json", "/agents"]) {
      const reply = await exchange(server.url, request("{}", {}, `${verb} ${path}`));
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).toMatch(/\bGET\b/);
      errorIn(reply);
    }
  });

  it("POST on a card is 405", async () => {
    const reply = await exchange(server.url, request(CALL, V, "POST /.well-known/agent-card.json"));
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe("GET, HEAD, OPTIONS");
  });

  it("OPTIONS returns an Allow header", async () => {
    const reply = await exchange(server.url, request("", {}, "OPTIONS /agents/echo"));
    expect(reply.status).toBe(204);
    expect(reply.headers.allow).toMatch(/\bPOST\b/);
  });

  it.each(["BREW", "get", "CONNECT"])("the invalid verb %s is refused", async verb => {
    const raw = openRaw(server.url);
    raw.write(request("", {}, `${verb} /`));
    const reply = await raw.reply();
    if (reply) expect(reply.status).toBeGreaterThanOrEqual(400);
    raw.destroy();
  });
});

describe("paths", () => {
  it.each([
    ...["/nope", "/agents/echo/nope", "/agents/echo/.well-known", "/.well-known/", "/.env", "/index.html"],
    ...[
      "/agents/%",
      "/agents/%zz",
      "/agents/%E0%A4%A",
      "/agents/%ff",
      "/%00",
      "/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    ],
    ...["/agents/echo/%2e%2e", "/..%2f..", "/agents//", "/agents//echo", `/${"a/".repeat(500)}`],
    ...[`/${"x".repeat(10_000)}`, "/agents/echo/.well-known/agent-card.json/x", "/a?b?c#d", "/AGENTS/echo"],
  ])("the unknown path %s is 404, in JSON", async path => {
    for (const verb of ["GET", "POST"]) {
      const reply = await exchange(server.url, request("{}", {}, `${verb} ${path}`));
      expect(reply.status).toBe(404);
      errorIn(reply);
    }
  });

  it.each([
    "__proto__",
    "constructor",
    "%2e%2e",
    "echo%00",
    "ECHO",
    "echo%20",
    "%F0%9F%99%82",
    "x".repeat(5_000),
  ])("the unknown agent %s is 404 with an envelope", async name => {
    for (const dialect of OFFICIAL_DIALECTS) {
      const headers = { "A2A-Version": dialect.version };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: dialect.list, params: {} });
      const reply = await exchange(server.url, request(body, headers, `POST /agents/${name}`));
      expect(reply.status).toBe(404);
      expect(errorIn(reply).code).toBe(-32602);
      expect(JSON.parse(reply.body)).toMatchObject({ jsonrpc: "2.0", id: 7 });
    }
  });

  it.each(["?x", "?A2A-Version=%", "?%%%", "?a=b&a=c&=&&", `?${"q".repeat(5_000)}`, "?__proto__=1"])(
    "the query %s is ignored",
    async query => {
      isAnswer(await exchange(server.url, request(CALL, V, `POST /${query}`)));
    },
  );

  it("a path in absolute form, as proxies send it, is the same path", async () => {
    isAnswer(await exchange(server.url, request(CALL, V, `POST ${server.url}/agents/echo`)));
  });

  it("a refused request does not affect the next one on the connection", async () => {
    const raw = openRaw(server.url);
    for (const line of ["POST /nope", "PUT /", "DELETE /agents/echo"]) {
      raw.write(request("x".repeat(10_000), {}, line));
      expect([404, 405]).toContain((await raw.reply())?.status);
      raw.write(request(CALL, V));
      isAnswer(await raw.reply());
    }
    raw.destroy();
  });
});

describe("heads", () => {
  it("a thousand short headers are all read or the request is refused", async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`x${i}`, "1"]));
    const reply = await exchange(server.url, request(CALL, { ...V, ...many }));
    if (reply.status === 200) isAnswer(reply);
    else expect(reply.status).toBe(431);
    expectNoInternals(reply.body);
  });

  it("a version header behind a thousand others is read, or the request is refused", async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`x${i}`, "1"]));
    const reply = await exchange(server.url, request(CALL, { ...many, "A2A-Version": "9.9" }));
    if (reply.status === 431) return;
    expect(errorIn(reply).code).toBe(-32009);
  });

  it.each([
    ["a header of 100 KB", { "x-large": "x".repeat(100_000) }],
    [
      "10,000 headers",
      Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`x-header-${i}`, "value"])),
    ],
  ])("%s: 431, in JSON", async (_, headers) => {
    const reply = await exchange(server.url, request(CALL, headers as Record<string, string>));
    expect(reply.status).toBe(431);
    errorIn(reply);
  });

  it("a path of 100 KB is refused", async () => {
    const reply = await exchange(server.url, request("", {}, `GET /${"x".repeat(100_000)}`));
    expect([414, 431]).toContain(reply.status);
    errorIn(reply);
  });

  it.each([
    ["a TLS ClientHello", Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])],
    ["noise", Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7919) % 256))],
    ["a line that is no request", "hello\r\n\r\n"],
    ["no path", "POST\r\n\r\n"],
    ["an unknown version of HTTP", "POST / HTTP/9.9\r\nHost: localhost\r\n\r\n"],
    ["a wrong HTTP/2 preface", "PRI* HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a negative length", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n"],
    ["a length that is no number", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n"],
    [
      "two lengths",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    ],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a header without a name", "POST / HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n"],
    ["a header with a NUL", "POST / HTTP/1.1\r\nHost: localhost\r\nx: a\u0000b\r\n\r\n"],
    ["no host", "GET /agents HTTP/1.1\r\n\r\n"],
  ])("%s: 400, in JSON, and the connection is closed", async (_, bytes) => {
    const raw = openRaw(server.url);
    raw.write(bytes);
    const reply = await raw.reply();
    expect(reply?.status).toBe(400);
    expectNoInternals(reply?.body ?? "");
    await raw.closed;
  });

  it("an invalid chunk in a body: 400, and the connection is closed", async () => {
    const raw = openRaw(server.url);
    raw.write("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n");
    const reply = await raw.reply();
    expect(reply?.status).toBe(400);
    expectNoInternals(reply?.body ?? "");
    await raw.closed;
  });

  it("a supported Expect is answered, another is refused", async () => {
    const raw = openRaw(server.url);
    raw.write(request(CALL, { ...V, Expect: "100-continue" }));
    expect((await raw.reply())?.status).toBe(100);
    isAnswer(await raw.reply());
    raw.destroy();
    expect((await exchange(server.url, request(CALL, { ...V, Expect: "wonders" }))).status).toBe(417);
  });

  it("pipelined calls are answered in order", async () => {
    const raw = openRaw(server.url);
    const call = (id: number) => CALL.replace('"id":7', `"id":${id}`);
    raw.write(Buffer.concat([1, 2, 3, 4, 5].map(id => request(call(id), V))));
    for (const id of [1, 2, 3, 4, 5]) {
      const reply = (await raw.reply()) as RawReply;
      expect((JSON.parse(reply.body) as Loose).id).toBe(id);
    }
    raw.destroy();
  });
});

describe("slow clients", () => {
  it("heads and bodies that arrive byte by byte block no other client, and are answered when they are complete", async () => {
    const whole = request(CALL, V);
    const headEnd = whole.indexOf("\r\n\r\n");
    const slow = Array.from({ length: 100 }, (_, i) => {
      const raw = openRaw(server.url);
      const cut = i % 2 ? headEnd - 5 : headEnd + 4 + (i % 40);
      raw.write(whole.subarray(0, cut));
      return { raw, rest: whole.subarray(cut) };
    });
    for (let i = 0; i < 20; i++) isAnswer(await exchange(server.url, whole));
    for (const { raw, rest } of slow) {
      raw.write(rest.subarray(0, 1));
      isAnswer(await exchange(server.url, whole));
      raw.write(rest.subarray(1));
      isAnswer(await raw.reply());
      raw.destroy();
    }
  });

  it("a body that does not arrive is 408, in the dialect, and the connection is closed", async () => {
    const hasty = await serve([echo], { bodyReadMs: 100 } as object);
    try {
      for (const dialect of OFFICIAL_DIALECTS) {
        const raw = openRaw(hasty.url);
        const head = request(CALL, { "A2A-Version": dialect.version, "Content-Length": "500" });
        raw.write(head);
        const reply = (await raw.reply()) as RawReply;
        expect(reply.status).toBe(408);
        expect(errorIn(reply).code).toBe(-32600);
        expect(reply.headers["a2a-version"]).toBe(dialect.version);
        expect(reply.headers.connection).toBe("close");
        await raw.closed;
      }
    } finally {
      await hasty.stop();
    }
  });

  it("a body that arrives byte by byte is 408 as well, however steadily", async () => {
    const hasty = await serve([echo], { bodyReadMs: 500 } as object);
    const raw = openRaw(hasty.url);
    raw.write(request(CALL, { ...V, "Content-Length": "60000" }));
    const more = setInterval(() => raw.write(" "), 10);
    try {
      expect(((await raw.reply()) as RawReply).status).toBe(408);
      await raw.closed;
    } finally {
      clearInterval(more);
      raw.destroy();
      await hasty.stop();
    }
  });

  it("a client that disconnects during a head, a body or a response is forgotten", async () => {
    const whole = request(
      JSON.stringify({ ...JSON.parse(CALL), method: "SendStreamingMessage", params: V1.sendParams("x") }),
      V,
    );
    for (const cut of [1, 20, 100, whole.length - 5, whole.length]) {
      const raw = openRaw(server.url);
      raw.write(whole.subarray(0, cut));
      isAnswer(await exchange(server.url, request(CALL, V)));
      raw.destroy();
      await raw.closed;
    }
  });

  it("a server with half-sent requests can be stopped", async () => {
    const other = await serve([echo]);
    const raws = Array.from({ length: 20 }, () => openRaw(other.url));
    for (const [i, raw] of raws.entries()) raw.write(request(CALL, V).subarray(0, 20 + i * 10));
    isAnswer(await exchange(other.url, request(CALL, V)));
    await other.stop();
    await Promise.all(raws.map(raw => raw.closed));
  });
});
