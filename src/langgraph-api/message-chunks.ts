/** Chunks of a message of LangChain, joined. */
import type { Json, JsonObject } from "../lib/json.ts";

/** The message so far and one chunk more. */
export function accumulate(whole: JsonObject, chunk: JsonObject): JsonObject {
  return {
    ...whole,
    ...chunk,
    content: joinContent(whole.content ?? "", chunk.content ?? ""),
    tool_call_chunks: [...listOf(whole.tool_call_chunks), ...listOf(chunk.tool_call_chunks)],
    tool_calls: listOf(chunk.tool_calls).length > 0 ? (chunk.tool_calls as Json) : (whole.tool_calls ?? []),
  };
}

const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];

function joinContent(whole: Json, more: Json): Json {
  if (typeof whole === "string" && typeof more === "string") return whole + more;
  const blocks = (content: Json): readonly Json[] =>
    typeof content === "string" ? (content === "" ? [] : [{ type: "text", text: content }]) : listOf(content);
  return [...blocks(whole), ...blocks(more)];
}

/** LangGraph for Python names the class; for JavaScript a chunk has a member that whole messages lack. */
export const isAiChunk = (message: JsonObject): boolean =>
  message.type === "AIMessageChunk" || (message.type === "ai" && message.tool_call_chunks !== undefined);
