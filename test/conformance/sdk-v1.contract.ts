import { type AgentCard, ListTasksRequest, Role, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  ServiceParameters,
  type TransportFactory,
  withA2AExtensions,
} from "@a2a-js/sdk/client";
import {
  ContentTypeNotSupportedError,
  ExtensionSupportRequiredError,
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Child, endChildren } from "../support/child.ts";
import { EXTENSION, startExamples } from "../support/examples.ts";
import {
  asTask,
  byId,
  caseOf,
  firstTask,
  lastState,
  request,
  resultOf,
  sendRequest,
  stateOf,
  streamed,
  textOf,
} from "../support/sdk-v1.ts";
import { tempFolder } from "../support/server.ts";

/** The server that the contract has started. */
export interface Meeting {
  url(): string;
  /** `fetchImpl`: sees the requests and responses. */
  connect(agent?: string, fetchImpl?: typeof fetch): Promise<Client>;
}

/** The behaviour of the official client 1.3.0 over each of its transports. */
export function clientV1Contract(
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

  describe(`the official client 1.3.0 over ${transport}`, () => {
    test("discovers the default agent from the base URL and uses version 1.0", async () => {
      const client = await connect();
      const card: AgentCard = await client.getAgentCard();
      expect(client.protocolVersion).toBe("1.0");
      expect(card.name).toBe("echo");
      expect(card.capabilities?.streaming).toBe(true);
      expect(card.supportedInterfaces[0]).toMatchObject({
        url: `${server.url}/agents/echo`,
        protocolBinding: "JSONRPC",
        protocolVersion: "1.0",
      });
      expect(card.skills.length).toBeGreaterThan(0);
    });

    test("talks to two agents on one host, each with its own card and its own tasks", async () => {
      const echo = await connect("echo");
      const reporter = await connect("reporter");
      expect((await reporter.getAgentCard()).name).toBe("reporter");
      const mine = asTask(await echo.sendMessage(sendRequest("one")));
      const other = asTask(await reporter.sendMessage(sendRequest("one two")));
      expect(resultOf(mine)).toBe("You said: one");
      expect(resultOf(other)).toContain("2 words");
      await expect(reporter.getTask(request(mine.id))).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    test("sends and gets the finished task with its artifact and its history", async () => {
      const client = await connect();
      const task = asTask(await client.sendMessage(sendRequest("hello", {}, { historyLength: 5 })));
      expect(stateOf(task)).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(resultOf(task)).toBe("You said: hello");
      expect(task.artifacts[0]?.name).toBe("response");
      expect(task.history.map(message => [message.role, textOf(message.parts)])).toEqual([
        [Role.ROLE_USER, "hello"],
      ]);
      expect(task.history[0]).toMatchObject({ taskId: task.id, contextId: task.contextId });
      expect(task.status?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    test("sends with returnImmediately, gets the task as it is and polls it to its end", async () => {
      const client = await connect("countdown");
      const task = asTask(await client.sendMessage(sendRequest("3", {}, { returnImmediately: true })));
      expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(stateOf(task));
      let seen = task;
      while (stateOf(seen) !== TaskState.TASK_STATE_COMPLETED) {
        expect(stateOf(seen)).not.toBe(TaskState.TASK_STATE_FAILED);
        seen = await client.getTask(request(task.id));
      }
      expect(resultOf(seen)).toBe("3 … 2 … 1 … Lift-off!");
    });

    test("streams the task, its progress and its text in order, to the end", async () => {
      const client = await connect("countdown");
      const events = await Array.fromAsync(client.sendMessageStream(sendRequest("3")));
      const kinds = events.map(caseOf);
      expect(kinds[0]).toBe("task");
      expect(kinds.slice(1)).not.toContain("task");
      expect(kinds.filter(kind => kind === "artifactUpdate")).toHaveLength(4);
      expect(streamed(events)).toBe("3 … 2 … 1 … Lift-off!");
      const appends = events.flatMap(({ payload }) =>
        payload?.$case === "artifactUpdate" ? [payload.value.append] : [],
      );
      expect(appends).toEqual([false, true, true, true]);
      expect(lastState(events)).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    test("gets as much of the history as it requests", async () => {
      const client = await connect("booking");
      const asked = asTask(await client.sendMessage(sendRequest("Book me a trip")));
      const { id, contextId } = asked;
      await client.sendMessage(sendRequest("Oslo", { taskId: id, contextId }));
      const all = (await client.getTask(request(id))).history.map(message => textOf(message.parts));
      expect(all).toEqual(["Book me a trip", "Where would you like to go?", "Oslo"]);
      const one = await client.getTask(request(id, { historyLength: 1 }));
      expect(one.history.map(message => textOf(message.parts))).toEqual(["Oslo"]);
      expect((await client.getTask(request(id, { historyLength: 0 }))).history).toEqual([]);
    });

    test("lists the tasks of a context page by page, newest first", async () => {
      const client = await connect();
      const first = asTask(await client.sendMessage(sendRequest("list one")));
      const { contextId } = first;
      const second = asTask(await client.sendMessage(sendRequest("list two", { contextId })));
      const page = await client.listTasks(ListTasksRequest.fromJSON({ contextId, pageSize: 1 }));
      expect(page).toMatchObject({ totalSize: 2, pageSize: 1 });
      expect(page.tasks.map(task => task.id)).toEqual([second.id]);
      expect(page.tasks[0]?.artifacts).toEqual([]);
      const next = await client.listTasks(
        ListTasksRequest.fromJSON({ contextId, pageToken: page.nextPageToken, includeArtifacts: true }),
      );
      expect(next.tasks.map(resultOf)).toEqual(["You said: list one"]);
      expect(next.nextPageToken).toBe("");
    });

    test("cancels a running task: the response, the stream and the stored task agree", async () => {
      const client = await connect("slow");
      const stream = client.sendMessageStream(sendRequest("Work for 60 seconds"));
      const { id } = await firstTask(stream);
      const canceled = await client.cancelTask(byId(id));
      expect(stateOf(canceled)).toBe(TaskState.TASK_STATE_CANCELED);
      expect(lastState(await Array.fromAsync(stream))).toBe(TaskState.TASK_STATE_CANCELED);
      expect(stateOf(await client.getTask(request(id)))).toBe(TaskState.TASK_STATE_CANCELED);
      expect(stateOf(await client.cancelTask(byId(id)))).toBe(TaskState.TASK_STATE_CANCELED);
    });

    test("resubscribes during a run: the task as it is, then the rest, nothing twice", async () => {
      const client = await connect("countdown");
      const stream = client.sendMessageStream(sendRequest("5"));
      const { id } = await firstTask(stream);
      for await (const event of stream) if (caseOf(event) === "artifactUpdate") break;
      const again = client.resubscribeTask(request(id));
      const snapshot = await firstTask(again);
      const rest = await Array.fromAsync(again);
      expect(rest.map(caseOf)).not.toContain("task");
      expect(resultOf(snapshot) + streamed(rest)).toBe("5 … 4 … 3 … 2 … 1 … Lift-off!");
      expect(lastState(rest)).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    test("answers questions in two turns of one task, and gets the result", async () => {
      const client = await connect("booking");
      const first = asTask(await client.sendMessage(sendRequest("Book me a trip")));
      expect(stateOf(first)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      expect(textOf(first.status?.message?.parts)).toBe("Where would you like to go?");
      const { id, contextId } = first;
      const second = asTask(await client.sendMessage(sendRequest("Lisbon", { taskId: id, contextId })));
      expect(second.id).toBe(id);
      expect(stateOf(second)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      expect(textOf(second.status?.message?.parts)).toBe("On which day would you like to go to Lisbon?");
      const events = await Array.fromAsync(client.sendMessageStream(sendRequest("Friday", { taskId: id })));
      expect(events.map(caseOf)[0]).toBe("task");
      expect(lastState(events)).toBe(TaskState.TASK_STATE_COMPLETED);
      const done = await client.getTask(request(id));
      expect(done.artifacts.map(one => one.parts[0]?.content)).toEqual([
        { $case: "text", value: "Booked: Lisbon, friday." },
        { $case: "data", value: { destination: "Lisbon", day: "friday", reference: "LISBON-FRIDAY" } },
      ]);
    });

    test("sees a stream end at a question", async () => {
      const client = await connect("booking");
      const events = await Array.fromAsync(client.sendMessageStream(sendRequest("Book me a trip")));
      expect(lastState(events)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    });

    test("gets a bare message from an agent that replies with messages, from a send and from a stream", async () => {
      const client = await connect("greeter");
      const answer = await client.sendMessage(sendRequest("Ada", { contextId: "talk-1" }));
      if (!("messageId" in answer)) throw new Error("a task, where a message was expected");
      expect([answer.role, answer.contextId]).toEqual([Role.ROLE_AGENT, "talk-1"]);
      expect(textOf(answer.parts)).toBe("Hello, Ada");
      const events = await Array.fromAsync(client.sendMessageStream(sendRequest("Bob")));
      expect(events.map(caseOf)).toEqual(["message"]);
      const { totalSize } = await client.listTasks(ListTasksRequest.fromJSON({}));
      expect(totalSize).toBe(0);
    });

    test("gets text, data and a file as artifacts of their kinds, from a send and from a stream", async () => {
      const client = await connect("reporter");
      const events = await Array.fromAsync(client.sendMessageStream(sendRequest("to be or not to be")));
      const id = events[0]?.payload?.$case === "task" ? events[0].payload.value.id : "";
      const parts = events.flatMap(({ payload }) =>
        payload?.$case === "artifactUpdate" ? (payload.value.artifact?.parts ?? []) : [],
      );
      const stored = (await client.getTask(request(id))).artifacts.flatMap(one => one.parts);
      expect(stored).toEqual(parts);
      expect(parts.map(part => part.content?.$case)).toEqual(["text", "data", "raw"]);
      expect(parts[1]?.content?.value).toEqual({ total: 6, words: { to: 2, be: 2, or: 1, not: 1 } });
      expect(parts[2]).toMatchObject({ filename: "words.csv", mediaType: "text/csv" });
      expect(String(parts[2]?.content?.value)).toBe("word,count\nto,2\nbe,2\nor,1\nnot,1\n");
    });

    test("sends data and gets it unchanged in the history", async () => {
      const client = await connect("echo");
      const data = { data: { nested: [1, "two", null] } };
      const answer = await client.sendMessage(
        sendRequest("with data", { parts: [{ text: "with data" }, data] }),
      );
      const sent = asTask(answer).history[0]?.parts.map(part => part.content?.value);
      expect(sent).toEqual(["with data", { nested: [1, "two", null] }]);
    });
  });

  describe(`the official client 1.3.0 over ${transport} gets an error of its own type`, () => {
    test("for an unknown task: get, cancel, resubscribe, send", async () => {
      const client = await connect();
      const unknownTask = "01890000-0000-7000-8000-000000000000";
      await expect(client.getTask(request(unknownTask))).rejects.toBeInstanceOf(TaskNotFoundError);
      await expect(client.cancelTask(byId(unknownTask))).rejects.toBeInstanceOf(TaskNotFoundError);
      await expect(client.resubscribeTask(request(unknownTask)).next()).rejects.toBeInstanceOf(
        TaskNotFoundError,
      );
      const lost = client.sendMessage(sendRequest("anyone?", { taskId: unknownTask }));
      await expect(lost).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    test("for an ended task: cancel, resubscribe, send, stream", async () => {
      const client = await connect();
      const { id } = asTask(await client.sendMessage(sendRequest("over")));
      await expect(client.cancelTask(byId(id))).rejects.toBeInstanceOf(TaskNotCancelableError);
      await expect(client.resubscribeTask(request(id)).next()).rejects.toBeInstanceOf(
        UnsupportedOperationError,
      );
      const late = sendRequest("one more thing", { taskId: id });
      await expect(client.sendMessage(late)).rejects.toBeInstanceOf(UnsupportedOperationError);
      await expect(client.sendMessageStream(late).next()).rejects.toBeInstanceOf(UnsupportedOperationError);
    });

    test("for unsupported operations: subscribe without streaming, push", async () => {
      const client = await connect("mute");
      const task = asTask(await client.sendMessage(sendRequest("hello")));
      expect(resultOf(task)).toBe("In one piece: hello");
      await expect(client.resubscribeTask(request(task.id)).next()).rejects.toBeInstanceOf(
        UnsupportedOperationError,
      );
      // The client itself would refuse because of the card; its transport calls the server.
      const list = client.transport.listTaskPushNotificationConfig({
        tenant: "",
        taskId: task.id,
        pageSize: 0,
        pageToken: "",
      });
      await expect(list).rejects.toBeInstanceOf(PushNotificationNotSupportedError);
      const extended = client.transport.getExtendedAgentCard({ tenant: "" });
      await expect(extended).rejects.toBeInstanceOf(UnsupportedOperationError);
    });

    test("for a required extension that is not named; named, it is served", async () => {
      const client = await connect("strict");
      await expect(client.sendMessage(sendRequest("let me in"))).rejects.toBeInstanceOf(
        ExtensionSupportRequiredError,
      );
      const serviceParameters = ServiceParameters.create(withA2AExtensions(EXTENSION));
      const task = asTask(await client.sendMessage(sendRequest("let me in"), { serviceParameters }));
      expect(resultOf(task)).toBe("At last: let me in");
    });

    // gRPC has no fetch to intercept: test/behaviour/grpc.test.ts reads its metadata.
    if (transport !== "GRPC")
      test("and not for an unknown extension: the response names only active ones", async () => {
        const active: (string | null)[] = [];
        const listening: typeof fetch = async (url, init) => {
          const response = await fetch(url, init);
          active.push(response.headers.get("a2a-extensions"));
          return response;
        };
        const client = await connect("polite", listening);
        for (const uris of [
          [EXTENSION],
          ["https://unknown.example/v1"],
          [EXTENSION, "https://unknown.example/v1"],
        ]) {
          const serviceParameters = ServiceParameters.create(withA2AExtensions(...uris));
          const task = asTask(await client.sendMessage(sendRequest("hi"), { serviceParameters }));
          expect(resultOf(task)).toBe("Please: hi");
        }
        expect(active).toEqual([EXTENSION, null, EXTENSION]);
      });

    test("for a file that the agent's card does not accept", async () => {
      const client = await connect("echo");
      const file = { raw: "AAEC", filename: "three.bin", mediaType: "application/octet-stream" };
      const sending = client.sendMessage(sendRequest("", { parts: [{ text: "look" }, file] }));
      await expect(sending).rejects.toBeInstanceOf(ContentTypeNotSupportedError);
    });
  });

  return { url: () => server.url, connect };
}
