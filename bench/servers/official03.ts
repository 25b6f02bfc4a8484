import type { AgentCard, Artifact, Message, Task, TaskStatus } from "a2a-v03";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "a2a-v03/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "a2a-v03/server/express";
import express from "express";
import { chunkText, readRequest } from "../agents/script.ts";

/** The official SDK 0.3.14 as its documentation sets it up: Express, JSON-RPC, tasks in memory. */

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
    bus.publish(toTask(turn, context.userMessage));
    if (request.kind === "echo") publishText(turn, request.text, false, true);
    if (request.kind === "stream") publishChunks(turn, request.chunks);
    if (request.kind === "idle") await stayIdle(turn, silent);
    else publishState(turn, "completed", true);
    bus.finished();
  },
  async cancelTask(taskId: string): Promise<void> {
    silent.get(taskId)?.();
  },
});

function publishChunks(turn: Turn, chunks: number): void {
  publishState(turn, "working", false);
  for (let index = 0; index < chunks; index++) {
    publishText(turn, chunkText(index), index > 0, index === chunks - 1);
  }
}

async function stayIdle(turn: Turn, silent: Silent): Promise<void> {
  publishState(turn, "working", false);
  await new Promise<void>(resolve => silent.set(turn.taskId, resolve));
  silent.delete(turn.taskId);
  publishState(turn, "canceled", true);
}

function publishState({ taskId, contextId, bus }: Turn, state: TaskStatus["state"], final: boolean): void {
  bus.publish({ kind: "status-update", taskId, contextId, status: toStatus(state), final });
}

function publishText({ taskId, contextId, bus }: Turn, text: string, append: boolean, lastChunk: boolean) {
  bus.publish({ kind: "artifact-update", taskId, contextId, artifact: toArtifact(text), append, lastChunk });
}

function toText(message: Message): string {
  const part = message.parts[0];
  return part?.kind === "text" ? part.text : "";
}

function toStatus(state: TaskStatus["state"]): TaskStatus {
  return { state, timestamp: new Date().toISOString() };
}

function toTask({ taskId, contextId }: Turn, message: Message): Task {
  return { kind: "task", id: taskId, contextId, status: toStatus("submitted"), history: [message] };
}

function toArtifact(text: string): Artifact {
  return { artifactId: "text", name: "text", parts: [{ kind: "text", text }] };
}

function toCard(port: number): AgentCard {
  return {
    name: "bench",
    description: "Echoes, streams or stays silent, as the text asks",
    url: `http://127.0.0.1:${port}/`,
    preferredTransport: "JSONRPC",
    protocolVersion: "0.3.0",
    version: "1.0.0",
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
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
