import type { Json, JsonObject } from "../lib/json.ts";
import { defined } from "../lib/json.ts";
import type { Artifact, ContextId, Message, Part, TaskId } from "../model/index.ts";
import type { Draft, RemoteState, RemoteTask } from "./types.ts";

/** Tiny readers of what another server sent. They take what they understand: a client is no judge of conformance. */
export const asObject = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
export const asList = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
export const asText = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;
export const has = (value: JsonObject, key: string): boolean => value[key] !== undefined;

/** What is empty was not said. */
const asWords = (value: Json | undefined): string | undefined => asText(value) || undefined;
export function asMetadata(value: Json | undefined): JsonObject | undefined {
  const metadata = asObject(value);
  return Object.keys(metadata).length > 0 ? metadata : undefined;
}
function asTexts(value: Json | undefined): readonly string[] | undefined {
  const texts = asList(value).filter(one => typeof one === "string");
  return texts.length > 0 ? texts : undefined;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Others write it without padding, or with the letters for URLs. */
export const asBase64 = (text: string): string =>
  BASE64.test(text) ? text : Buffer.from(text, "base64").toString("base64");

/** The client catches it and says who sent what. */
export const notAnAnswer = (): Error => new Error("This is no A2A answer");

/** How one version of the protocol spells states and parts; the rest of the objects is spelled alike. */
export interface Spelling {
  readonly states: Readonly<Record<string, RemoteState>>;
  readPart(part: JsonObject): Part;
  /** What a message calls its parts, if not `parts`. */
  readonly content?: string;
  /** What a task calls its context, if not `contextId`. */
  readonly context?: string;
}

export function readMessage(spelling: Spelling, value: Json | undefined): Message {
  const from = asObject(value);
  const parts = from[spelling.content ?? "parts"] ?? from.parts;
  return defined<Message>({
    messageId: asText(from.messageId) ?? "",
    role: /user/i.test(asText(from.role) ?? "") ? "user" : "agent",
    parts: asList(parts).map(part => spelling.readPart(asObject(part))),
    taskId: asWords(from.taskId) as TaskId | undefined,
    contextId: asWords(from.contextId) as ContextId | undefined,
    metadata: asMetadata(from.metadata),
    extensions: asTexts(from.extensions),
    referenceTaskIds: asTexts(from.referenceTaskIds),
  });
}

/** In dialects where artifacts are numbered, the number is what tells them apart. */
export function readArtifact(spelling: Spelling, value: Json | undefined): Artifact {
  const from = asObject(value);
  return defined<Artifact>({
    artifactId: asText(from.artifactId) || `artifact-${typeof from.index === "number" ? from.index : 0}`,
    name: asWords(from.name),
    description: asWords(from.description),
    parts: asList(from.parts).map(part => spelling.readPart(asObject(part))),
    metadata: asMetadata(from.metadata),
    extensions: asTexts(from.extensions),
  });
}

export function readStatus(spelling: Spelling, value: Json | undefined) {
  const from = asObject(value);
  const state = spelling.states[asText(from.state) ?? ""] ?? "unknown";
  const said = asList(asObject(from.message)[spelling.content ?? "parts"] ?? asObject(from.message).parts);
  return defined<Pick<RemoteTask, "state" | "message" | "at">>({
    state,
    message: said.length > 0 ? readMessage(spelling, from.message) : undefined,
    at: asText(from.timestamp),
  });
}

export function readTask(spelling: Spelling, value: Json | undefined): RemoteTask {
  const from = asObject(value);
  if (!has(from, "id") || !has(from, "status")) throw notAnAnswer();
  return {
    id: asText(from.id) ?? "",
    contextId: asText(from[spelling.context ?? "contextId"]) ?? "",
    ...readStatus(spelling, from.status),
    artifacts: asList(from.artifacts).map(artifact => readArtifact(spelling, artifact)),
    history: asList(from.history).map(message => readMessage(spelling, message)),
  };
}

/** What an update event says about its task. */
const readPlace = (from: JsonObject) => ({
  taskId: asText(from.taskId) ?? "",
  contextId: asText(from.contextId) ?? "",
});

export const readStatusUpdate = (spelling: Spelling, from: JsonObject) => ({
  kind: "status" as const,
  ...readPlace(from),
  ...readStatus(spelling, from.status),
  ...defined<{ metadata?: JsonObject }>({ metadata: asMetadata(from.metadata) }),
});

export const readArtifactUpdate = (spelling: Spelling, from: JsonObject) => ({
  kind: "artifact" as const,
  ...readPlace(from),
  artifact: readArtifact(spelling, from.artifact),
  append: from.append === true,
  last: from.lastChunk === true,
  ...defined<{ metadata?: JsonObject }>({ metadata: asMetadata(from.metadata) }),
});

/** What every dialect says alike of a message, but for its role, its parts and what it belongs to. */
export const writeFacts = (draft: Draft): JsonObject =>
  defined<JsonObject>({
    metadata: draft.metadata,
    extensions: draft.extensions,
    referenceTaskIds: draft.referenceTaskIds,
  });

/** Said openly, because servers of v0.3 disagree on what silence means. */
export const writeBlocking = ({ atOnce, accepts }: Draft): JsonObject =>
  defined<JsonObject>({ blocking: atOnce !== true, acceptedOutputModes: accepts });

/** Metadata of the call; the thread is a part of it (seed 001 of the LangGraph dialect). */
export function callMetadata({ callMetadata: said, thread }: Draft): { readonly metadata?: JsonObject } {
  if (thread === undefined) return said ? { metadata: said } : {};
  return { metadata: { ...said, thread_id: thread } };
}
