/** Messages as the chat completions API has them. */
import type { AgentTask, Ctx } from "../../agent/definition.ts";
import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { type FileBytes, FileRefusal, readParts } from "../shared/files.ts";

export const toSystem = (content: string): JsonObject => ({ role: "system", content });
export const toAssistant = (content: string): JsonObject => ({ role: "assistant", content });

/** What the model said, if this is such a message. */
export function assistantText(message: Json | undefined): string {
  if (!isObject(message) || message.role !== "assistant") return "";
  return typeof message.content === "string" ? message.content : "";
}

/** Text alone is text: not all endpoints take parts. */
export async function toUser(task: AgentTask, ctx: Ctx): Promise<JsonObject> {
  const parts: JsonObject[] = [];
  for await (const part of readParts(task, ctx))
    parts.push(typeof part === "string" ? toText(part) : toPart(part));
  const isText = parts.every(part => part.type === "text");
  return { role: "user", content: isText ? parts.map(part => part.text).join("\n") : parts };
}

const toText = (text: string): JsonObject => ({ type: "text", text });

function toPart({ name, mediaType, bytes }: FileBytes): JsonObject {
  const url = (): string => `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`;
  if (mediaType.startsWith("image/")) return { type: "image_url", image_url: { url: url() } };
  if (mediaType === "application/pdf") return { type: "file", file: { filename: name, file_data: url() } };
  if (/^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml)$/.test(mediaType))
    return toText(`${name}:\n${new TextDecoder().decode(bytes)}`);
  throw new FileRefusal(`The model cannot read files of the type ${mediaType} (${JSON.stringify(name)})`);
}
