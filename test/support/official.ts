import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as sdk1 from "@a2a-js/sdk";
import * as server1 from "@a2a-js/sdk/server";
import * as express1 from "@a2a-js/sdk/server/express";
import type * as sdk02 from "a2a-v02";
import * as server02 from "a2a-v02/server";
import type * as sdk03 from "a2a-v03";
import * as server03 from "a2a-v03/server";
import * as express03 from "a2a-v03/server/express";
import express, { type Express } from "express";

/** Servers of the official SDK, v1, v0.3 and v0.2, with an agent that does what the message asks. */

/** An event of the agent under test, for both generations of the official server. */
type OutputEvent =
  | { state: "submitted" | "working" | "input-required" | "completed" | "failed" | "canceled"; text?: string }
  | { artifact: string; append?: boolean; text?: string; data?: object; file?: string }
  | { reply: string };

/** How far the agent counts for the message "count". */
export const COUNT = 40;

const waiting = new Map<string, () => void>();

/** Each turn begins with the task itself, as the official servers require. */
async function* agentOutput(text: string, taskId: string): AsyncGenerator<OutputEvent> {
  if (text === "reply") return yield { reply: "just a message" };
  yield { state: "submitted" };
  yield { state: "working", text: "thinking" };
  if (text === "ask") return yield { state: "input-required", text: "For how many?" };
  if (text === "fail") return yield { state: "failed", text: "It did not work" };
  if (text === "slow") {
    await new Promise<void>(resolve => waiting.set(taskId, resolve));
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

/** The transports that the handlers of both official servers have for Express. */
export type OfficialTransport = "JSONRPC" | "HTTP+JSON";

export function appV1(url: string, transport: OfficialTransport = "JSONRPC"): Express {
  const executor: server1.AgentExecutor = {
    async execute(context, bus) {
      const content = context.userMessage.parts[0]?.content;
      const text = content?.$case === "text" ? content.value : "";
      for await (const event of agentOutput(text, context.taskId)) bus.publish(eventV1(event, context));
    },
    cancelTask: async taskId => waiting.get(taskId)?.(),
  };
  const card = sdk1.AgentCard.fromJSON({
    ...CARD,
    supportedInterfaces: [{ url, protocolBinding: transport, protocolVersion: "1.0" }],
  });
  const requestHandler = new server1.DefaultRequestHandler(card, new server1.InMemoryTaskStore(), executor);
  const app = express();
  app.use("/.well-known/agent-card.json", express1.agentCardHandler({ agentCardProvider: requestHandler }));
  const handler = transport === "JSONRPC" ? express1.jsonRpcHandler : express1.restHandler;
  app.use(handler({ requestHandler, userBuilder: express1.UserBuilder.noAuthentication }));
  return app;
}

function eventV1(event: OutputEvent, context: server1.RequestContext): server1.AgentExecutionEvent {
  const { taskId, contextId } = context;
  const ids = { taskId, contextId };
  if ("reply" in event)
    return server1.AgentEvent.message(
      sdk1.Message.fromJSON({
        messageId: "r1",
        role: "ROLE_AGENT",
        parts: [{ text: event.reply }],
        contextId,
      }),
    );
  if ("artifact" in event) return server1.AgentEvent.artifactUpdate(artifactV1(event, ids));
  const state = `TASK_STATE_${event.state.toUpperCase().replace("-", "_")}`;
  const message = event.text && {
    messageId: "s1",
    role: "ROLE_AGENT",
    parts: [{ text: event.text }],
    ...ids,
  };
  const status = { state, timestamp: "2026-11-15T12:00:00.000Z", ...(message && { message }) };
  if (event.state !== "submitted")
    return server1.AgentEvent.statusUpdate(sdk1.TaskStatusUpdateEvent.fromJSON({ ...ids, status }));
  const task = sdk1.Task.fromJSON({ id: taskId, contextId, status });
  return server1.AgentEvent.task({ ...task, history: [context.userMessage] });
}

function artifactV1(
  event: Extract<OutputEvent, { artifact: string }>,
  ids: object,
): sdk1.TaskArtifactUpdateEvent {
  const part = event.file
    ? { raw: event.file, filename: "table.csv", mediaType: "text/csv" }
    : event.data
      ? { data: event.data }
      : { text: event.text };
  const artifact = { artifactId: event.artifact, name: `name of ${event.artifact}`, parts: [part] };
  return sdk1.TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact, append: event.append === true });
}

export function appV03(url: string, transport: OfficialTransport = "JSONRPC"): Express {
  const executor: server03.AgentExecutor = {
    async execute(context, bus) {
      const part = context.userMessage.parts[0];
      const text = part?.kind === "text" ? part.text : "";
      for await (const event of agentOutput(text, context.taskId)) bus.publish(eventV03(event, context));
      bus.finished();
    },
    cancelTask: async taskId => waiting.get(taskId)?.(),
  };
  const card: sdk03.AgentCard = { ...CARD, url, preferredTransport: transport, protocolVersion: "0.3.0" };
  const requestHandler = new server03.DefaultRequestHandler(card, new server03.InMemoryTaskStore(), executor);
  const app = express();
  app.use("/.well-known/agent-card.json", express03.agentCardHandler({ agentCardProvider: requestHandler }));
  const handler = transport === "JSONRPC" ? express03.jsonRpcHandler : express03.restHandler;
  app.use(handler({ requestHandler, userBuilder: express03.UserBuilder.noAuthentication }));
  return app;
}

function eventV03(event: OutputEvent, context: server03.RequestContext): server03.AgentExecutionEvent {
  const { taskId, contextId } = context;
  const toMessage = (text: string): sdk03.Message => ({
    kind: "message",
    messageId: "s1",
    role: "agent",
    parts: [{ kind: "text", text }],
    contextId,
  });
  if ("reply" in event) return toMessage(event.reply);
  if ("artifact" in event) return { kind: "artifact-update", taskId, contextId, ...artifactV03(event) };
  const timestamp = "2026-11-15T12:00:00.000Z";
  const status = { state: event.state, timestamp, ...(event.text && { message: toMessage(event.text) }) };
  if (event.state === "submitted")
    return { kind: "task", id: taskId, contextId, status, history: [context.userMessage] };
  return { kind: "status-update", taskId, contextId, status, final: event.state !== "working" };
}

function artifactV03(event: Extract<OutputEvent, { artifact: string }>) {
  const part: sdk03.Part = event.file
    ? { kind: "file", file: { bytes: event.file, name: "table.csv", mimeType: "text/csv" } }
    : event.data
      ? { kind: "data", data: event.data as Record<string, unknown> }
      : { kind: "text", text: event.text ?? "" };
  const artifact = { artifactId: event.artifact, name: `name of ${event.artifact}`, parts: [part] };
  return { artifact, append: event.append === true };
}

/** Version 0.2.5 has its own Express application; its requests have the form of v0.3. */
export function appV02(url: string): Express {
  const executor: server02.AgentExecutor = {
    async execute(context, bus) {
      const part = context.userMessage.parts[0];
      const text = part?.kind === "text" ? part.text : "";
      for await (const event of agentOutput(text, context.taskId))
        bus.publish(eventV03(event, context as server03.RequestContext) as server02.AgentExecutionEvent);
      bus.finished();
    },
    cancelTask: async taskId => waiting.get(taskId)?.(),
  };
  const card = { ...CARD, url } as sdk02.AgentCard;
  const requestHandler = new server02.DefaultRequestHandler(card, new server02.InMemoryTaskStore(), executor);
  const app = express();
  // It has the types of another version of Express.
  new server02.A2AExpressApp(requestHandler).setupRoutes(app as never);
  return app;
}

const CARD = {
  name: "official",
  description: "Does what it is told",
  version: "1.2.3",
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "Obey", description: "Does it", tags: ["test"], examples: ["report"] }],
};

/** A started server. */
export interface Official {
  readonly url: string;
  close(): void;
}

/** `publicUrl`: its URL for callers, if not its own address. */
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
