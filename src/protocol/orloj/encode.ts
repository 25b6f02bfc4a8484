import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import {
  type AgentSkill,
  type Artifact,
  isTerminal,
  type Message,
  metadataOf,
  type Step,
  type Task,
  textOf,
} from "../../model/index.ts";
import type { EncodedStep } from "../../ports/index.ts";
import type { CardAnswer } from "../shared/card.ts";
import { writeSecurityV01 } from "../shared/security.ts";
import { idOf, writeArtifact as writeNumbered, writeParts } from "../shared/type-write.ts";
import { carries, STATES } from "./names.ts";

/** `history`: only of agents whose card promises it. */
export function writeTask(task: Task, history: boolean): JsonObject {
  const { state } = task.status;
  const message = messageOf(task);
  const out: Record<string, Json> = {
    id: idOf(task),
    status: message ? { state: STATES[state], message: writeMessage(message) } : { state: STATES[state] },
  };
  if (task.artifacts.length > 0 || isTerminal(state)) out.artifacts = task.artifacts.map(writeArtifact);
  if (history && task.history.length > 0) out.history = task.history.map(writeMessage);
  const metadata = writeMetadata(task);
  if (metadata) out.metadata = metadata;
  return out;
}

type Words = Pick<Message, "role" | "parts">;

/** Callers look for the answer in the status: where an agent said nothing there, its results speak for it. */
function messageOf(task: Task): Words | undefined {
  const { state, message } = task.status;
  if (message) return message;
  if (state === "canceled") return toWords([task.cancel?.reason ?? ""]);
  if (state === "completed") return toWords(task.artifacts.map(({ parts }) => textOf(parts)));
  return undefined;
}

function toWords(texts: readonly string[]): Words | undefined {
  const parts = texts.filter(text => text !== "").map(text => ({ kind: "text" as const, text }));
  return parts.length > 0 ? { role: "agent", parts } : undefined;
}

const writeMessage = ({ role, parts }: Words): JsonObject => ({ role, parts: writeParts(parts, carries) });

const writeArtifact = (artifact: Artifact, index: number): JsonObject =>
  writeNumbered({ ...artifact, name: artifact.name ?? artifact.artifactId }, index, carries);

/** A map of strings; what other dialects put there is written as JSON. */
function writeMetadata(task: Task): JsonObject | undefined {
  const reason = task.status.state === "canceled" ? task.cancel?.reason : undefined;
  const metadata = metadataOf(task);
  if (!metadata && reason === undefined) return undefined;
  const texts = Object.entries(metadata ?? {}).map(([name, value]) => [name, toText(value)] as const);
  return Object.fromEntries(reason === undefined ? texts : [...texts, ["reason", reason] as const]);
}

const toText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A frame is the whole task, so there is one for each change of its status and none for each word. */
export function writeStep(step: Step): EncodedStep | null {
  switch (step.event?.type) {
    case undefined:
    case "message":
    case "started":
    case "status":
    case "reply":
      return { event: "status", data: writeTask(step.task, false), bare: true };
    case "artifact":
    case "created":
    case "answered":
    case "incoming":
    case "noted":
    case "released":
    case "shown":
    case "cancel":
    case "usage":
      return null;
  }
}

export function writeCard({ agent, security }: CardAnswer, url: string): JsonObject {
  const { card, inputSchema } = agent;
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
    ...writeSecurityV01(security),
    skills: card.skills.map(skill => writeSkill(skill, inputSchema)),
  });
}

const writeSkill = (
  { id, name, description, tags }: AgentSkill,
  inputSchema: JsonObject | undefined,
): JsonObject => defined<JsonObject>({ id, name, description, tags, inputSchema });
