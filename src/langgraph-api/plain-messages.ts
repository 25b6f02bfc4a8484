/** Tasks of agents that are no graphs, as messages of LangChain. */
import { defined, type Json, type JsonObject } from "../lib/json.ts";
import { type Artifact, type Message, mediaTypeOf, type Part, type Task, textOf } from "../model/index.ts";

/** The id of the message that an artifact is: the same in a stream and in the state. */
export const artifactMessageId = (taskId: string, artifactId: string): string => `${taskId}.${artifactId}`;

/** What a caller and an agent have said in a task, oldest first. */
export function toMessages(task: Task): readonly JsonObject[] {
  const { history, status } = task;
  const said = history.flatMap((message, i) => {
    if (message.role === "user") return [toHuman(message)];
    // Other status messages were progress, not part of the conversation.
    return history[i + 1]?.role === "user" ? [toAi(message.messageId, message.parts)] : [];
  });
  const artifacts = task.artifacts.map(artifact => toArtifactMessage(task, artifact));
  const last = task.reply ?? (status.state === "working" ? undefined : status.message);
  return [...said, ...artifacts, ...(last ? [toAi(last.messageId, last.parts)] : [])];
}

export const toHuman = ({ messageId, parts }: Message): JsonObject => ({
  type: "human",
  content: toContent(parts),
  id: messageId,
  additional_kwargs: {},
  response_metadata: {},
});

export const toArtifactMessage = (
  task: Pick<Task, "id">,
  { artifactId, parts, name }: Artifact,
): JsonObject => toAi(artifactMessageId(task.id, artifactId), parts, name);

export const toAi = (id: string, parts: readonly Part[], name?: string): JsonObject =>
  defined<JsonObject>({
    type: "ai",
    content: toContent(parts),
    id,
    name,
    additional_kwargs: {},
    response_metadata: {},
    tool_calls: [],
    invalid_tool_calls: [],
  });

/** A piece of a streamed message. */
export const toAiChunk = (id: string, text: string): JsonObject => ({
  type: "AIMessageChunk",
  content: text,
  id,
  additional_kwargs: {},
  response_metadata: {},
  tool_calls: [],
  invalid_tool_calls: [],
  tool_call_chunks: [],
});

/** Text alone is a string, anything else a list of content blocks. */
function toContent(parts: readonly Part[]): Json {
  if (parts.every(part => part.kind === "text")) return textOf(parts);
  return parts.map(toBlock);
}

const FAMILIES: readonly string[] = ["image", "audio", "video"];

function toBlock(part: Part): JsonObject {
  if (part.kind === "text") return { type: "text", text: part.text };
  if (part.kind === "data") return { type: "text", text: JSON.stringify(part.data) };
  const mimeType = mediaTypeOf(part);
  const family = mimeType.split("/")[0] as string;
  const source =
    part.kind === "url" ? { source_type: "url", url: part.url } : { source_type: "base64", data: part.bytes };
  const metadata = part.filename === undefined ? {} : { metadata: { filename: part.filename } };
  return { type: FAMILIES.includes(family) ? family : "file", mime_type: mimeType, ...source, ...metadata };
}
