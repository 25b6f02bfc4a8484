import { LegacyGrpcTransport } from "@a2a-js/sdk/compat/v0_3/client/grpc";
import type { Message, Part, Task } from "a2a-v03";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "a2a-v03/client";
import { GrpcTransport, GrpcTransportFactory } from "a2a-v03/client/grpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Child, endChildren } from "../support/child.ts";
import { startExamples } from "../support/examples.ts";
import { asTask, endOf, firstTask, resultOf, sendParams, streamed, textOf } from "../support/sdk-v03.ts";
import { tempFolder } from "../support/server.ts";

const folder = tempFolder();
let server: Child;

beforeAll(async () => {
  server = await startExamples(folder.path);
});
afterAll(async () => {
  await endChildren();
  folder.remove();
});

/** With gRPC only; the card of the default agent has its address. */
function connect(): Promise<Client> {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new GrpcTransportFactory()],
    preferredTransports: ["GRPC"],
  });
  return new ClientFactory(options).createFromUrl(server.url);
}

/** v0.3 gRPC has no field for the agent: metadata names it. */
function withAgent(agent: string) {
  const transport = new GrpcTransport({ endpoint: new URL(server.url).host });
  const named = { serviceParameters: { "a2a-agent": agent } };
  return {
    send: (params: Parameters<GrpcTransport["sendMessage"]>[0]) => transport.sendMessage(params, named),
    stream: (params: Parameters<GrpcTransport["sendMessage"]>[0]) =>
      transport.sendMessageStream(params, named),
    get: (id: string, historyLength?: number) =>
      transport.getTask(historyLength === undefined ? { id } : { id, historyLength }, named),
    cancel: (id: string) => transport.cancelTask({ id }, named),
    resubscribe: (id: string) => transport.resubscribeTask({ id }, named),
  };
}

describe("the official client 0.3.14 over gRPC", () => {
  test("finds host and port in the card of the default agent, and sends", async () => {
    const client = await connect();
    const card = await client.getAgentCard();
    const grpc = { url: new URL(server.url).host, transport: "GRPC" };
    expect(card.additionalInterfaces).toContainEqual(grpc);
    const task = asTask(await client.sendMessage(sendParams("hello")));
    expect(task.status.state).toBe("completed");
    expect(resultOf(task)).toBe("You said: hello");
    expect(task.history).toMatchObject([{ role: "user", taskId: task.id, contextId: task.contextId }]);
  });

  test("the cards of other agents have no gRPC interface, which would lead to the default agent", async () => {
    const card = await fetch(`${server.url}/agents/countdown/.well-known/agent-card.json`, {
      headers: { "a2a-version": "0.3" },
    });
    const { additionalInterfaces } = (await card.json()) as { additionalInterfaces: { transport: string }[] };
    expect(additionalInterfaces.map(one => one.transport)).toEqual(["JSONRPC", "HTTP+JSON"]);
  });

  test("sends without blocking and polls the task to its end", async () => {
    const countdown = withAgent("countdown");
    let task = asTask(await countdown.send(sendParams("3", {}, { blocking: false })));
    expect(["submitted", "working"]).toContain(task.status.state);
    while (task.status.state !== "completed") {
      expect(task.status.state).not.toBe("failed");
      task = await countdown.get(task.id);
    }
    expect(resultOf(task)).toBe("3 … 2 … 1 … Lift-off!");
  });

  test("streams the task, its progress and its text in order, and the last event is final", async () => {
    const events = await Array.fromAsync(withAgent("countdown").stream(sendParams("3")));
    const kinds = events.map(event => event.kind);
    expect(kinds[0]).toBe("task");
    expect(kinds.slice(1)).not.toContain("task");
    expect(streamed(events)).toBe("3 … 2 … 1 … Lift-off!");
    const finals = events.flatMap(event => (event.kind === "status-update" ? [event.final] : []));
    expect(finals.filter(Boolean)).toHaveLength(1);
    expect(endOf(events)).toEqual(["completed", true]);
  });

  test("gets as much of the history as it requests; 0 is all of it", async () => {
    const booking = withAgent("booking");
    const { id, contextId } = asTask(await booking.send(sendParams("Book me a trip")));
    await booking.send(sendParams("Oslo", { taskId: id, contextId }));
    const all = ["Book me a trip", "Where would you like to go?", "Oslo"];
    for (const length of [undefined, 0])
      expect((await booking.get(id, length)).history?.map(message => textOf(message.parts))).toEqual(all);
    expect((await booking.get(id, 1)).history?.map(message => textOf(message.parts))).toEqual(["Oslo"]);
  });

  test("cancels a running task: the response, the stream and the stored task agree", async () => {
    const slow = withAgent("slow");
    const stream = slow.stream(sendParams("Work for 60 seconds"));
    const { id } = await firstTask(stream);
    expect((await slow.cancel(id)).status.state).toBe("canceled");
    expect(endOf(await Array.fromAsync(stream))).toEqual(["canceled", true]);
    expect((await slow.get(id)).status.state).toBe("canceled");
    await expect(slow.cancel(id)).rejects.toBeInstanceOf(TaskNotCancelableError);
  });

  test("resubscribes during a run: the task as it is, then the rest, nothing twice", async () => {
    const countdown = withAgent("countdown");
    const stream = countdown.stream(sendParams("5"));
    const { id } = await firstTask(stream);
    for await (const event of stream) if (event.kind === "artifact-update") break;
    const again = countdown.resubscribe(id);
    const snapshot = await firstTask(again);
    const rest = await Array.fromAsync(again);
    expect(resultOf(snapshot) + streamed(rest)).toBe("5 … 4 … 3 … 2 … 1 … Lift-off!");
    expect(endOf(rest)).toEqual(["completed", true]);
  });

  test("resubscribes to a task that has ended and gets it once", async () => {
    const client = await connect();
    const { id } = asTask(await client.sendMessage(sendParams("over")));
    const events = await Array.fromAsync(client.resubscribeTask({ id }));
    expect(events).toMatchObject([{ kind: "task", id, status: { state: "completed" } }]);
  });

  test("answers questions in two turns of one task, and gets the result", async () => {
    const booking = withAgent("booking");
    const first = asTask(await booking.send(sendParams("Book me a trip")));
    expect(first.status.state).toBe("input-required");
    expect(textOf(first.status.message?.parts)).toBe("Where would you like to go?");
    const { id, contextId } = first;
    const second = asTask(await booking.send(sendParams("Lisbon", { taskId: id, contextId })));
    expect([second.id, second.status.state]).toEqual([id, "input-required"]);
    expect(endOf(await Array.fromAsync(booking.stream(sendParams("Friday", { taskId: id }))))).toEqual([
      "completed",
      true,
    ]);
  });

  test("gets a bare message, from a send and from a stream", async () => {
    const greeter = withAgent("greeter");
    const answer = await greeter.send(sendParams("Ada", { contextId: "talk-1" }));
    expect(answer).toMatchObject({ kind: "message", role: "agent", contextId: "talk-1" });
    expect(textOf((answer as Message).parts)).toBe("Hello, Ada");
    const events = await Array.fromAsync(greeter.stream(sendParams("Bob")));
    expect(events.map(event => event.kind)).toEqual(["message"]);
  });

  test("gets text, data and a file as artifacts of their kinds", async () => {
    const events = await Array.fromAsync(withAgent("reporter").stream(sendParams("to be or not to be")));
    const parts = events.flatMap(event => (event.kind === "artifact-update" ? event.artifact.parts : []));
    const { id } = events[0] as Task;
    expect((await withAgent("reporter").get(id)).artifacts?.flatMap(one => one.parts)).toEqual(parts);
    expect(parts).toMatchObject([
      { kind: "text", text: "6 words, 4 different." },
      { kind: "data", data: { total: 6, words: { to: 2, be: 2, or: 1, not: 1 } } },
      { kind: "file", file: { mimeType: "text/csv" } },
    ]);
    const { bytes } = (parts[2] as { file: { bytes: string } }).file;
    expect(Buffer.from(bytes, "base64").toString()).toBe("word,count\nto,2\nbe,2\nor,1\nnot,1\n");
  });
});

describe("the official client 0.3.14 over gRPC gets an error of its own type", () => {
  const unknownTask = "01890000-0000-7000-8000-000000000000";

  test("for an unknown task: get, cancel, resubscribe, send", async () => {
    const client = await connect();
    await expect(client.getTask({ id: unknownTask })).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(client.cancelTask({ id: unknownTask })).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(client.resubscribeTask({ id: unknownTask }).next()).rejects.toBeInstanceOf(
      TaskNotFoundError,
    );
    const lost = client.sendMessage(sendParams("anyone?", { taskId: unknownTask }));
    await expect(lost).rejects.toBeInstanceOf(TaskNotFoundError);
  });

  test("also in the 0.3 mode of the official client 1.3.0", async () => {
    const client = new LegacyGrpcTransport({ endpoint: new URL(server.url).host });
    const lost = client.getTask({ id: unknownTask, tenant: "", historyLength: undefined });
    await expect(lost).rejects.toMatchObject({ reason: "TASK_NOT_FOUND" });
  });

  test("for an ended task, for a stream of an agent that does not stream", async () => {
    const client = await connect();
    const { id } = asTask(await client.sendMessage(sendParams("over")));
    await expect(client.cancelTask({ id })).rejects.toBeInstanceOf(TaskNotCancelableError);
    const again = withAgent("mute").resubscribe(unknownTask).next();
    await expect(again).rejects.toBeInstanceOf(UnsupportedOperationError);
    const extended = client.transport.getExtendedAgentCard();
    await expect(extended).rejects.toBeInstanceOf(UnsupportedOperationError);
  });

  test("or a plain one with status and reason: a wrong part, an unknown agent", async () => {
    const client = await connect();
    const file: Part = { kind: "file", file: { bytes: "AAEC", mimeType: "application/octet-stream" } };
    const sending = client.sendMessage(sendParams("", { parts: [file] }));
    await expect(sending).rejects.toThrow(/ 3 Unsupported media type .*; the agent accepts text/);
    const missing = withAgent("nobody").send(sendParams("hello"));
    await expect(missing).rejects.toThrow('Agent "nobody" not found');
  });
});
