import type { Json, JsonObject } from "../../lib/json.ts";
import {
  type AgentName,
  type Artifact,
  Fault,
  isSettled,
  isTerminal,
  type Message,
  type Part,
  type Step,
  type Task,
  type TaskEvent,
  type TaskStatus,
  textOf,
  type Usage,
} from "../../model/index.ts";
import type { Agent, CardResult, EncodedStep, Operation, OperationResult } from "../../ports/index.ts";
import { encodeSecurityV03 } from "../shared/card-security.ts";
import {
  encodeV03Artifact,
  encodeV03Message,
  encodeV03Page,
  encodeV03Push,
  encodeV03Status,
} from "../shared/v03-encode.ts";
import { INDEX, REQUEST_FORM } from "./routes.ts";

/** `history` is the messages of the caller and the reply; progress messages are left out. */
export function encodeTask(task: Task, agent: string = task.agent): JsonObject {
  const out: Record<string, Json> = {
    kind: "task",
    id: task.id,
    contextId: task.contextId,
    status: encodeV03Status(toStatus(task)),
  };
  if (isSettled(task.status.state)) {
    const artifacts = task.artifacts.filter(artifact => !isInReply(task, artifact));
    if (artifacts.length > 0) out.artifacts = artifacts.map(one => encodeArtifact(task, one));
    const reply = findReply(task);
    const messages = task.history.filter(message => message.role === "user");
    out.history = (reply ? [...messages, reply] : messages).map(encodeV03Message);
  }
  out.metadata = { ...task.metadata, ...toMetadata(task, agent) };
  return out;
}

function toStatus(task: Task): TaskStatus {
  const { state, at } = task.status;
  const message = findReply(task);
  return message ? { state, message, at } : { state, at };
}

/** The status message of a settled task; of an ended task without one, the text of its artifacts. */
export function findReply({ id: taskId, contextId, status, artifacts }: Task): Message | undefined {
  if (!isTerminal(status.state)) return isSettled(status.state) ? status.message : undefined;
  const parts = status.message?.parts ?? artifacts.flatMap(one => one.parts).filter(isText);
  if (parts.length === 0) return undefined;
  return { ...status.message, messageId: `${taskId}-r`, role: "agent", parts, taskId, contextId };
}

const isText = (part: Part | undefined): boolean => part?.kind === "text";
/** Whether the reply contains the artifact. */
const isInReply = (task: Task, { parts }: Artifact): boolean => !task.status.message && parts.every(isText);

function toMetadata({ usage = {} }: Task, agent: string): JsonObject {
  return {
    "x-arbiter.agent_id": agent,
    "x-arbiter.input_tokens": usage.inputTokens ?? 0,
    "x-arbiter.output_tokens": usage.outputTokens ?? 0,
  };
}

/** The counters in snake_case: `input_tokens`. */
export const encodeUsage = (usage: Usage): JsonObject =>
  Object.fromEntries(
    Object.entries(usage).map(([name, count]) => [
      name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      count,
    ]),
  );

/** Text artifacts are numbered, and "response" if they have no name. Neither changes while text is appended. */
function encodeArtifact(task: Task, artifact: Artifact): JsonObject {
  const { artifactId } = artifact;
  const texts = task.artifacts.filter(one => isText(one.parts[0]));
  const at = texts.findIndex(one => one.artifactId === artifactId);
  if (at === -1) return encodeV03Artifact(artifact);
  const name = texts[at]?.name ?? "response";
  return encodeV03Artifact({ ...artifact, artifactId: `${task.id}-text-${at}`, name });
}

/** `final` is true on the event after which the stream ends. */
export function encodeStep(step: Step, closing: boolean): EncodedStep | null {
  const { event } = step;
  switch (event?.type) {
    case "artifact":
      return { event: "message", data: encodeChunk(step, event), stableTaskFields: true };
    case undefined:
    case "answered":
      return closing ? encodeUpdate(step, true) : null;
    case "started":
    case "reply":
    case "status":
      return encodeUpdate(step, closing, event.type === "status" ? event.metadata : undefined);
    case "usage":
      return encodeUpdate(step, closing, { "x-arbiter.usage": encodeUsage(event.usage) });
    case "created":
    case "message":
    case "incoming":
    case "noted":
    case "chunk":
    case "released":
    case "shown":
    case "cancel":
      return null;
  }
}

function encodeChunk(step: Step, event: TaskEvent & { type: "artifact" }): JsonObject {
  return {
    kind: "artifact-update",
    taskId: step.taskId,
    contextId: step.contextId,
    artifact: encodeArtifact(step.task, event.artifact),
    append: event.append,
    ...(event.last && { lastChunk: true }),
    ...(event.metadata && { metadata: event.metadata }),
  };
}

function encodeUpdate(step: Step, closing: boolean, metadata?: JsonObject): EncodedStep {
  const { task } = step;
  const status = isSettled(task.status.state) ? toStatus(task) : task.status;
  const data = {
    kind: "status-update",
    taskId: step.taskId,
    contextId: step.contextId,
    status: encodeV03Status(status),
    final: closing,
    ...(metadata && { metadata }),
  };
  return { event: "message", data };
}

// ---- cards ---------------------------------------------------------------------------------------------------

/** The shape of v0.3 with another version. Arbiter accepts only text, whatever the agent accepts elsewhere. */
function encodeCard({ agent, security }: CardResult, url: string): JsonObject {
  const { card } = agent;
  return {
    ...CARD_BASE,
    name: card.name,
    description: card.description,
    url,
    version: card.version,
    defaultOutputModes: card.outputModes,
    capabilities: { streaming: card.streaming, pushNotifications: card.push, stateTransitionHistory: false },
    skills: [CHAT_SKILL, ...(card.skills as unknown as readonly Json[])],
    ...encodeSecurityV03(security),
  };
}

const CARD_BASE = {
  protocolVersion: "1.0",
  preferredTransport: "JSONRPC",
  defaultInputModes: ["text/plain"],
};

const CHAT_SKILL = {
  id: "chat",
  name: "chat",
  description: "Free-form text conversation with the agent",
  tags: ["text"],
};

const DISCOVER_SKILL = {
  id: "discover",
  name: "discover",
  description: "Find the card of an agent at /v1/a2a/agents/<agent_id>/agent-card.json",
  tags: ["discovery"],
};

/** Where no agent is named: how to find the card of one. */
function encodeStubCard(base: string): JsonObject {
  return {
    ...CARD_BASE,
    name: "arbiter",
    description: "Agents have a card each: /v1/a2a/agents/<agent_id>/agent-card.json",
    url: `${base}/v1/a2a`,
    version: "stub",
    defaultOutputModes: ["text/plain", "application/json"],
    capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
    skills: [DISCOVER_SKILL],
  };
}

export function encodeResult(operation: Operation, result: OperationResult): Json {
  switch (result.kind) {
    case "task":
      return encodeTaskResult(operation, result.task);
    case "page":
      return { ...encodeV03Page(result.page), tasks: result.page.tasks.map(task => encodeTask(task)) };
    case "card":
      if (operation.form === REQUEST_FORM)
        return encodeAgent(result.agent, operation.agent === undefined ? INDEX : result.agent.name);
      if (operation.form === "stub") return encodeStubCard(result.base);
      return encodeCard(result, `${result.base}/v1/a2a/agents/${result.agent.name}`);
    case "push":
    case "pushes":
    case "nothing":
      return encodeV03Push(result);
    case "agents":
      return encodeAgents(result.agents, result.fallback);
    case "message":
      throw new Error(`Arbiter cannot encode a result of the kind "${result.kind}"`);
  }
}

/** The members that this server knows: prompts and models of agents are not shown to callers. */
const encodeAgent = ({ card }: Agent, id: string): JsonObject => ({
  id,
  name: card.name,
  role: id === INDEX ? "orchestrator" : "agent",
  goal: card.description,
  rules: [],
  capabilities: card.skills.map(skill => skill.id),
});

/** `index` is first: the default agent, which has an entry of its own as well. */
function encodeAgents(agents: readonly Agent[], fallback: AgentName | undefined): JsonObject {
  const index = agents.find(({ name }) => name === fallback);
  const rows = agents.map(agent => encodeAgent(agent, agent.name));
  const all = index ? [encodeAgent(index, INDEX), ...rows] : rows;
  return { count: all.length, agents: all };
}

/** An agent that threw is an error of `message/send`, and a failed task everywhere else. */
function encodeTaskResult(operation: Operation, task: Task): Json {
  const { status } = task;
  if (operation.form === REQUEST_FORM) return { request_id: task.id, cancelled: true };
  if (operation.op === "send" && status.broken)
    throw new Fault("invalid-agent-response", textOf(status.message?.parts ?? []), { taskId: task.id });
  // Callers of the default agent know it under this name.
  return encodeTask(task, operation.agent === undefined ? INDEX : task.agent);
}
