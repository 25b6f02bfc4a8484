import type {
  JSONRPCErrorResponse,
  Message,
  MessageSendConfiguration,
  MessageSendParams,
  Part,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from "a2a-v02";
import { A2AClient } from "a2a-v02/client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Child, endChildren } from "../support/child.ts";
import { startExamples } from "../support/examples.ts";
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

type StreamEvent = Message | Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent;
type Reply<T> = { readonly result: T } | JSONRPCErrorResponse;

const connect = (agent?: string): A2AClient =>
  new A2AClient(agent ? `${server.url}/agents/${agent}` : server.url);

let messages = 0;
function sendParams(
  text: string,
  message: Partial<Message> = {},
  configuration: Partial<MessageSendConfiguration> = {},
): MessageSendParams {
  return {
    message: {
      kind: "message",
      messageId: `v02-${++messages}`,
      role: "user",
      parts: [{ kind: "text", text }],
      ...message,
    },
    configuration: { acceptedOutputModes: ["text/plain"], ...configuration },
  };
}

async function taskOf(reply: Promise<unknown>): Promise<Task> {
  const answer = (await reply) as Reply<Task | Message>;
  if ("error" in answer) throw new Error(`${answer.error.code} ${answer.error.message}`);
  if (answer.result.kind !== "task") throw new Error("a message, where a task was expected");
  return answer.result;
}
async function codeOf(reply: Promise<unknown>): Promise<number | undefined> {
  const answer = (await reply) as Reply<unknown>;
  return "error" in answer ? answer.error.code : undefined;
}
const textOf = (parts: readonly Part[] = []): string =>
  parts.map(part => (part.kind === "text" ? part.text : "")).join("");
const resultOf = (task: Task): string =>
  (task.artifacts ?? []).map(artifact => textOf(artifact.parts)).join("|");
const streamed = (events: readonly StreamEvent[]): string =>
  events.map(event => (event.kind === "artifact-update" ? textOf(event.artifact.parts) : "")).join("");
function endOf(events: readonly StreamEvent[]): [state: string, final: boolean] | undefined {
  const last = events.at(-1);
  return last?.kind === "status-update" ? [last.status.state, last.final] : undefined;
}
async function firstTask(stream: AsyncGenerator<StreamEvent>): Promise<Task> {
  const { value } = await stream.next();
  if (value?.kind !== "task") throw new Error("the first event is not the task");
  return value;
}

/**
 * The client never sends a version, and cannot send a header: v0.3 answers it. With a version header, v0.2
 * does.
 */
describe.each([undefined, "0.2"])("the official client 0.2.5, under the version %s", version => {
  const versions = new Set<string | null>();
  beforeAll(() => {
    const plain = globalThis.fetch;
    vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
      const headers = { ...(init.headers as object), ...(version && { "A2A-Version": version }) };
      const response = await plain(url, { ...init, headers });
      if (init.method === "POST") versions.add(response.headers.get("A2A-Version"));
      return response;
    });
    // The client prints every error that it throws.
    vi.spyOn(console, "error").mockImplementation(() => {});
  });
  afterAll(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  test("finds the card at its own path, and the agent at the URL in the card", async () => {
    const client = connect();
    expect(await client.getAgentCard()).toMatchObject({
      name: "echo",
      url: `${server.url}/agents/echo`,
      protocolVersion: "0.2.6",
      capabilities: { streaming: true, pushNotifications: true },
      supportsAuthenticatedExtendedCard: false,
    });
    expect(resultOf(await taskOf(client.sendMessage(sendParams("hello"))))).toBe("You said: hello");
  });

  test("sends without blocking, gets the task as it is and polls it to its end", async () => {
    const client = connect("countdown");
    let seen = await taskOf(client.sendMessage(sendParams("3", {}, { blocking: false })));
    expect(["submitted", "working"]).toContain(seen.status.state);
    while (seen.status.state !== "completed") seen = await taskOf(client.getTask({ id: seen.id }));
    expect(resultOf(seen)).toBe("3 … 2 … 1 … Lift-off!");
    expect((await taskOf(client.getTask({ id: seen.id, historyLength: 0 }))).history ?? []).toEqual([]);
  });

  test("streams the task and its text in order, and the last event is final", async () => {
    const client = connect("countdown");
    const events = await Array.fromAsync(client.sendMessageStream(sendParams("3")));
    expect(events.map(event => event.kind).indexOf("task")).toBe(0);
    expect(streamed(events)).toBe("3 … 2 … 1 … Lift-off!");
    expect(endOf(events)).toEqual(["completed", true]);
  });

  test("cancels a running task: the response, the stream and the stored task agree", async () => {
    const client = connect("slow");
    const stream = client.sendMessageStream(sendParams("Work for 60 seconds"));
    const { id } = await firstTask(stream);
    expect((await taskOf(client.cancelTask({ id }))).status.state).toBe("canceled");
    expect(endOf(await Array.fromAsync(stream))).toEqual(["canceled", true]);
    expect((await taskOf(client.getTask({ id }))).status.state).toBe("canceled");
    expect(await codeOf(client.cancelTask({ id }))).toBe(-32002);
  });

  test("resubscribes during a run, and again after its end", async () => {
    const client = connect("countdown");
    const stream = client.sendMessageStream(sendParams("5"));
    const { id } = await firstTask(stream);
    for await (const event of stream) if (event.kind === "artifact-update") break;
    const again = client.resubscribeTask({ id });
    const snapshot = await firstTask(again);
    const rest = await Array.fromAsync(again);
    expect(resultOf(snapshot) + streamed(rest)).toBe("5 … 4 … 3 … 2 … 1 … Lift-off!");
    expect(endOf(rest)).toEqual(["completed", true]);
    const over = await Array.fromAsync(client.resubscribeTask({ id }));
    expect(over).toMatchObject([{ kind: "task", id, status: { state: "completed" } }]);
  });

  test("answers a question, and gets the result", async () => {
    const client = connect("booking");
    const { id, status } = await taskOf(client.sendMessage(sendParams("Book me a trip")));
    expect([status.state, textOf(status.message?.parts)]).toEqual([
      "input-required",
      "Where would you like to go?",
    ]);
    const events = await Array.fromAsync(client.sendMessageStream(sendParams("Lisbon", { taskId: id })));
    expect(endOf(events)).toEqual(["input-required", true]);
    const done = await taskOf(client.sendMessage(sendParams("Friday", { taskId: id })));
    expect(done.artifacts?.map(one => one.parts[0]?.kind)).toEqual(["text", "data"]);
  });

  test("gets a bare message from an agent that replies with messages", async () => {
    const answer = (await connect("greeter").sendMessage(sendParams("Ada"))) as Reply<Message>;
    expect(answer).toMatchObject({ result: { kind: "message", role: "agent" } });
    const events = await Array.fromAsync(connect("greeter").sendMessageStream(sendParams("Bob")));
    expect(events.map(event => event.kind)).toEqual(["message"]);
  });

  test("gets the error codes that it knows", async () => {
    const unknownTask = "01890000-0000-7000-8000-000000000000";
    const client = connect();
    expect(await codeOf(client.getTask({ id: unknownTask }))).toBe(-32001);
    expect(await codeOf(client.cancelTask({ id: unknownTask }))).toBe(-32001);
    expect(await codeOf(client.sendMessage(sendParams("anyone?", { taskId: unknownTask })))).toBe(-32001);
    await expect(client.resubscribeTask({ id: unknownTask }).next()).rejects.toThrow(/-32001/);
    const { id } = await taskOf(client.sendMessage(sendParams("over")));
    expect(await codeOf(client.sendMessage(sendParams("more", { taskId: id })))).toBe(-32004);
    expect(await codeOf(client.getTaskPushNotificationConfig({ id }))).toBe(-32001);
    expect(await codeOf(connect("mute").getTaskPushNotificationConfig({ id }))).toBe(-32003);
    const file: Part = { kind: "file", file: { bytes: "AAEC", mimeType: "application/octet-stream" } };
    expect(await codeOf(client.sendMessage(sendParams("", { parts: [file] })))).toBe(-32005);
    expect(await codeOf(client.sendMessage({ message: { role: "user" } as Message }))).toBe(-32602);
  });

  test("is answered with one version throughout", () => {
    expect([...versions]).toEqual([version ?? "0.3"]);
  });
});
