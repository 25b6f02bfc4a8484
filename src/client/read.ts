import { defined, isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { Artifact, ContextId, Message, Part, TaskId } from "../model/index.ts";
import type { OutgoingMessage, RemoteState, RemoteTask, StreamResponse, WebhookConfig } from "./types.ts";

/** Lenient readers of the JSON of other servers: a value of the wrong type counts as absent. */
export const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
export const asList = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
export const asText = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;
export const hasMember = (value: JsonObject, key: string): boolean => value[key] !== undefined;

/** Empty counts as absent. */
const asNonEmptyText = (value: Json | undefined): string | undefined => asText(value) || undefined;
export function asMetadata(value: Json | undefined): JsonObject | undefined {
  const metadata = asObject(value);
  return Object.keys(metadata).length > 0 ? metadata : undefined;
}
function asTexts(value: Json | undefined): readonly string[] | undefined {
  const texts = asList(value).filter(one => typeof one === "string");
  return texts.length > 0 ? texts : undefined;
}

/** Accepts base64 without padding, base64url, and line breaks. */
export function asBase64(text: string): string {
  const digits = text
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/[^\w+/]/g, "");
  const { length } = digits;
  // One digit is less than a byte.
  return length % 4 === 1 ? digits.slice(0, -1) : digits.padEnd(Math.ceil(length / 4) * 4, "=");
}

/** The caller adds the URL and an excerpt of the response. */
export const invalidResponse = (): Error => new Error("Not an A2A response");

/** How a version spells states and parts; the other members have the same names in all versions. */
export interface ResponseFormat {
  readonly states: Readonly<Record<string, RemoteState>>;
  readPart(part: JsonObject): Part;
  /** The member of a message with its parts, if not `parts`. */
  readonly content?: string;
  /** The member of a task with its context id, if not `contextId`. */
  readonly context?: string;
}

type PartDetails = Pick<Part, "filename" | "mediaType" | "metadata">;

/** `name` and `type`: the members with the file name and the media type. */
export const readPartDetails = (
  from: JsonObject,
  name: string,
  type: string,
  metadata: JsonObject | undefined,
): PartDetails =>
  defined<PartDetails>({
    filename: asNonEmptyText(from[name]),
    mediaType: asNonEmptyText(from[type]),
    metadata,
  });

const readParts = (format: ResponseFormat, from: JsonObject, member = "parts"): readonly Part[] =>
  asList(from[member] ?? from.parts).map(part => format.readPart(asObject(part)));

export function readMessage(format: ResponseFormat, value: Json | undefined): Message {
  const from = asObject(value);
  return defined<Message>({
    messageId: asText(from.messageId) ?? "",
    role: /user/i.test(asText(from.role) ?? "") ? "user" : "agent",
    parts: readParts(format, from, format.content),
    taskId: asNonEmptyText(from.taskId) as TaskId | undefined,
    contextId: asNonEmptyText(from.contextId) as ContextId | undefined,
    metadata: asMetadata(from.metadata),
    extensions: asTexts(from.extensions),
    referenceTaskIds: asTexts(from.referenceTaskIds),
  });
}

/** Dialects without `artifactId` number their artifacts. */
function readArtifact(format: ResponseFormat, value: Json | undefined): Artifact {
  const from = asObject(value);
  return defined<Artifact>({
    artifactId: asText(from.artifactId) || `artifact-${typeof from.index === "number" ? from.index : 0}`,
    name: asNonEmptyText(from.name),
    description: asNonEmptyText(from.description),
    parts: readParts(format, from),
    metadata: asMetadata(from.metadata),
    extensions: asTexts(from.extensions),
  });
}

function readStatus(format: ResponseFormat, value: Json | undefined) {
  const from = asObject(value);
  const message = readMessage(format, from.message);
  return defined<Pick<RemoteTask, "state" | "message" | "at">>({
    state: format.states[asText(from.state) ?? ""] ?? "unknown",
    message: message.parts.length > 0 ? message : undefined,
    at: asText(from.timestamp),
  });
}

export function readTask(format: ResponseFormat, value: Json | undefined): RemoteTask {
  const from = asObject(value);
  if (!hasMember(from, "id") || !hasMember(from, "status")) throw invalidResponse();
  return {
    id: asText(from.id) ?? "",
    contextId: asText(from[format.context ?? "contextId"]) ?? "",
    ...readStatus(format, from.status),
    artifacts: asList(from.artifacts).map(artifact => readArtifact(format, artifact)),
    history: asList(from.history).map(message => readMessage(format, message)),
  };
}

/** The members that both update events have. */
const readUpdate = (from: JsonObject) => ({
  taskId: asText(from.taskId) ?? "",
  contextId: asText(from.contextId) ?? "",
  ...defined<{ metadata?: JsonObject }>({ metadata: asMetadata(from.metadata) }),
});

export const readStatusUpdate = (format: ResponseFormat, from: JsonObject) => ({
  kind: "status" as const,
  ...readUpdate(from),
  ...readStatus(format, from.status),
});

export const readArtifactUpdate = (format: ResponseFormat, from: JsonObject) => ({
  kind: "artifact" as const,
  ...readUpdate(from),
  artifact: readArtifact(format, from.artifact),
  append: from.append === true,
  last: from.lastChunk === true,
});

/** ProtoJSON: a response has exactly one of four members (v1 §3.2.3). */
export function readWrapped(format: ResponseFormat, result: Json): StreamResponse {
  const from = asObject(result);
  if (from.task) return { kind: "task", task: readTask(format, from.task) };
  if (from.message) return { kind: "message", message: readMessage(format, from.message) };
  const status = asObject(from.statusUpdate);
  if (hasMember(status, "status")) return readStatusUpdate(format, status);
  const artifact = asObject(from.artifactUpdate);
  if (!hasMember(artifact, "artifact")) throw invalidResponse();
  return readArtifactUpdate(format, artifact);
}

/** Older versions have a list of schemes. */
export function readWebhook(value: Json | undefined): WebhookConfig {
  const from = asObject(value);
  const authentication = asObject(from.authentication);
  const scheme = asText(authentication.scheme) ?? asText(asList(authentication.schemes)[0]);
  const credentials = asNonEmptyText(authentication.credentials);
  return defined<WebhookConfig>({
    id: asNonEmptyText(from.id),
    url: asText(from.url) ?? "",
    token: asNonEmptyText(from.token),
    authentication: scheme ? { scheme, ...(credentials && { credentials }) } : undefined,
    events: from.events === "status" ? "status" : undefined,
    secret: asNonEmptyText(from.secret),
  });
}

/** The members of a message that every dialect spells alike. */
export const writeMessageExtras = (message: OutgoingMessage): JsonObject =>
  defined<JsonObject>({
    metadata: message.metadata,
    extensions: message.extensions,
    referenceTaskIds: message.referenceTaskIds,
  });

/** `blocking` is always sent, because v0.3 servers disagree on its default. */
export const writeConfiguration = ({ returnImmediately, accepts }: OutgoingMessage): JsonObject =>
  defined<JsonObject>({ blocking: returnImmediately !== true, acceptedOutputModes: accepts });

/** The metadata of the request, with the thread id as LangGraph servers read it. */
export function writeCallMetadata({ callMetadata, thread }: OutgoingMessage): {
  readonly metadata?: JsonObject;
} {
  if (thread === undefined) return callMetadata ? { metadata: callMetadata } : {};
  return { metadata: { ...callMetadata, thread_id: thread } };
}
