import { decodeErrorInfo, decodeStatus, GRPC_STATUS_DETAILS_BIN } from "@a2a-js/sdk/errors/grpc";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { V11_SCHEMA } from "../../src/protocol/a2a-v11/schema.ts";
import { createCodecs } from "../../src/protocol/protobuf/codec.ts";
import { asker, createScriptedAgent, echo } from "../support/agents.ts";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { createGrpcClient, type GrpcClient, refusedBy } from "../support/grpc.ts";
import type { Loose } from "../support/official-dialects.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** docs/dialects/v11.md: generations, long polling and optimistic sends. */

const puppet = createScriptedAgent();
const listener = createScriptedAgent({ name: "listener", acceptsWhileWorking: true });
const folder = tempFolder();
let server: TestServer;
let hook: Receiver;
let grpc: GrpcClient;
const start = (): Promise<TestServer> =>
  serve([echo, asker, puppet.definition, listener.definition], { v11: "on", data: folder.path });
beforeAll(async () => {
  server = await start();
  hook = await openReceiver();
  grpc = createGrpcClient(new URL(server.url).host);
});
afterAll(async () => {
  grpc.close();
  await server.stop();
  await hook.close();
  folder.remove();
});

const VERSION = { "a2a-version": "1.1" };
const call = async (agent: string, method: string, params: object): Promise<Loose> =>
  (await rpc(`${server.url}/agents/${agent}`, method, params, VERSION)).body;
const begin = async (agent: string): Promise<string> => {
  const configuration = { returnImmediately: true };
  const { result } = await call(agent, "SendMessage", { ...sendParams("go"), configuration });
  const { id } = result.task;
  await until(
    async () => (await call(agent, "GetTask", { id })).result.status.state === "TASK_STATE_WORKING",
  );
  return id;
};
const answer = (taskId: string, text: string, ifGenerationMatch: string, more = {}): object => ({
  ...sendParams(text, { taskId }),
  configuration: { ifGenerationMatch, ...more },
});

describe("long polling", () => {
  /** The same call over each binding. */
  const WAYS: Readonly<Record<string, (id: string, generation: string) => Promise<Loose>>> = {
    "JSON-RPC": async (id, currentGeneration) =>
      (await call("puppet", "GetTask", { id, currentGeneration })).result,
    "HTTP+JSON": async (id, generation) => {
      const url = `${server.url}/agents/puppet/tasks/${id}?currentGeneration=${generation}`;
      return (await fetch(url, { headers: VERSION })).json();
    },
    gRPC: async (id, currentGeneration) => {
      const codecs = createCodecs(V11_SCHEMA);
      const request = codecs("GetTaskRequest").encode({ id, currentGeneration });
      const { bytes } = await grpc.unary("/lf.a2a.v1.A2AService/GetTask", request, {
        ...VERSION,
        "a2a-agent": "puppet",
      });
      return codecs("Task").decode(bytes);
    },
    "the extension of 1.0": async (id, generation) => {
      const headers = {
        "a2a-extensions": "urn:dragoman:long-poll:v1",
        "dragoman-current-generation": generation,
      };
      const { body } = await rpc(`${server.url}/agents/puppet`, "GetTask", { id }, headers);
      const { metadata, ...task } = body.result;
      return { ...task, generation: String(metadata["urn:dragoman:long-poll:v1"].generation) };
    },
  };

  it.each(Object.keys(WAYS))("over %s holds a get until the next update", async way => {
    const get = WAYS[way] as (typeof WAYS)[string];
    const id = await begin("puppet");
    expect((await get(id, "1")).generation).toBe("2");
    const held = get(id, "2");
    // A whole call later the get is still held.
    await get(id, "1");
    expect(await Promise.race([held, "held"])).toBe("held");
    puppet.send(id, ctx => ctx.text("some"));
    const next = await held;
    expect(next.generation).toBe("3");
    expect(next.artifacts[0].parts[0].text).toBe("some");
    const last = get(id, "3");
    puppet.end(id);
    expect((await last).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("a caller that goes away ends the wait, and the task goes on", async () => {
    const id = await begin("puppet");
    const abort = new AbortController();
    const url = `${server.url}/agents/puppet/tasks/${id}?currentGeneration=2`;
    const held = fetch(url, { headers: VERSION, signal: abort.signal });
    abort.abort();
    await expect(held).rejects.toThrow();
    puppet.end(id);
    await until(
      async () => (await call("puppet", "GetTask", { id })).result.status.state === "TASK_STATE_COMPLETED",
    );
  });
});

describe("an optimistic send", () => {
  it("of two callers that answer the same question one wins, and the other learns the generation", async () => {
    const { task } = (await call("asker", "SendMessage", sendParams("hi"))).result;
    const { id, generation } = task;
    const replies = await Promise.all(
      ["one", "two"].map(text => call("asker", "SendMessage", answer(id, text, generation))),
    );
    const won = replies.filter(reply => reply.result);
    const lost = replies.filter(reply => reply.error);
    expect([won.length, lost.length]).toEqual([1, 1]);
    expect(lost[0].error.code).toBe(-32010);
    const { expectedGeneration, currentGeneration } = lost[0].error.data[0].metadata;
    expect(expectedGeneration).toBe(generation);
    expect(Number(currentGeneration)).toBeGreaterThan(Number(generation));
  });

  it("over gRPC is refused with ABORTED", async () => {
    const { task } = (await call("asker", "SendMessage", sendParams("hi"))).result;
    const request = createCodecs(V11_SCHEMA)("SendMessageRequest").encode(answer(task.id, "x", "1") as Loose);
    const error = await refusedBy(
      grpc.unary("/lf.a2a.v1.A2AService/SendMessage", request, { ...VERSION, "a2a-agent": "asker" }),
    );
    expect(error.code).toBe(status.ABORTED);
    const { details } = decodeStatus(error.metadata.get(GRPC_STATUS_DETAILS_BIN)[0] as Buffer);
    const info = decodeErrorInfo(details[0]?.value as Buffer);
    expect(info.reason).toBe("TASK_GENERATION_MISMATCH");
  });

  it("to a task that is being worked on is refused as well, and otherwise reaches the run", async () => {
    const id = await begin("listener");
    expect((await call("listener", "SendMessage", answer(id, "late", "1"))).error.code).toBe(-32010);
    const inTime = answer(id, "in time", "2", { returnImmediately: true });
    const { task } = (await call("listener", "SendMessage", inTime)).result;
    listener.end(id);
    expect(task.history.map((message: Loose) => message.parts[0].text)).toEqual(["go", "in time"]);
  });
});

describe("generations", () => {
  it("have the field numbers of the draft in protobuf", () => {
    const codecs = createCodecs(V11_SCHEMA);
    const hex = (message: string, value: object): string =>
      Buffer.from(codecs(message).encode(value as Loose)).toString("hex");
    expect(hex("GetTaskRequest", { id: "x", currentGeneration: "5" })).toBe("1201782005");
    expect(hex("SendMessageConfiguration", { ifGenerationMatch: "300" })).toBe("28ac02");
    expect(hex("Task", { generation: "7" })).toMatch(/3807$/);
    expect(hex("TaskStatusUpdateEvent", { generation: "7" })).toMatch(/2807$/);
    expect(hex("TaskArtifactUpdateEvent", { generation: "7" })).toMatch(/3807$/);
  });

  it("webhooks get them, in order and without gaps", async () => {
    const configuration = { taskPushNotificationConfig: { url: `${hook.url}/generations` } };
    await call("echo", "SendMessage", { ...sendParams("hi"), configuration });
    const bodies = (): Loose[] => hook.all.map(({ body }: Loose) => body);
    await until(() => bodies().some(body => body.statusUpdate?.status.state === "TASK_STATE_COMPLETED"));
    const generations = bodies().map(body => Object.values<Loose>(body)[0].generation);
    expect(generations).toEqual(["1", "2", "3", "4"]);
  });

  it("a stream of many chunks has each, also after a restart of the server", async () => {
    const id = await begin("puppet");
    for (let i = 0; i < 20; i++) puppet.send(id, ctx => ctx.text(`${i} `));
    puppet.end(id);
    await until(
      async () => (await call("puppet", "GetTask", { id })).result.status.state === "TASK_STATE_COMPLETED",
    );
    const read = async (): Promise<number[]> => {
      const headers = { ...VERSION, "last-event-id": "2" };
      const stream = await openStream(`${server.url}/agents/puppet`, "SubscribeToTask", { id }, headers);
      return (await stream.all()).map(({ data }) => {
        const { statusUpdate, artifactUpdate } = data.result;
        return Number((statusUpdate ?? artifactUpdate).generation);
      });
    };
    const before = await read();
    expect(before).toEqual(before.map((_, i) => i + 2));
    const { generation } = (await call("puppet", "GetTask", { id })).result;
    expect(before.at(-1)).toBe(Number(generation));
    await server.stop();
    server = await start();
    expect((await call("puppet", "GetTask", { id })).result.generation).toBe(generation);
    expect(await read()).toEqual(before);
  });
});
