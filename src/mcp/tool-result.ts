/** Tasks and messages as tool results. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { JsonObject } from "../lib/json.ts";
import { isTerminal, type Message, mediaTypeOf, type Part, type Task, textOf } from "../model/index.ts";
import { GET_TASK } from "./tool-list.ts";

/** `tool`: the tool that takes the answer to a question of the agent; undefined: not known. */
export function toResult(task: Task, tool: string | undefined): CallToolResult {
  const { state, message } = task.status;
  const parts = [...task.artifacts.flatMap(artifact => artifact.parts), ...(message?.parts ?? [])];
  const hint = hintFor(task, tool);
  return {
    content: [...parts.map(toBlock), ...(hint === undefined ? [] : [toText(hint)])],
    structuredContent: { task: task.id, context: task.contextId, state, ...contentIn(parts) },
    isError: isTerminal(state) && state !== "completed",
  };
}

export const toReply = (message: Message): CallToolResult => ({
  content: message.parts.map(toBlock),
  structuredContent: {
    ...(message.contextId && { context: message.contextId }),
    ...contentIn(message.parts),
  },
});

export const toError = (text: string): CallToolResult => ({ content: [toText(text)], isError: true });

const toText = (text: string): ContentBlock => ({ type: "text", text });

/** What the caller can do next. */
function hintFor({ id, status }: Task, tool: string | undefined): string | undefined {
  switch (status.state) {
    case "submitted":
    case "working":
      return `The agent is still working. Call ${GET_TASK} with the task ${id}.`;
    case "input-required":
    case "auth-required":
      return `The agent requires input: call ${tool ?? "its tool"} again with the message and the task ${id}.`;
    default:
      return undefined;
  }
}

/** Some clients show nothing but the structured content where there is one: it has the text, too. */
function contentIn(parts: readonly Part[]): JsonObject {
  const data = parts.filter(part => part.kind === "data").map(part => part.data);
  const text = textOf(parts);
  return { ...(text !== "" && { text }), ...(data.length > 0 && { data }) };
}

function toBlock(part: Part): ContentBlock {
  switch (part.kind) {
    case "text":
      return toText(part.text);
    case "data":
      return toText(JSON.stringify(part.data));
    case "url": {
      const name = part.filename ?? part.url;
      return { type: "resource_link", uri: part.url, name, mimeType: mediaTypeOf(part) };
    }
    case "bytes":
      return toFile(part, mediaTypeOf(part));
  }
}

function toFile({ bytes, filename }: Part & { kind: "bytes" }, mimeType: string): ContentBlock {
  if (mimeType.startsWith("image/")) return { type: "image", data: bytes, mimeType };
  if (mimeType.startsWith("audio/")) return { type: "audio", data: bytes, mimeType };
  const uri = `file:///${encodeURIComponent(filename ?? "file")}`;
  return { type: "resource", resource: { uri, mimeType, blob: bytes } };
}
