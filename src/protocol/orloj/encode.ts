import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import {
  type Artifact,
  isTerminal,
  type Message,
  metadataOf,
  type Step,
  type Task,
  textOf,
} from "../../model/index.ts";
import type { CardResult, EncodedStep, Operation, OperationResult } from "../../ports/index.ts";
import { encodeSecurityV01 } from "../shared/card-security.ts";
import { encodeV01Artifact, encodeV01Parts, encodeV01Push, getCallerTaskId } from "../shared/v01-encode.ts";
import { allowsData, STATES } from "./names.ts";
import { RESOURCE_FORM, SYSTEM_PATH } from "./routes.ts";

/** `history`: only for agents whose card has stateTransitionHistory. */
export function encodeTask(task: Task, history: boolean): JsonObject {
  const { state } = task.status;
  const message = findStatusMessage(task);
  const out: Record<string, Json> = {
    id: getCallerTaskId(task),
    status: message ? { state: STATES[state], message: encodeMessage(message) } : { state: STATES[state] },
  };
  if (task.artifacts.length > 0 || isTerminal(state)) out.artifacts = task.artifacts.map(encodeArtifact);
  if (history && task.history.length > 0) out.history = task.history.map(encodeMessage);
  const metadata = encodeMetadata(task);
  if (metadata) out.metadata = metadata;
  return out;
}

type MessageContent = Pick<Message, "role" | "parts">;

/** Clients read the answer from the status: without a status message it is the text of the artifacts. */
function findStatusMessage(task: Task): MessageContent | undefined {
  const { state, message } = task.status;
  if (message) return message;
  if (state === "canceled") return toMessage([task.cancel?.reason ?? ""]);
  if (state === "completed") return toMessage(task.artifacts.map(({ parts }) => textOf(parts)));
  return undefined;
}

function toMessage(texts: readonly string[]): MessageContent | undefined {
  const parts = texts.filter(text => text !== "").map(text => ({ kind: "text" as const, text }));
  return parts.length > 0 ? { role: "agent", parts } : undefined;
}

const encodeMessage = ({ role, parts }: MessageContent): JsonObject => ({
  role,
  parts: encodeV01Parts(parts, allowsData),
});

const encodeArtifact = (artifact: Artifact, index: number): JsonObject =>
  encodeV01Artifact({ ...artifact, name: artifact.name ?? artifact.artifactId }, index, allowsData);

/** Metadata is a map of strings; other values come from other dialects and are sent as JSON text. */
function encodeMetadata(task: Task): JsonObject | undefined {
  const reason = task.status.state === "canceled" ? task.cancel?.reason : undefined;
  const metadata = metadataOf(task);
  if (!metadata && reason === undefined) return undefined;
  const texts = Object.entries(metadata ?? {}).map(([name, value]) => [name, toText(value)] as const);
  return Object.fromEntries(reason === undefined ? texts : [...texts, ["reason", reason] as const]);
}

const toText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A frame is the whole task: there is one for each status change and none for each chunk of text. */
export function encodeStep(step: Step): EncodedStep | null {
  switch (step.event?.type) {
    case undefined:
    case "message":
    case "started":
    case "status":
    case "reply":
      return { event: "status", data: encodeTask(step.task, false), bare: true };
    case "artifact":
    case "created":
    case "answered":
    case "incoming":
    case "noted":
    case "chunk":
    case "released":
    case "shown":
    case "cancel":
    case "usage":
      return null;
  }
}

function encodeCard({ agent, security }: CardResult, url: string): JsonObject {
  const { card, inputSchema, skillSchemas } = agent;
  return defined<JsonObject>({
    name: card.name,
    description: card.description,
    url,
    version: card.version,
    provider: card.provider as unknown as Json,
    capabilities: {
      streaming: card.streaming,
      pushNotifications: card.push,
      stateTransitionHistory: card.stateTransitionHistory,
    },
    ...encodeSecurityV01(security),
    skills: card.skills.map(({ id, name, description, tags }) =>
      defined<JsonObject>({
        id,
        name,
        description,
        tags,
        inputSchema: skillSchemas?.[id]?.input ?? inputSchema,
      }),
    ),
  });
}

/** The resource that Orloj calls an AgentSystem, with the one agent that it is here. */
function encodeSystem({ agent, security }: CardResult): JsonObject {
  const { name, card } = agent;
  return {
    apiVersion: "orloj.dev/v1",
    kind: "AgentSystem",
    metadata: {
      name,
      namespace: "default",
      annotations: { "orloj.dev/description": card.description },
    },
    spec: { agents: [name], a2a: { enabled: true, auth: security.length > 0 ? "bearer" : "public" } },
    status: { phase: "Ready" },
  };
}

export function encodeResult(operation: Operation, result: OperationResult): Json {
  switch (result.kind) {
    case "task":
      return encodeTask(result.task, result.agent.card.stateTransitionHistory);
    case "agents":
      return { items: result.cards.map(encodeSystem) };
    case "card":
      if (operation.form === RESOURCE_FORM) return encodeSystem(result);
      return encodeCard(result, `${result.base}${SYSTEM_PATH.replace("{agent}", result.agent.name)}/a2a`);
    case "push":
      return encodeV01Push(result);
    case "nothing":
      return null;
    case "message":
    case "page":
    case "pushes":
      throw new Error(`Orloj cannot encode a result of the kind "${result.kind}"`);
  }
}
