import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { Message, Part } from "./message.ts";

/** The data of a message, and the parts that carry it. */
export interface MessageInput {
  readonly value: Json;
  /** "text": a text that is a JSON object. */
  readonly carrier: "data" | "text" | "none";
}

/**
 * The input of a message as one value: the objects of its data parts, merged; one data part that is no object; or, without
 * data, a text that is a JSON object, because some callers can send nothing but text.
 */
export function inputOf(parts: readonly Part[]): MessageInput {
  const data = parts.filter(part => part.kind === "data");
  const [only] = data;
  if (only && data.length === 1) return { value: only.data, carrier: "data" };
  if (only) return { value: mergeData(parts) ?? {}, carrier: "data" };
  const object = parts.map(toJsonObject).find(found => found !== undefined);
  return object ? { value: object, carrier: "text" } : { value: {}, carrier: "none" };
}

/** The objects of all data parts; of members with the same name the last one counts. */
export function mergeData(parts: readonly Part[]): JsonObject | undefined {
  let merged: JsonObject | undefined;
  for (const part of parts)
    if (part.kind === "data" && isObject(part.data)) merged = { ...merged, ...part.data };
  return merged;
}

function toJsonObject(part: Part): JsonObject | undefined {
  if (part.kind !== "text" || !/^\s*\{/.test(part.text)) return undefined;
  try {
    const value = JSON.parse(part.text) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The part that a member of the input comes from, or would have to be in. */
export function findCarrier(parts: readonly Part[], { carrier }: MessageInput, member: string): number {
  if (carrier === "text") return parts.findIndex(part => toJsonObject(part) !== undefined);
  const has = (part: Part): boolean =>
    part.kind === "data" && isObject(part.data) && Object.hasOwn(part.data, member);
  const owner = parts.findLastIndex(has);
  return owner === -1 ? parts.findLastIndex(part => part.kind === "data") : owner;
}

/** The skill that the caller names; A2A has no member for it. */
export function skillIdOf(
  message: Pick<Message, "metadata">,
  request: JsonObject | undefined,
): string | undefined {
  const named = message.metadata?.skillId ?? request?.skillId;
  return typeof named === "string" ? named : undefined;
}
