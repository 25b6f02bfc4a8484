import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import {
  BEGINNING,
  type ContextId,
  Fault,
  LIMITS,
  type Part,
  type Seq,
  type TaskId,
} from "../../model/index.ts";
import type { WireCall } from "../../ports/index.ts";

/** Tiny readers. Each says which field is wrong, what was expected there, and nothing else. */

export const bad = (field: string, expected: string): Fault =>
  new Fault("invalid-params", `${field} ${expected}`, { field });

export const at = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

const snakes = new Map<string, string>();
function snake(name: string): string {
  let made = snakes.get(name);
  if (made === undefined)
    snakes.set(name, (made = name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)));
  return made;
}

/** ProtoJSON: camelCase or snake_case, and null is the same as absent. */
export function member(object: JsonObject, name: string): Json | undefined {
  return object[name] ?? object[snake(name)] ?? undefined;
}

export { isObject };

export function readObject(from: JsonObject, name: string, path: string): JsonObject | undefined {
  const value = member(from, name);
  if (value === undefined || isObject(value)) return value;
  throw bad(at(path, name), "must be an object");
}

export function needObject(from: JsonObject, name: string, path: string): JsonObject {
  const value = readObject(from, name, path);
  if (value) return value;
  throw bad(at(path, name), "is required");
}

/** JSON-RPC §4.2 allows a list or nothing; this protocol's methods have named parameters. */
export function readParams(call: WireCall): JsonObject {
  if (isObject(call.params)) return call.params;
  throw bad("params", "must be an object");
}

export function readText(from: JsonObject, name: string, path: string): string | undefined {
  const value = member(from, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw bad(at(path, name), "must be a string");
  if (!value.isWellFormed())
    throw bad(at(path, name), "must be well-formed Unicode (it has half a surrogate pair)");
  return value;
}

/** An id that a caller chose: it becomes a key, so it is short and has no control characters. Empty is absent. */
export function readId(from: JsonObject, name: string, path: string): string | undefined {
  const value = readText(from, name, path);
  if (value === undefined || value === "") return undefined;
  if (value.length > LIMITS.idCharsMax)
    throw bad(at(path, name), `must have at most ${LIMITS.idCharsMax} characters`);
  if (hasControl(value)) throw bad(at(path, name), "must not contain control characters");
  return value;
}

export function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

export function needId(from: JsonObject, name: string, path: string): string {
  const value = readId(from, name, path);
  if (value === undefined) throw bad(at(path, name), "is required and must be a non-empty string");
  return value;
}

export const readTaskId = (from: JsonObject, name: string, path: string): TaskId | undefined =>
  readId(from, name, path) as TaskId | undefined;
export const readContextId = (from: JsonObject, name: string, path: string): ContextId | undefined =>
  readId(from, name, path) as ContextId | undefined;

export function readFlag(from: JsonObject, name: string, path: string): boolean | undefined {
  const value = member(from, name);
  if (value === undefined || typeof value === "boolean") return value;
  throw bad(at(path, name), "must be true or false");
}

export function readCount(
  from: JsonObject,
  name: string,
  path: string,
  range: { min: number; max: number },
): number | undefined {
  const value = member(from, name);
  if (value === undefined) return undefined;
  // ProtoJSON allows an integer as a string of digits.
  const number = typeof value === "string" && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number) || number < range.min || number > range.max)
    throw bad(at(path, name), `must be an integer from ${range.min} to ${range.max}`);
  return number;
}

export function readTexts(from: JsonObject, name: string, path: string): readonly string[] | undefined {
  const value = member(from, name);
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.some(one => typeof one !== "string" || !one.isWellFormed()))
    throw bad(at(path, name), "must be an array of strings");
  if (value.length > LIMITS.listEntriesMax)
    throw bad(at(path, name), `must have at most ${LIMITS.listEntriesMax} entries`);
  return value as readonly string[];
}

/** Free JSON that we keep: bounded in depth, because serialisers, ours and others', are recursive. */
export function checkJson(value: Json, path: string, depth = 0): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw bad(path, "must be well-formed Unicode (it has half a surrogate pair)");
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) throw bad(path, "has a number that is too large");
  } else if (typeof value === "object" && value !== null) {
    if (depth >= LIMITS.jsonDepthMax)
      throw bad(path, `must not be nested deeper than ${LIMITS.jsonDepthMax}`);
    for (const key in value as JsonObject) {
      if (!key.isWellFormed()) throw bad(path, "has a name that is not well-formed Unicode");
      checkJson((value as JsonObject)[key] as Json, path, depth + 1);
    }
  }
}

export function readMetadata(from: JsonObject, path: string): JsonObject | undefined {
  const value = readObject(from, "metadata", path);
  if (value) checkJson(value, at(path, "metadata"));
  return value;
}

/** Parts of a message: at least one, not too many; how one is spelled is the dialect's affair. */
export function readParts(
  from: JsonObject,
  name: string,
  path: string,
  readPart: (part: JsonObject, path: string) => Part,
): readonly Part[] {
  const value = member(from, name);
  const place = at(path, name);
  if (!Array.isArray(value) || value.length === 0)
    throw bad(place, "must be an array with at least one part");
  if (value.length > LIMITS.partsMax) throw bad(place, `must have at most ${LIMITS.partsMax} parts`);
  return value.map((part: Json, i) => {
    if (!isObject(part)) throw bad(`${place}[${i}]`, "must be an object");
    return readPart(part, `${place}[${i}]`);
  });
}

/** Base64, standard or URL-safe, padded or not; kept in the standard alphabet. */
export function readBase64(text: string, path: string): string {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text) || text.replace(/=+$/, "").length % 4 === 1)
    throw bad(path, "must be base64");
  if (!/[-_]/.test(text) && text.length % 4 === 0) return text;
  const standard = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return standard + "=".repeat((4 - (standard.length % 4)) % 4);
}

/**
 * Where a reader wants to go on: after the last event that it saw. As the header Last-Event-ID (WHATWG HTML §9.2), where
 * what is no number of ours means nothing; or, for those who cannot set headers, as `afterSequence` in the metadata.
 */
export function readLastEventId(call: WireCall): Seq | "snapshot" {
  const value = call.headers["last-event-id"]?.trim();
  if (value !== undefined && /^\d{1,15}$/.test(value)) return Math.max(BEGINNING, Number(value)) as Seq;
  const own = isObject(call.params) ? call.params.metadata : undefined;
  return readAfter(own) ?? readAfter(call.metadata) ?? "snapshot";
}

const AFTER = "afterSequence";

function readAfter(metadata: Json | undefined): Seq | undefined {
  if (!isObject(metadata)) return undefined;
  return readCount(metadata, AFTER, "metadata", { min: BEGINNING, max: 2 ** 31 - 1 }) as Seq | undefined;
}

/** The same where a reader that names no place hears everything. */
export function readLastOrBeginning(call: WireCall): Seq | "beginning" {
  const from = readLastEventId(call);
  return from === "snapshot" ? "beginning" : from;
}

/** The same for a stream that begins with a message: it matters if the call is a repeated one. */
export function readMissed(call: WireCall): { readonly from?: Seq } {
  const from = readLastEventId(call);
  return from === "snapshot" ? NOTHING_MISSED : { from };
}
const NOTHING_MISSED = {};

/** The metadata of a request without what is only for its reader: a repeated call says the same, wherever it goes on. */
export function readRequestMetadata(params: JsonObject): JsonObject | undefined {
  const metadata = readMetadata(params, "");
  if (!metadata || member(metadata, AFTER) === undefined) return metadata;
  const { [AFTER]: _, [snake(AFTER)]: __, ...rest } = metadata;
  return Object.keys(rest).length > 0 ? rest : undefined;
}

/** Extensions that the caller names; the older dialect spells the header with an X. */
export function readExtensions(call: WireCall): readonly string[] {
  const { headers } = call;
  const text = headers["a2a-extensions"] ?? headers["x-a2a-extensions"];
  return text === undefined
    ? []
    : text
        .split(",")
        .map(uri => uri.trim())
        .filter(uri => uri !== "");
}
