import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as sdk1 from "@a2a-js/sdk";
import * as server1 from "@a2a-js/sdk/server";
import * as express1 from "@a2a-js/sdk/server/express";
import type * as sdk03 from "a2a-v03";
import * as server03 from "a2a-v03/server";
import * as express03 from "a2a-v03/server/express";
import express, { type Express } from "express";

/** Servers made with the official libraries, v1 and v0.3, with an agent that does what it is told. */

/** What the agent under test does, in words that both generations of the official server can be told. */
type Deed =
  | { state: "submitted" | "working" | "input-required" | "completed" | "failed" | "canceled"; text?: string }
  | { artifact: string; append?: boolean; text?: string; data?: object; file?: string }
  | { reply: string };

/** How far it counts if it is told to. */
export const COUNT = 40;

const opened = new Map<string, () => void>();

/** Each turn begins with the task itself, as the official servers demand. */
async function* perform(text: string, taskId: string): AsyncGenerator<Deed> {
  if (text === "reply") return yield { reply: "just a message" };
  yield { state: "submitted" };
  yield { state: "working", text: "thinking" };
  if (text === "ask") return yield { state: "input-required", text: "For how many?" };
  if (text === "fail") return yield { state: "failed", text: "It did not work" };
  if (text === "slow") {
    await new Promise<void>(resolve => opened.set(taskId, resolve));
    return yield { state: "canceled" };
  }
  if (text === "count") {
    for (let i = 0; i < COUNT; i++) {
      yield { artifact: "a1", append: i > 0, text: `${i} ` };
      await new Promise(resolve => setTimeout(resolve, 10));
    }
    return yield { state: "completed" };
  }
  yield { artifact: "a1", text: "You said: " };
  yield { artifact: "a1", append: true, text };
  if (text === "report") {
    yield { artifact: "a2", data: { total: 3 } };
    yield { artifact: "a3", file: Buffer.from("a;b\n1;2\n").toString("base64") };
  }
  yield { state: "completed" };
}

export function appV1(url: string): Express {
  const executor: server1.AgentExecutor = {
    async execute(context, bus) {
      const content = context.userMessage.parts[0]?.content;
      const text = content?.$case === "text" ? content.value : "";
      for await (const deed of perform(text, context.taskId)) bus.publish(eventV1(deed, context));
    },
    cancelTask: async taskId => opened.get(taskId)?.(),
  };
  const card = sdk1.AgentCard.fromJSON({
    ...CARD,
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  });
  const requestHandler = new server1.DefaultRequestHandler(card, new server1.InMemoryTaskStore(), executor);
  const app = express();
  app.use("/.well-known/agent-card.json", express1.agentCardHandler({ agentCardProvider: requestHandler }));
  app.use(express1.jsonRpcHandler({ requestHandler, userBuilder: express1.UserBuilder.noAuthentication }));
  return app;
}

function eventV1(deed: Deed, context: server1.RequestContext): server1.AgentExecutionEvent {
  const { taskId, contextId } = context;
  const place = { taskId, contextId };
  if ("reply" in deed)
    return server1.AgentEvent.message(
      sdk1.Message.fromJSON({
        messageId: "r1",
        role: "ROLE_AGENT",
        parts: [{ text: deed.reply }],
        contextId,
      }),
    );
  if ("artifact" in deed) return server1.AgentEvent.artifactUpdate(artifactV1(deed, place));
  const state = `TASK_STATE_${deed.state.toUpperCase().replace("-", "_")}`;
  const message = deed.text && {
    messageId: "s1",
    role: "ROLE_AGENT",
    parts: [{ text: deed.text }],
    ...place,
  };
  const status = { state, timestamp: "2026-11-15T12:00:00.000Z", ...(message && { message }) };
  if (deed.state !== "submitted")
    return server1.AgentEvent.statusUpdate(sdk1.TaskStatusUpdateEvent.fromJSON({ ...place, status }));
  const task = sdk1.Task.fromJSON({ id: taskId, contextId, status });
  return server1.AgentEvent.task({ ...task, history: [context.userMessage] });
}

function artifactV1(deed: Extract<Deed, { artifact: string }>, place: object): sdk1.TaskArtifactUpdateEvent {
  const part = deed.file
    ? { raw: deed.file, filename: "table.csv", mediaType: "text/csv" }
    : deed.data
      ? { data: deed.data }
      : { text: deed.text };
  const artifact = { artifactId: deed.artifact, name: `name of ${deed.artifact}`, parts: [part] };
  return sdk1.TaskArtifactUpdateEvent.fromJSON({ ...place, artifact, append: deed.append === true });
}

export function appV03(url: string): Express {
  const executor: server03.AgentExecutor = {
    async execute(context, bus) {
      const part = context.userMessage.parts[0];
      const text = part?.kind === "text" ? part.text : "";
      for await (const deed of perform(text, context.taskId)) bus.publish(eventV03(deed, context));
      bus.finished();
    },
    cancelTask: async taskId => opened.get(taskId)?.(),
  };
  const card: sdk03.AgentCard = { ...CARD, url, protocolVersion: "0.3.0" };
  const requestHandler = new server03.DefaultRequestHandler(card, new server03.InMemoryTaskStore(), executor);
  const app = express();
  app.use("/.well-known/agent-card.json", express03.agentCardHandler({ agentCardProvider: requestHandler }));
  app.use(express03.jsonRpcHandler({ requestHandler, userBuilder: express03.UserBuilder.noAuthentication }));
  return app;
}

function eventV03(deed: Deed, context: server03.RequestContext): server03.AgentExecutionEvent {
  const { taskId, contextId } = context;
  const say = (text: string): sdk03.Message => ({
    kind: "message",
    messageId: "s1",
    role: "agent",
    parts: [{ kind: "text", text }],
    contextId,
  });
  if ("reply" in deed) return say(deed.reply);
  if ("artifact" in deed) return { kind: "artifact-update", taskId, contextId, ...artifactV03(deed) };
  const timestamp = "2026-11-15T12:00:00.000Z";
  const status = { state: deed.state, timestamp, ...(deed.text && { message: say(deed.text) }) };
  if (deed.state === "submitted")
    return { kind: "task", id: taskId, contextId, status, history: [context.userMessage] };
  return { kind: "status-update", taskId, contextId, status, final: deed.state !== "working" };
}

function artifactV03(deed: Extract<Deed, { artifact: string }>) {
  const part: sdk03.Part = deed.file
    ? { kind: "file", file: { bytes: deed.file, name: "table.csv", mimeType: "text/csv" } }
    : deed.data
      ? { kind: "data", data: deed.data as Record<string, unknown> }
      : { kind: "text", text: deed.text ?? "" };
  const artifact = { artifactId: deed.artifact, name: `name of ${deed.artifact}`, parts: [part] };
  return { artifact, append: deed.append === true };
}

const CARD = {
  name: "official",
  description: "Does what it is told",
  version: "1.2.3",
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "Obey", description: "Does it", tags: ["test"], examples: ["report"] }],
};

/** A started one. */
export interface Official {
  readonly url: string;
  close(): void;
}

/** `publicUrl`: where callers reach it, if not where it listens. */
export async function startOfficial(
  createApp: (url: string) => Express,
  publicUrl?: string,
): Promise<Official> {
  const http = createServer((request, response) => app(request, response)).listen(0, "127.0.0.1");
  await once(http, "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const app = createApp(`${publicUrl ?? url}/`);
  return {
    url,
    close() {
      http.closeAllConnections();
      http.close();
    },
  };
}
