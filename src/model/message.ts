import type { Json, JsonObject } from "../lib/json.ts";
import type { ContextId, TaskId } from "./ids.ts";

interface PartExtras {
  readonly filename?: string;
  readonly mediaType?: string;
  readonly metadata?: JsonObject;
}
export type TextPart = PartExtras & { readonly kind: "text"; readonly text: string };
/** `bytes` is standard base64, on the wire and in the store. */
export type BytesPart = PartExtras & { readonly kind: "bytes"; readonly bytes: string };
export type UrlPart = PartExtras & { readonly kind: "url"; readonly url: string };
export type DataPart = PartExtras & { readonly kind: "data"; readonly data: Json };
export type Part = TextPart | BytesPart | UrlPart | DataPart;

export type Role = "user" | "agent";

export interface Message {
  readonly messageId: string;
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly taskId?: TaskId;
  readonly contextId?: ContextId;
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
  readonly referenceTaskIds?: readonly string[];
}

export interface Artifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
}

/** The text parts, concatenated. */
export function textOf(parts: readonly Part[]): string {
  let text = "";
  for (const part of parts) if (part.kind === "text") text += part.text;
  return text;
}

/** v1 §4.1.6: text without a media type is text/plain, data is application/json. */
export function mediaTypeOf(part: Part): string {
  if (part.mediaType) return part.mediaType;
  if (part.kind === "text") return "text/plain";
  return part.kind === "data" ? "application/json" : "application/octet-stream";
}
