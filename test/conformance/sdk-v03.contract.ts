import type { Message, Part, Task } from "a2a-v03";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  ServiceParameters,
  TaskNotCancelableError,
  TaskNotFoundError,
  type TransportFactory,
  UnsupportedOperationError,
  withA2AExtensions,
} from "a2a-v03/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Child, endChildren } from "../support/child.ts";
import { EXTENSION, startExamples } from "../support/examples.ts";
import { asTask, endOf, firstTask, resultOf, sendParams, streamed, textOf } from "../support/sdk-v03.ts";
import { tempFolder } from "../support/server.ts";

/** The server that the contract has started. */
export interface Meeting {
  url(): string;
  /** `fetchImpl`: sees the requests and responses. */
  connect(agent?: string, fetchImpl?: typeof fetch): Promise<Client>;
}

/** The behaviour of the official client 0.3.14 over each of its transports. */
export function clientV03Contract(
  transport: string,
  createTransport: (options: { fetchImpl: typeof fetch }) => TransportFactory,
): Meeting {
  const folder = tempFolder();
  let server: Child;
  beforeAll(async () => {
    server = await startExamples(folder.path);
  });
  afterAll(async () => {
    await endChildren();
    folder.remove();
  });

  /** The client resolves the card's path against the given URL, so a base needs its trailing slash. */
  const connect = (agent?: string, fetchImpl = fetch): Promise<Client> => {
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [createTransport({ fetchImpl })],
      preferredTransports: [transport],
    });
    return new ClientFactory(options).createFromUrl(agent ? `${server.url}/agents/${agent}/` : server.url);
  };

  describe(`the official client 0.3.14 over ${transport}`, () => {
    test("discovers the default agent from the base URL", async () => {
      const client = await connect();
      const card = await client.getAgentCard();
      expect(card).toMatchObject({
        name: "echo",
        url: `${server.url}/agents/echo`,
        preferredTransport: "JSONRPC",
        protocolVersion: "0.3.0",
        capabilities: { streaming: true },
      });
    });

    test("talks to two agents on one host, each with its own card and its own tasks", async () => {
      const echo = await connect("echo");
      const reporter = await connect("reporter");
      const mine = asTask(await echo.sendMessage(sendParams("one")));
      const other = asTask(await reporter.sendMessage(sendParams("one two")));
      expect(resultOf(mine)).toBe("You said: one");
      expect(resultOf(other)).toContain("2 words");
      await expect(reporter.getTask({ id: mine.id })).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    test("sends and gets the finished task with its artifact and its history", async () => {
      const client = await connect();
      const task = asTask(await client.sendMessage(sendParams("hello")));
      expect(task.status.state).toBe("completed");
      expect(resultOf(task)).toBe("You said: hello");
      expect(task.history).toMatchObject([
        { kind: "message", role: "user", taskId: task.id, contextId: task.contextId },
      ]);
    });

    test("sends without blocking, gets the task as it is and polls it to its end", async () => {
      const client = await connect("countdown");
      const task = asTask(await client.sendMessage(sendParams("3", {}, { blocking: false })));
      expect(["submitted", "working"]).toContain(task.status.state);
      let seen = task;
      while (seen.status.state !== "completed") {
        expect(seen.status.state).not.toBe("failed");
        seen = await client.getTask({ id: task.id });
      }
      expect(resultOf(seen)).toBe("3 … 2 … 1 … Lift-off!");
    });

    test("streams the task, its progress and its text in order, and the last event is final", async () => {
      const client = await connect("countdown");
      const events = await Array.fromAsync(client.sendMessageStream(sendParams("3")));
      const kinds = events.map(event => event.kind);
      expect(kinds[0]).toBe("task");
      expect(kinds.slice(1)).not.toContain("task");
      expect(streamed(events)).toBe("3 … 2 … 1 … Lift-off!");
      const finals = events.flatMap(event => (event.kind === "status-update" ? [event.final] : []));
      expect(finals.filter(Boolean)).toHaveLength(1);
      expect(endOf(events)).toEqual(["completed", true]);
    });

    test("gets as much of the history as it requests", async () => {
      const client = await connect("booking");
      const { id, contextId } = asTask(await client.sendMessage(sendParams("Book me a trip")));
      await client.sendMessage(sendParams("Oslo", { taskId: id, contextId }));
      const all = (await client.getTask({ id })).history?.map(message => textOf(message.parts));
      expect(all).toEqual(["Book me a trip", "Where would you like to go?", "Oslo"]);
      const one = await client.getTask({ id, historyLength: 1 });
      expect(one.history?.map(message => textOf(message.parts))).toEqual(["Oslo"]);
    });

    test("cancels a running task: the response, the stream and the stored task agree", async () => {
      const client = await connect("slow");
      const stream = client.sendMessageStream(sendParams("Work for 60 seconds"));
      const { id } = await firstTask(stream);
      expect((await client.cancelTask({ id })).status.state).toBe("canceled");
      expect(endOf(await Array.fromAsync(stream))).toEqual(["canceled", true]);
      expect((await client.getTask({ id })).status.state).toBe("canceled");
    });

    test("resubscribes during a run: the task as it is, then the rest, nothing twice", async () => {
      const client = await connect("countdown");
      const stream = client.sendMessageStream(sendParams("5"));
      const { id } = await firstTask(stream);
      for await (const event of stream) if (event.kind === "artifact-update") break;
      const again = client.resubscribeTask({ id });
      const snapshot = await firstTask(again);
      const rest = await Array.fromAsync(again);
      expect(rest.map(event => event.kind)).not.toContain("task");
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
      const client = await connect("booking");
      const first = asTask(await client.sendMessage(sendParams("Book me a trip")));
      expect(first.status.state).toBe("input-required");
      expect(textOf(first.status.message?.parts)).toBe("Where would you like to go?");
      const { id, contextId } = first;
      const second = asTask(await client.sendMessage(sendParams("Lisbon", { taskId: id, contextId })));
      expect([second.id, second.status.state]).toEqual([id, "input-required"]);
      const events = await Array.fromAsync(client.sendMessageStream(sendParams("Friday", { taskId: id })));
      expect(events[0]?.kind).toBe("task");
      expect(endOf(events)).toEqual(["completed", true]);
      const done = await client.getTask({ id });
      expect(done.artifacts?.map(one => one.parts[0])).toEqual([
        { kind: "text", text: "Booked: Lisbon, friday." },
        { kind: "data", data: { destination: "Lisbon", day: "friday", reference: "LISBON-FRIDAY" } },
      ]);
    });

    test("sees a stream end at a question, marked final", async () => {
      const client = await connect("booking");
      const events = await Array.fromAsync(client.sendMessageStream(sendParams("Book me a trip")));
      expect(endOf(events)).toEqual(["input-required", true]);
    });

    test("gets a bare message from an agent that replies with messages, from a send and from a stream", async () => {
      const client = await connect("greeter");
      const answer = await client.sendMessage(sendParams("Ada", { contextId: "talk-1" }));
      expect(answer).toMatchObject({ kind: "message", role: "agent", contextId: "talk-1" });
      expect(textOf((answer as Message).parts)).toBe("Hello, Ada");
      const events = await Array.fromAsync(client.sendMessageStream(sendParams("Bob")));
      expect(events.map(event => event.kind)).toEqual(["message"]);
    });

    test("gets text, data and a file as artifacts of their kinds, from a send and from a stream", async () => {
      const client = await connect("reporter");
      const events = await Array.fromAsync(client.sendMessageStream(sendParams("to be or not to be")));
      const parts = events.flatMap(event => (event.kind === "artifact-update" ? event.artifact.parts : []));
      const { id } = events[0] as Task;
      const stored = (await client.getTask({ id })).artifacts?.flatMap(one => one.parts);
      expect(stored).toEqual(parts);
      expect(parts).toMatchObject([
        { kind: "text", text: "6 words, 4 different." },
        { kind: "data", data: { total: 6, words: { to: 2, be: 2, or: 1, not: 1 } } },
        { kind: "file", file: { mimeType: "text/csv" } },
      ]);
      const { bytes } = (parts[2] as { file: { bytes: string } }).file;
      expect(Buffer.from(bytes, "base64").toString()).toBe("word,count\nto,2\nbe,2\nor,1\nnot,1\n");
    });

    test("names extensions in its own header and gets the active ones", async () => {
      const active: (string | null)[] = [];
      const listening: typeof fetch = async (url, init) => {
        const response = await fetch(url, init);
        active.push(response.headers.get("x-a2a-extensions"));
        return response;
      };
      for (const agent of ["polite", "strict"]) {
        const client = await connect(agent, listening);
        const serviceParameters = ServiceParameters.create(withA2AExtensions(EXTENSION));
        asTask(await client.sendMessage(sendParams("hi"), { serviceParameters }));
      }
      expect(active).toEqual([EXTENSION, EXTENSION]);
    });
  });

  describe(`the official client 0.3.14 over ${transport} gets an error of its own type`, () => {
    const unknownTask = "01890000-0000-7000-8000-000000000000";

    test("for an unknown task: get, cancel, resubscribe, send", async () => {
      const client = await connect();
      await expect(client.getTask({ id: unknownTask })).rejects.toBeInstanceOf(TaskNotFoundError);
      await expect(client.cancelTask({ id: unknownTask })).rejects.toBeInstanceOf(TaskNotFoundError);
      const lost = client.sendMessage(sendParams("anyone?", { taskId: unknownTask }));
      await expect(lost).rejects.toBeInstanceOf(TaskNotFoundError);
      await expect(client.resubscribeTask({ id: unknownTask }).next()).rejects.toThrow(/Task not found/);
    });

    test("for an ended task: cancel, cancel again, send", async () => {
      const client = await connect();
      const { id } = asTask(await client.sendMessage(sendParams("over")));
      await expect(client.cancelTask({ id })).rejects.toBeInstanceOf(TaskNotCancelableError);
      const late = client.sendMessage(sendParams("one more thing", { taskId: id }));
      await expect(late).rejects.toBeInstanceOf(UnsupportedOperationError);
      const slow = await connect("slow");
      const busy = asTask(await slow.sendMessage(sendParams("60", {}, { blocking: false })));
      await slow.cancelTask({ id: busy.id });
      await expect(slow.cancelTask({ id: busy.id })).rejects.toBeInstanceOf(TaskNotCancelableError);
    });

    test("for unsupported operations: streaming, push, a file that the agent does not accept", async () => {
      const mute = await connect("mute");
      const { id } = asTask(await mute.sendMessage(sendParams("hello")));
      await expect(mute.resubscribeTask({ id }).next()).rejects.toThrow(/does not support streaming/);
      // The client itself would refuse because of the card; its transport calls the server.
      const config = { taskId: id, pushNotificationConfig: { url: "https://push.example/hook" } };
      const setting = mute.transport.setTaskPushNotificationConfig(config);
      await expect(setting).rejects.toBeInstanceOf(PushNotificationNotSupportedError);
      const file: Part = { kind: "file", file: { bytes: "AAEC", mimeType: "application/octet-stream" } };
      const sending = mute.sendMessage(sendParams("", { parts: [file] }));
      await expect(sending).rejects.toBeInstanceOf(ContentTypeNotSupportedError);
    });
  });

  return { url: () => server.url, connect };
}
