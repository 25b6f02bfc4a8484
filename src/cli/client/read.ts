import type { Artifact, ContextId, Json, JsonObject, Message, Part, TaskId } from "../../model/index.ts";
import { defined } from "../../model/index.ts";
import type { RemoteState, RemoteTask } from "./view.ts";

/** Tiny readers of what another server sent. They take what they understand: the terminal is no judge of conformance. */
export const asObject = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
export const asList = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
export const asText = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;
export const has = (value: JsonObject, key: string): boolean => value[key] !== undefined;

/** The client catches it and says who sent what. */
export const notAnAnswer = (): Error => new Error("This is no A2A answer");

/** How one version of the protocol spells states and parts; the rest of the objects is spelled alike. */
export interface Spelling {
  readonly states: Readonly<Record<string, RemoteState>>;
  readPart(part: JsonObject): Part;
}

export function readMessage(spelling: Spelling, value: Json | undefined): Message {
  const from = asObject(value);
  return defined<Message>({
    messageId: asText(from.messageId) ?? "",
    role: /user/i.test(asText(from.role) ?? "") ? "user" : "agent",
    parts: asList(from.parts).map(part => spelling.readPart(asObject(part))),
    taskId: asText(from.taskId) as TaskId | undefined,
    contextId: asText(from.contextId) as ContextId | undefined,
  });
}

export function readArtifact(spelling: Spelling, value: Json | undefined): Artifact {
  const from = asObject(value);
  return defined<Artifact>({
    artifactId: asText(from.artifactId) ?? "",
    name: asText(from.name),
    description: asText(from.description),
    parts: asList(from.parts).map(part => spelling.readPart(asObject(part))),
  });
}

export function readStatus(spelling: Spelling, value: Json | undefined) {
  const from = asObject(value);
  const state = spelling.states[asText(from.state) ?? ""] ?? "unknown";
  return defined<Pick<RemoteTask, "state" | "message" | "at">>({
    state,
    message: has(asObject(from.message), "parts") ? readMessage(spelling, from.message) : undefined,
    at: asText(from.timestamp),
  });
}

export function readTask(spelling: Spelling, value: Json | undefined): RemoteTask {
  const from = asObject(value);
  if (!has(from, "id") || !has(from, "status")) throw notAnAnswer();
  return {
    id: asText(from.id) ?? "",
    contextId: asText(from.contextId) ?? "",
    ...readStatus(spelling, from.status),
    artifacts: asList(from.artifacts).map(artifact => readArtifact(spelling, artifact)),
    history: asList(from.history).map(message => readMessage(spelling, message)),
  };
}

/** What an update event says about its task. */
export const readPlace = (from: JsonObject) => ({
  taskId: asText(from.taskId) ?? "",
  contextId: asText(from.contextId) ?? "",
});
