import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { decodeErrorInfo, decodeStatus, GRPC_STATUS_DETAILS_BIN } from "@a2a-js/sdk/errors/grpc";
import { type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { createScriptedAgent, echo, mirror } from "../support/agents.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { createGrpcClient, type GrpcClient, refusedBy } from "../support/grpc.ts";
import type { Loose } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/README.md B-V13: gRPC in clear text at the HTTP port. */

const EXTENSION = "urn:example:ext";
const puppet = createScriptedAgent();
const polite: AgentDefinition = {
  ...echo,
  name: "polite",
  extensions: [{ uri: EXTENSION, description: "An extension", required: false }],
};
/** Sends an emoji in two halves, as tokens of a model may split it. */
const halver: AgentDefinition = {
  name: "halver",
  async *run(_task, ctx) {
    yield ctx.text("\ud83d");
    yield ctx.text("\ude00 \\ud83d");
  },
};

let server: TestServer;
let client: GrpcClient;
beforeAll(async () => {
  server = await serve([echo, polite, mirror, halver, puppet.definition], { bodyBytesMax: 4_096 });
  client = createGrpcClient(hostOf(server));
});
afterAll(async () => {
  client.close();
  await server.stop();
});

const hostOf = (one: TestServer): string => new URL(one.url).host;
const textIn = (task: Loose): string => task.artifacts[0].parts.map((part: Loose) => part.text).join("");
const detailsOf = (error: ServiceError) =>
  decodeStatus(error.metadata.get(GRPC_STATUS_DETAILS_BIN)[0] as Buffer);
const infoOf = (error: ServiceError) => decodeErrorInfo(detailsOf(error).details[0]?.value as Buffer);
const getTask = async (id: string): Promise<Loose> =>
  (await rpc(`${server.url}/agents/puppet`, "GetTask", { id })).body.result;

/** A stream of the scripted agent, and its task. */
async function play(more: object = {}, options = {}) {
  const stream = client.open(
    "SendStreamingMessage",
    { ...sendParams("go"), tenant: "puppet", ...more },
    {},
    options,
  );
  const { task } = await stream.first();
  return { stream, id: task.id as string };
}

describe("B-V13: gRPC at the HTTP port", () => {
  it("the protocol of a connection is recognized, however its first bytes are segmented", async () => {
    const { port } = new URL(server.url);
    const answer = async (pieces: readonly string[]): Promise<string> => {
      const socket: Socket = connect(Number(port), "127.0.0.1");
      let text = "";
      socket.on("data", bytes => (text += bytes));
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise(resolve => setTimeout(resolve, 5));
      }
      await until(() => text.includes("\r\n\r\n"));
      socket.destroy();
      return text.slice(0, 12);
    };
    expect(await answer([..."POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"])).toBe(
      "HTTP/1.1 200",
    );
    expect(await answer(["PR", "OPFIND / HTTP/1.1\r\nHost: localhost\r\n\r\n"])).toBe("HTTP/1.1 405");
    expect(await answer(["P", "RINT nonsense\r\n\r\n"])).toBe("HTTP/1.1 400");
  });

  it("HTTP/2 without gRPC is refused with a short response", async () => {
    const session = connectHttp2(server.url);
    for (const [headers, expected] of [
      [{ ":path": "/agents" }, 415],
      [{ ":path": "/agents", ":method": "POST", "content-type": "application/grpc" }, 200],
    ] as const) {
      const request = session.request(headers);
      const [response] = await once(request, "response");
      expect(response[":status"]).toBe(expected);
      if (expected === 200) expect(response["grpc-status"]).toBe(String(status.UNIMPLEMENTED));
      request.close();
    }
    session.close();
  });

  it("a client that disconnects before it has sent anything is forgotten", async () => {
    const { port } = new URL(server.url);
    for (const words of ["", "PRI", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense"]) {
      const socket = connect(Number(port), "127.0.0.1");
      await new Promise<void>(resolve => socket.end(words, () => resolve()));
      await new Promise(resolve => socket.on("close", resolve).resume());
    }
    expect((await client.ask("SendMessage", sendParams("still here"))).json.task).toBeDefined();
  });

  it("the default agent needs no name; metadata or a tenant of its name selects another", async () => {
    const names = ["echo", "polite", "mirror"];
    const agentOf = async (json: { tenant?: string }, metadata = {}): Promise<string> => {
      const { id } = (await client.ask("SendMessage", { ...sendParams("who"), ...json }, metadata)).json.task;
      const asked = names.includes(json.tenant ?? "") ? { id } : { id, ...json };
      for (const name of names)
        if ((await rpc(`${server.url}/agents/${name}`, "GetTask", asked)).body.result) return name;
      return "nobody";
    };
    expect(await agentOf({})).toBe("echo");
    expect(await agentOf({ tenant: "polite" })).toBe("polite");
    expect(await agentOf({ tenant: "somebody-else" })).toBe("echo");
    expect(await agentOf({}, { "a2a-agent": "mirror" })).toBe("mirror");
    expect(await agentOf({ tenant: "polite" }, { "a2a-agent": "mirror" })).toBe("mirror");
    const error = await refusedBy(client.ask("SendMessage", sendParams("who"), { "a2a-agent": "nobody" }));
    expect([error.code, infoOf(error).reason]).toEqual([status.NOT_FOUND, "AGENT_NOT_FOUND"]);
  });

  it("metadata has the version and the extensions, and those of the response name the ones used", async () => {
    const { headers } = await client.ask("SendMessage", sendParams("hi"));
    expect(headers.get("a2a-version")).toEqual(["1.0"]);
    const wanted = { "a2a-version": "1.0", "a2a-extensions": `${EXTENSION}, urn:nobody` };
    const asked = await client.ask("SendMessage", { ...sendParams("hi"), tenant: "polite" }, wanted);
    expect(asked.headers.get("a2a-extensions")).toEqual([EXTENSION]);
    const error = await refusedBy(client.ask("SendMessage", sendParams("hi"), { "a2a-version": "7.0" }));
    expect(error.code).toBe(status.FAILED_PRECONDITION);
    expect(infoOf(error)).toMatchObject({ reason: "VERSION_NOT_SUPPORTED", domain: "a2a-protocol.org" });
  });

  it("a repeated Idempotency-Key is the same call", async () => {
    const send = async (key: string): Promise<string> =>
      (
        await client.ask("SendMessage", sendParams("once", { messageId: "m-once" }), {
          "idempotency-key": key,
        })
      ).json.task.id;
    const first = await send("k1");
    expect(await send("k1")).toBe(first);
    expect(await send("k2")).not.toBe(first);
  });

  it("an error has its status, and machine-readable details", async () => {
    const error = await refusedBy(client.ask("SendMessage", { message: { messageId: "m", parts: [] } }));
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(error.details).toBe('message.role must be "ROLE_USER" or "ROLE_AGENT"');
    expect(error.metadata.get("a2a-version")).toEqual(["1.0"]);
    const { code, message, details } = detailsOf(error);
    expect([code, message]).toEqual([error.code, error.details]);
    expect(details.map(one => one.typeUrl)).toEqual([
      "type.googleapis.com/google.rpc.ErrorInfo",
      "type.googleapis.com/google.rpc.BadRequest",
    ]);
    expect(infoOf(error)).toMatchObject({ reason: "INVALID_PARAMS", domain: "dragoman" });
    expect(String(details[1]?.value)).toContain("message.role");
  });

  it("bytes that are no message, and messages that are too large, are refused", async () => {
    const path = "/lf.a2a.v1.A2AService/SendMessage";
    const nonsense = await refusedBy(client.unary(path, Buffer.from([0x12, 0x7f, 0x01])));
    expect([nonsense.code, infoOf(nonsense).reason]).toEqual([status.INVALID_ARGUMENT, "PARSE"]);
    const large = await refusedBy(client.ask("SendMessage", sendParams("x".repeat(5_000))));
    expect(large.code).toBe(status.RESOURCE_EXHAUSTED);
    const unknown = await refusedBy(client.unary("/lf.a2a.v1.A2AService/Nothing", Buffer.alloc(0)));
    expect(unknown.code).toBe(status.UNIMPLEMENTED);
  });

  it("every kind of part is returned unchanged, and JSON keeps its depth", async () => {
    let deep: Loose = 1;
    for (let i = 0; i < 60; i++) deep = i % 2 ? [deep] : { a: deep };
    const parts = [
      { text: "" },
      { data: { list: [1.5, null, { $case: "text" }] } },
      { data: deep },
      { raw: "AAEC", filename: "three.bin", mediaType: "application/octet-stream" },
      { url: "https://example.org/x", metadata: { tall: true } },
    ];
    const { task } = (await client.ask("SendMessage", { ...sendParams("", { parts }), tenant: "mirror" }))
      .json;
    expect(task.artifacts[0].parts).toEqual(parts);
    const { body } = await rpc(`${server.url}/agents/mirror`, "GetTask", { id: task.id });
    expect(body.result.artifacts[0].parts).toEqual(parts);
  });

  it("a file of 5 MB needs a larger client, or no history (docs/guide/grpc-and-tls.md, large files)", async () => {
    const large = await serve([{ ...echo, inputModes: ["*/*"] }]);
    const caller = createGrpcClient(hostOf(large));
    const raw = Buffer.alloc(5_000_000, 1).toString("base64");
    const message = {
      messageId: "m",
      role: "ROLE_USER",
      parts: [{ text: "hi" }, { raw, mediaType: "image/png" }],
    };
    const error = await refusedBy(caller.ask("SendMessage", { message }));
    expect(error.code).toBe(status.RESOURCE_EXHAUSTED);
    const { json } = await caller.ask("SendMessage", { message, configuration: { historyLength: 0 } });
    expect(textIn(json.task)).toBe("hi");
    const read = await caller.ask("GetTask", { id: json.task.id, historyLength: 0 });
    expect(read.json.status.state).toBe("TASK_STATE_COMPLETED");
    caller.close();
    await large.stop();
  });

  it("a null is a value: the wire keeps it, although the official client drops it", async () => {
    const sent = sendParams("", { parts: [{ data: null }] });
    const { task } = (await rpc(`${server.url}/agents/mirror`, "SendMessage", sent)).body.result;
    const name = Buffer.from(task.id);
    const request = Buffer.concat([Buffer.from([0x12, name.length]), name]);
    const path = "/lf.a2a.v1.A2AService/GetTask";
    const { bytes } = await client.unary(path, request, { "a2a-agent": "mirror" });
    // Field 4 of a part, with a value whose field 1 is null.
    expect(bytes.includes(Buffer.from([0x22, 2, 0x08, 0]))).toBe(true);
  });

  it("text that is cut within a character does not break a stream", async () => {
    const stream = client.open("SendStreamingMessage", { ...sendParams("go"), tenant: "halver" });
    const texts = (await stream.all()).flatMap(one => one.artifactUpdate?.artifact.parts[0].text ?? []);
    expect(texts).toEqual(["\ufffd", "\ufffd \\ud83d"]);
  });
});

describe("B-V13: streams of gRPC", () => {
  it("a caller that disconnects, or whose deadline passes, loses the stream and nothing else", async () => {
    const left = await play();
    left.stream.call.cancel();
    expect((await left.stream.ended()).error?.code).toBe(status.CANCELLED);
    // On a busy machine, where the deadline passes before the stream has begun, the timeout grows.
    const playFor = (ms: number): Promise<Awaited<ReturnType<typeof play>>> =>
      play({}, { deadline: new Date(Date.now() + ms) }).catch(() => playFor(2 * ms));
    const late = await playFor(300);
    expect((await late.stream.ended()).error?.code).toBe(status.DEADLINE_EXCEEDED);
    for (const { id } of [left, late]) {
      await until(async () => (await getTask(id)).status.state === "TASK_STATE_WORKING");
      puppet.send(id, ctx => ctx.text("went on"));
      puppet.end(id);
      await until(async () => (await getTask(id)).status.state === "TASK_STATE_COMPLETED");
      expect(textIn(await getTask(id))).toBe("went on");
    }
  });

  it("a stream can be resumed after the last event that was seen", async () => {
    const { stream, id } = await play();
    puppet.send(id, ctx => ctx.text("one "));
    puppet.send(id, ctx => ctx.text("two"));
    puppet.send(id, ctx => ctx.ask("More?"));
    const seen = await stream.all();
    const { trailers } = await stream.ended();
    const last = Number(trailers.get("last-event-id")[0]);
    expect(last).toBeGreaterThan(seen.length);
    const again = client.open(
      "SubscribeToTask",
      { id, tenant: "puppet" },
      { "last-event-id": String(last - 2) },
    );
    expect((await again.first()).artifactUpdate.artifact.parts).toEqual([{ text: "two" }]);
    again.call.cancel();
  });

  it("count towards the limit of open streams", async () => {
    const small = await serve([puppet.definition], { streamsMax: 1 });
    const other = createGrpcClient(hostOf(small));
    const first = other.open("SendStreamingMessage", sendParams("go"));
    await first.first();
    const second = other.open("SendStreamingMessage", sendParams("go"));
    const { error } = await second.ended();
    expect([error?.code, error?.details]).toEqual([
      status.UNAVAILABLE,
      "Too many streams are open on this server; retry later",
    ]);
    const watch = other.client.makeServerStreamRequest(
      "/grpc.health.v1.Health/Watch",
      asIs,
      asIs,
      Buffer.alloc(0),
    );
    const code = await new Promise(resolve =>
      watch.on("error", error => resolve((error as ServiceError).code)),
    );
    expect(code).toBe(status.UNAVAILABLE);
    other.close();
    await small.stop();
  });

  it("a reader that does not read blocks no other, and gets everything when it reads", async () => {
    const big = "x".repeat(100_000);
    const { stream, id } = await play();
    for (let i = 0; i < 200; i++)
      puppet.send(id, ctx => ctx.artifact({ artifactId: "a", parts: `${i}:${big}` }));
    puppet.end(id);
    await until(async () => (await getTask(id)).status.state === "TASK_STATE_COMPLETED");
    const numbers = (await stream.all()).flatMap(one =>
      one.artifactUpdate ? [Number.parseInt(one.artifactUpdate.artifact.parts[0].text, 10)] : [],
    );
    expect(numbers).toEqual([...Array(200).keys()]);
  });

  it("end after a whole event when the server stops, with a status that is not the end of the task", async () => {
    const stopping = await serve([puppet.definition]);
    const other = createGrpcClient(hostOf(stopping));
    const stream = other.open("SendStreamingMessage", sendParams("go"));
    const { task } = await stream.first();
    puppet.send(task.id, ctx => ctx.text("a word"));
    await stream.first();
    const [{ error, trailers }] = await Promise.all([stream.ended(), stopping.stop()]);
    expect(error?.code).toBe(status.UNAVAILABLE);
    expect(error?.details).toBe("The server stops; subscribe to the task to continue");
    expect(Number(trailers.get("last-event-id")[0])).toBeGreaterThan(1);
    other.close();
  });
});

const asIs = (bytes: Buffer): Buffer => bytes;
/** HealthCheckResponse: one enum. */
const SERVING = Buffer.from([0x08, 1]);
const NOT_SERVING = Buffer.from([0x08, 2]);
const SERVICE_UNKNOWN = Buffer.from([0x08, 3]);
/** HealthCheckRequest: one name. */
const about = (name: string): Buffer => Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name)]);

describe("B-V13: health", () => {
  const CHECK = "/grpc.health.v1.Health/Check";
  const WATCH = "/grpc.health.v1.Health/Watch";

  it("the server and both packages are served; nothing else is", async () => {
    for (const request of [Buffer.alloc(0), about("lf.a2a.v1.A2AService"), about("a2a.v1.A2AService")])
      expect((await client.unary(CHECK, request)).bytes).toEqual(SERVING);
    expect((await refusedBy(client.unary(CHECK, about("nothing")))).code).toBe(status.NOT_FOUND);
  });

  it("watchers are notified before a server stops", async () => {
    const gate = createScriptedAgent();
    const stopping = await serve([gate.definition], { drainMs: 60_000 });
    const other = createGrpcClient(hostOf(stopping));
    const received: Buffer[] = [];
    const unknown: Buffer[] = [];
    const watch = (name: string, into: Buffer[]) =>
      other.client
        .makeServerStreamRequest(WATCH, asIs, asIs, name === "" ? Buffer.alloc(0) : about(name))
        .on("data", bytes => into.push(bytes))
        .on("error", () => {});
    watch("", received);
    watch("nothing", unknown);
    await until(() => received.length + unknown.length === 2);
    const { task } = (
      await other.ask("SendMessage", { ...sendParams("go"), configuration: { returnImmediately: true } })
    ).json;
    await until(() => stopping.running === 1);
    const stopped = stopping.stop();
    await until(() => received.length === 2);
    expect((await other.unary(CHECK, Buffer.alloc(0))).bytes).toEqual(NOT_SERVING);
    const late = await refusedBy(other.ask("SendMessage", sendParams("more")));
    expect(late.code).toBe(status.UNAVAILABLE);
    gate.end(task.id);
    await stopped;
    expect([received, unknown]).toEqual([[SERVING, NOT_SERVING], [SERVICE_UNKNOWN]]);
    other.close();
  });
});
