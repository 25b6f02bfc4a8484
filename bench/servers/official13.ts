import { type AgentCard, type Artifact, type Message, type Task, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { chunkText, readRequest } from "../agents/script.ts";

/** The official SDK 1.3.0 as its documentation sets it up: Express, JSON-RPC, tasks in memory. */

interface Turn {
  taskId: string;
  contextId: string;
  bus: ExecutionEventBus;
}

/** Idle tasks with their callbacks. */
type Silent = Map<string, () => void>;

const createBench = (silent: Silent): AgentExecutor => ({
  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const turn = { taskId: context.taskId, contextId: context.contextId, bus };
    const request = readRequest(toText(context.userMessage));
    bus.publish(AgentEvent.task(toTask(turn, context.userMessage)));
    if (request.kind === "echo") publishText(turn, request.text, false, true);
    if (request.kind === "stream") publishChunks(turn, request.chunks);
    if (request.kind === "idle") return stayIdle(turn, silent);
    publishState(turn, TaskState.TASK_STATE_COMPLETED);
  },
  async cancelTask(taskId: string): Promise<void> {
    silent.get(taskId)?.();
  },
});

function publishChunks(turn: Turn, chunks: number): void {
  publishState(turn, TaskState.TASK_STATE_WORKING);
  for (let index = 0; index < chunks; index++) {
    publishText(turn, chunkText(index), index > 0, index === chunks - 1);
  }
}

async function stayIdle(turn: Turn, silent: Silent): Promise<void> {
  publishState(turn, TaskState.TASK_STATE_WORKING);
  await new Promise<void>(resolve => silent.set(turn.taskId, resolve));
  silent.delete(turn.taskId);
  publishState(turn, TaskState.TASK_STATE_CANCELED);
}

function publishState({ taskId, contextId, bus }: Turn, state: TaskState): void {
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: toStatus(state), metadata: undefined }));
}

function publishText({ taskId, contextId, bus }: Turn, text: string, append: boolean, lastChunk: boolean) {
  const artifact = toArtifact(text);
  bus.publish(
    AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: undefined }),
  );
}

function toText(message: Message): string {
  const content = message.parts[0]?.content;
  return content?.$case === "text" ? content.value : "";
}

function toStatus(state: TaskState) {
  return { state, message: undefined, timestamp: new Date().toISOString() };
}

function toTask({ taskId, contextId }: Turn, message: Message): Task {
  const status = toStatus(TaskState.TASK_STATE_SUBMITTED);
  return { id: taskId, contextId, status, artifacts: [], history: [message], metadata: undefined };
}

function toArtifact(text: string): Artifact {
  const content = { $case: "text" as const, value: text };
  const part = { content, metadata: undefined, filename: "", mediaType: "" };
  return {
    artifactId: "text",
    name: "text",
    description: "",
    parts: [part],
    metadata: undefined,
    extensions: [],
  };
}

function toCard(port: number): AgentCard {
  const url = `http://127.0.0.1:${port}/`;
  return {
    name: "bench",
    description: "Echoes, streams or stays silent, as the text asks",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
    provider: undefined,
    version: "1.0.0",
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
    signatures: [],
  };
}

const port = Number(process.argv[2]);
const requestHandler = new DefaultRequestHandler(
  toCard(port),
  new InMemoryTaskStore(),
  createBench(new Map()),
);
const app = express();
app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
app.use(jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(port, "127.0.0.1");
