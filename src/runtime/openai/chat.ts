/** Messages of the chat completions API. */
import type { AgentTask, Ctx } from "../../agent/context.ts";
import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { type FileBytes, FileError, readParts } from "../shared/files.ts";

/** The text of a message of the model; empty for other messages. */
export function assistantText(message: Json | undefined): string {
  if (!isObject(message) || message.role !== "assistant") return "";
  return typeof message.content === "string" ? message.content : "";
}

/** The content is a string if there is only text: not all endpoints accept parts. */
export async function toUser(task: AgentTask, ctx: Ctx): Promise<JsonObject> {
  const parts: JsonObject[] = [];
  for await (const part of readParts(task, ctx))
    parts.push(typeof part === "string" ? { type: "text", text: part } : toFilePart(part));
  const isText = parts.every(part => part.type === "text");
  return { role: "user", content: isText ? parts.map(part => part.text).join("\n") : parts };
}

function toFilePart({ name, mediaType, bytes }: FileBytes): JsonObject {
  const toUrl = (): string => `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`;
  if (mediaType.startsWith("image/")) return { type: "image_url", image_url: { url: toUrl() } };
  if (mediaType === "application/pdf") return { type: "file", file: { filename: name, file_data: toUrl() } };
  if (/^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml)$/.test(mediaType))
    return { type: "text", text: `${name}:\n${new TextDecoder().decode(bytes)}` };
  throw new FileError(`The model cannot read files of the type ${mediaType} (${JSON.stringify(name)})`);
}
