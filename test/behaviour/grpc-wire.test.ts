import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { connect as connectSocket } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import { SendMessageRequest } from "@a2a-js/sdk";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * docs/dialects/README.md B-V13: gRPC on the wire, written by hand where a client library would not send it.
 */

const BYTES_MAX = 4_096;
const PATH = A2AService.sendMessage.path;
const puppet = createScriptedAgent();

let server: TestServer;
let session: ClientHttp2Session;
beforeAll(async () => {
  server = await serve([echo, puppet.definition], { bodyBytesMax: BYTES_MAX });
  session = connect(server.url);
});
afterAll(async () => {
  session.close();
  await server.stop();
});

const toRequest = (text: string): Buffer =>
  A2AService.sendMessage.requestSerialize(SendMessageRequest.fromJSON(sendParams(text)));

function toFrame(message: Uint8Array, flag = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

interface WireReply {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

const open = (headers: Readonly<Record<string, string>> = {}, over = session): ClientHttp2Stream =>
  over.request({
    ":method": "POST",
    ":path": PATH,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });

/** All bytes that the server sends, to the end of the connection. */
async function readReply(call: ClientHttp2Stream): Promise<WireReply> {
  const pieces: Buffer[] = [];
  let headers: Record<string, unknown> = {};
  const take = (more: object): void => void (headers = { ...headers, ...more });
  call.on("response", take).on("trailers", take);
  call.on("data", piece => pieces.push(piece as Buffer));
  call.on("error", () => {});
  await once(call, "end");
  return {
    status: Number(headers[":status"]),
    code: Number(headers["grpc-status"]),
    message: decodeURIComponent(String(headers["grpc-message"] ?? "")),
    headers,
    text: Buffer.concat(pieces).toString(),
  };
}

function ask(bytes: Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<WireReply> {
  const call = open(headers);
  const reply = readReply(call);
  call.end(bytes);
  return reply;
}

describe("B-V13: messages of gRPC", () => {
  it("arrive in any segmentation", async () => {
    const call = open();
    const reply = readReply(call);
    for (const byte of toFrame(toRequest("in pieces"))) {
      call.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    call.end();
    const { code, text } = await reply;
    expect([code, text.includes("in pieces")]).toEqual([status.OK, true]);
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
  ] as const)("may be compressed with %s", async (encoding, pack) => {
    const { code, text } = await ask(toFrame(pack(toRequest("squeezed")), 1), { "grpc-encoding": encoding });
    expect([code, text.includes("squeezed")]).toEqual([status.OK, true]);
    // A compressing client may send uncompressed messages.
    const plain = await ask(toFrame(toRequest("as it is")), { "grpc-encoding": encoding });
    expect(plain.code).toBe(status.OK);
  });

  it("in an unknown compression, or without the declared one, are refused, and the response names the known ones", async () => {
    const { code, message, headers } = await ask(toFrame(toRequest("x"), 1), { "grpc-encoding": "snappy" });
    expect(code).toBe(status.UNIMPLEMENTED);
    expect(message).toBe("Unsupported compression (snappy)");
    expect(headers["grpc-accept-encoding"]).toBe("identity,gzip,deflate");
    const untrue = await ask(toFrame(toRequest("x"), 1), { "grpc-encoding": "gzip" });
    expect([untrue.code, untrue.message]).toEqual([status.INVALID_ARGUMENT, "The message is not valid gzip"]);
    for (const strange of [{}, { "grpc-encoding": "constructor" }])
      expect((await ask(toFrame(toRequest("x"), 1), strange)).code).toBe(status.UNIMPLEMENTED);
  });

  it("are refused above the size limit, before and after decompression", async () => {
    const expected = [status.RESOURCE_EXHAUSTED, `The message is larger than ${BYTES_MAX} bytes`];
    const bomb = gzipSync(Buffer.alloc(1024 * 1024));
    expect(bomb.length).toBeLessThan(BYTES_MAX);
    const packed = await ask(toFrame(bomb, 1), { "grpc-encoding": "gzip" });
    expect([packed.code, packed.message]).toEqual(expected);
    // The length prefix is enough: the server does not wait for the rest.
    const call = open();
    const reply = readReply(call);
    call.write(toFrame(Buffer.alloc(BYTES_MAX + 1)).subarray(0, 5));
    const { code, message } = await reply;
    expect([code, message]).toEqual(expected);
    await once(call, "close");
    expect((await ask(toFrame(toRequest("still here")))).code).toBe(status.OK);
  });

  it("are one per call, and complete", async () => {
    const one = toFrame(toRequest("one"));
    for (const [bytes, code, message] of [
      [Buffer.alloc(0), status.UNIMPLEMENTED, "The call has no message"],
      [Buffer.concat([one, one]), status.UNIMPLEMENTED, "The call has more than one message"],
      [one.subarray(0, 3), status.INVALID_ARGUMENT, "The message is incomplete"],
      [one.subarray(0, 20), status.INVALID_ARGUMENT, "The message is incomplete"],
    ] as const) {
      const reply = await ask(bytes);
      expect([reply.code, reply.message]).toEqual([code, message]);
    }
  });
});

describe("B-V13: messages of gRPC that do not arrive", () => {
  it("time out like request bodies", async () => {
    const hasty = await serve([echo], { bodyReadMs: 100 } as object);
    const other = connect(hasty.url);
    const call = open({}, other);
    call.write(toFrame(toRequest("hi")).subarray(0, 7));
    const { code, message } = await readReply(call);
    expect([code, message]).toEqual([status.DEADLINE_EXCEEDED, "The message took too long"]);
    await once(call, "close");
    other.close();
    await hasty.stop();
  });
});

describe("B-V13: calls of gRPC", () => {
  it("are recognized by their content type", async () => {
    const bytes = toFrame(toRequest("hi"));
    for (const [type, expected] of [
      ["application/grpc+proto", 200],
      ["application/grpc; charset=utf-8", 200],
      ["application/grpc+json", 415],
      ["application/grpc-web", 415],
      ["application/json", 415],
    ] as const) {
      const { status, code } = await ask(bytes, { "content-type": type });
      expect([type, status]).toEqual([type, expected]);
      if (expected === 200) expect(code).toBe(0);
    }
  });

  it("get the reason even if the requested name is longer than a response header may be", async () => {
    const { code, message } = await ask(toFrame(toRequest("hi")), { ":path": `/${"%".repeat(14_000)}` });
    expect(code).toBe(status.UNIMPLEMENTED);
    expect(message).toContain("the services of this server are lf.a2a.v1.A2AService, ");
    const name = Buffer.concat([Buffer.from([0x0a, 0xf4, 0x03]), Buffer.alloc(500, "x")]);
    const health = await ask(toFrame(name), { ":path": "/grpc.health.v1.Health/Check" });
    expect(health.code).toBe(status.RESOURCE_EXHAUSTED);
  });

  it("are refused with a reason in any character set", async () => {
    const health = Buffer.from("Grüße 100 % 世界");
    const bytes = toFrame(Buffer.concat([Buffer.from([0x0a, health.length]), health]));
    const { code, message, headers } = await ask(bytes, { ":path": "/grpc.health.v1.Health/Check" });
    expect([code, message]).toEqual([status.NOT_FOUND, `Unknown service "${health}"`]);
    expect(headers["grpc-message"]).toMatch(/^[\x20-\x7e]+$/);
  });

  it("end at their deadline, on either side; tasks continue", async () => {
    const tasks = async () => (await rpc(`${server.url}/agents/puppet`, "ListTasks", {})).body.result.tasks;
    const known = (await tasks()).length;
    // On a busy machine, where the deadline passes before there is a task, the timeout grows.
    for (let ms = 300; (await tasks()).length === known; ms *= 2) {
      const before = Date.now();
      const { code, message } = await ask(toFrame(toRequest("go")), {
        "a2a-agent": "puppet",
        "grpc-timeout": `${ms}m`,
      });
      expect([code, message]).toEqual([status.DEADLINE_EXCEEDED, "The deadline of the call has passed"]);
      expect(Date.now() - before).toBeGreaterThan(ms - 50);
    }
    const { id } = (await tasks())[0];
    puppet.send(id, ctx => ctx.text("went on"));
    puppet.end(id);
    const isOver = async (): Promise<boolean> =>
      (await rpc(`${server.url}/agents/puppet`, "GetTask", { id })).body.result.status.state ===
      "TASK_STATE_COMPLETED";
    await until(isOver);
  });

  it("have a timeout in any unit, and none if the value is invalid", async () => {
    for (const timeout of ["1H", "2M", "99999999H", "30S", "20000m", "99999999u", "soon", "-1S", "1"]) {
      const { code } = await ask(toFrame(toRequest("hi")), { "grpc-timeout": timeout });
      expect([timeout, code]).toEqual([timeout, status.OK]);
    }
    // A tenth of a second is the maximum in nanoseconds: a busy machine may need longer.
    const { code } = await ask(toFrame(toRequest("hi")), { "grpc-timeout": "99999999n" });
    expect([status.OK, status.DEADLINE_EXCEEDED]).toContain(code);
  });

  it("can be many at once on one connection, and each gets its own response", async () => {
    const texts = Array.from({ length: 300 }, (_, i) => `word ${i}.`);
    const reply = await Promise.all(texts.map(word => ask(toFrame(toRequest(word)))));
    for (const [i, word] of texts.entries()) expect(reply[i]?.text).toContain(word);
  });

  it("can be canceled at any moment without affecting others", async () => {
    for (let i = 0; i < 60; i++) {
      const call = open({ "a2a-agent": i % 3 === 0 ? "puppet" : "echo" });
      call.on("error", () => {});
      if (i % 2) call.write(toFrame(toRequest("never mind")).subarray(0, i));
      else call.end(toFrame(toRequest("never mind")));
      setTimeout(() => call.close(constants.NGHTTP2_CANCEL), i % 7);
    }
    expect((await ask(toFrame(toRequest("still here")))).code).toBe(status.OK);
  });
});

describe("B-V13: canceled streams of gRPC", () => {
  it("free their slot, whenever they are canceled", async () => {
    const small = await serve([puppet.definition], { streamsMax: 1 });
    const other = connect(small.url);
    const stream = A2AService.sendStreamingMessage.path;
    const watch = "/grpc.health.v1.Health/Watch";
    for (let i = 0; i < 40; i++) {
      const call = open({ ":path": i % 2 ? stream : watch }, other);
      call.on("error", () => {});
      call.end(toFrame(i % 2 ? toRequest("go") : Buffer.alloc(0)));
      const closed = once(call, "close");
      setTimeout(() => call.close(constants.NGHTTP2_CANCEL), i % 5);
      await closed;
    }
    const hasRoom = async (): Promise<boolean> => {
      const call = open({ ":path": watch }, other);
      call.on("error", () => {});
      call.end(toFrame(Buffer.alloc(0)));
      const [{ "grpc-status": refused }] = await once(call, "response");
      call.close();
      return refused === undefined;
    };
    await until(hasRoom);
    // Of calls that come at once only one fits.
    const calls = Array.from({ length: 20 }, () => open({ ":path": watch }, other));
    const answers = calls.map(call =>
      once(
        call.on("error", () => {}),
        "response",
      ),
    );
    for (const call of calls) call.end(toFrame(Buffer.alloc(0)));
    const refused = (await Promise.all(answers)).filter(([head]) => head["grpc-status"] !== undefined);
    expect(refused).toHaveLength(19);
    other.close();
    await small.stop();
  });
});

describe("B-V13: a client of gRPC that does not read", () => {
  it("is disconnected after some heartbeats, and its task continues", async () => {
    const gate = createScriptedAgent();
    const pulse = await serve([gate.definition], { heartbeatMs: 20, streamsMax: 1 });
    const other = connect(pulse.url);
    const call = open({ ":path": A2AService.sendStreamingMessage.path }, other);
    call.on("error", () => {});
    call.end(toFrame(toRequest("go")));
    const closed = once(call, "close");
    await once(call, "response");
    const { id } = (await rpc(pulse.url, "ListTasks", {})).body.result.tasks[0];
    for (let i = 0; i < 20; i++) gate.send(id, ctx => ctx.text("x".repeat(20_000)));
    gate.end(id);
    await closed;
    expect(call.rstCode).toBe(constants.NGHTTP2_CANCEL);
    const state = async (): Promise<string> =>
      (await rpc(pulse.url, "GetTask", { id })).body.result.status.state;
    await until(async () => (await state()) === "TASK_STATE_COMPLETED");
    other.close();
    await pulse.stop();
  });
});

describe("B-V13: a caller without permission", () => {
  it("is refused before it has sent its message", async () => {
    const locked = await serve([echo], {
      auth: ["api-key"],
      apiKeys: [{ principal: "a", tenants: ["t"], grants: [], agents: undefined, hash: "00" }],
    });
    const other = connect(locked.url);
    const call = open({}, other);
    const { code } = await readReply(call);
    expect(code).toBe(status.UNAUTHENTICATED);
    // A caller that goes on sending is disconnected.
    await once(call, "close");
    other.close();
    await locked.stop();
  });
});

describe("B-V13: connections of gRPC", () => {
  it("stay open as long as the peer responds, and no longer", async () => {
    // Long enough for a peer to respond, also on a busy machine.
    const pulse = await serve([echo], { heartbeatMs: 500 });
    const { port } = new URL(pulse.url);
    const alive = connect(pulse.url);
    expect((await readReply(open({}, alive).end(toFrame(toRequest("hi"))))).code).toBe(status.OK);
    // Sends the HTTP/2 preface, and then nothing.
    const silent = connectSocket(Number(port), "127.0.0.1").resume();
    silent.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1");
    await once(silent, "close");
    expect((await readReply(open({}, alive).end(toFrame(toRequest("hi"))))).code).toBe(status.OK);
    alive.close();
    await pulse.stop();
  });
});
