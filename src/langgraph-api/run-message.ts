/** The message that a run is in the log: what other protocols show of it, and what an agent that is no graph gets. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { Part } from "../model/index.ts";
import type { Agent } from "../ports/index.ts";
import { invalidField, normalizeBase64 } from "../protocol/shared/fields.ts";
import type { RunBody } from "./run-body.ts";

export function toParts(run: RunBody, { graph, checkInput }: Agent): readonly Part[] {
  const resume = run.command?.resume;
  if (resume !== undefined && resume !== null) return [toPart(resume)];
  const parts = isObject(run.input) ? toInputParts(run.input, graph !== undefined) : [];
  if (parts.length > 0) return parts;
  if (typeof run.input === "string" && run.input !== "") return [{ kind: "text", text: run.input }];
  // An agent with a schema decides whether it needs members.
  if (graph || (checkInput && isObject(run.input)))
    return [{ kind: "data", data: run.input ?? run.command ?? {} }];
  throw invalidField("input", "is required: { messages: [{ role, content }] }");
}

const toPart = (value: Json): Part =>
  typeof value === "string" && value !== "" ? { kind: "text", text: value } : { kind: "data", data: value };

/** A graph gets its input as it is: there the parts are for readers of other protocols only. */
function toInputParts({ messages, ...data }: JsonObject, isGraph: boolean): readonly Part[] {
  const all: readonly Json[] = Array.isArray(messages) ? messages : messages === undefined ? [] : [messages];
  const last = all.findLastIndex(one => !isFromUser(one));
  const parts = all.slice(last + 1).flatMap(one => toContentParts(contentOf(one), isGraph));
  return Object.keys(data).length > 0 ? [...parts, { kind: "data", data }] : parts;
}

function isFromUser(message: Json): boolean {
  if (typeof message === "string") return true;
  const role = isObject(message)
    ? (message.type ?? message.role)
    : Array.isArray(message)
      ? message[0]
      : undefined;
  return role === "human" || role === "user";
}

function contentOf(message: Json): Json {
  if (isObject(message)) return message.content ?? "";
  return Array.isArray(message) ? ((message[1] as Json | undefined) ?? "") : message;
}

function toContentParts(content: Json, isGraph: boolean): readonly Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  if (!Array.isArray(content)) return [{ kind: "data", data: content }];
  return content.flatMap((block: Json) => {
    if (isObject(block) && typeof block.text === "string")
      return [{ kind: "text" as const, text: block.text }];
    const file = isObject(block) && !isGraph ? toFile(block) : undefined;
    return file ? [file] : [{ kind: "data" as const, data: block }];
  });
}

/** LangChain's content blocks: `image_url`, and files with `source_type` or in their newer form. */
function toFile(block: JsonObject): Part | undefined {
  const image = isObject(block.image_url) ? block.image_url.url : block.image_url;
  const url = typeof image === "string" ? image : block.url;
  const type = block.mime_type ?? block.mimeType;
  const mediaType = typeof type === "string" ? { mediaType: type } : {};
  if (typeof url === "string") {
    const [, media, bytes] = /^data:([\w.+-]+\/[\w.+-]+);base64,(.*)$/s.exec(url) ?? [];
    if (media === undefined || bytes === undefined) return { kind: "url", url, ...mediaType };
    return { kind: "bytes", bytes: normalizeBase64(bytes, "input.messages"), mediaType: media };
  }
  if (typeof block.data !== "string") return undefined;
  return { kind: "bytes", bytes: normalizeBase64(block.data, "input.messages"), ...mediaType };
}
