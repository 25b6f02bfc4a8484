import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { type ContextId, Fault, LIMITS, type Part, type TaskId } from "../../model/index.ts";
import type { WireCall } from "../../ports/index.ts";

/** Readers of single fields. Each throws a Fault that names the field and the expected value. */

export const invalidField = (field: string, expected: string): Fault =>
  new Fault("invalid-params", `${field} ${expected}`, { field });

export const joinPath = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

const snakeCaseNames = new Map<string, string>();
function toSnakeCase(name: string): string {
  let snakeCase = snakeCaseNames.get(name);
  if (snakeCase === undefined)
    snakeCaseNames.set(name, (snakeCase = name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)));
  return snakeCase;
}

/** ProtoJSON: camelCase or snake_case; null is the same as absent. */
export function getMember(object: JsonObject, name: string): Json | undefined {
  return object[name] ?? object[toSnakeCase(name)] ?? undefined;
}

export { isObject };

export function readObject(from: JsonObject, name: string, path: string): JsonObject | undefined {
  const value = getMember(from, name);
  if (value === undefined || isObject(value)) return value;
  throw invalidField(joinPath(path, name), "must be an object");
}

export function requireObject(from: JsonObject, name: string, path: string): JsonObject {
  const value = readObject(from, name, path);
  if (value) return value;
  throw invalidField(joinPath(path, name), "is required");
}

/** JSON-RPC §4.2 allows an array or no params at all; A2A methods have named parameters. */
export function readParams(call: WireCall): JsonObject {
  if (isObject(call.params)) return call.params;
  throw invalidField("params", "must be an object");
}

export function readString(from: JsonObject, name: string, path: string): string | undefined {
  const value = getMember(from, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalidField(joinPath(path, name), "must be a string");
  if (!value.isWellFormed())
    throw invalidField(joinPath(path, name), "must be well-formed Unicode (it has half a surrogate pair)");
  return value;
}

/** An id that the caller chose is used as a key: its length is limited, control characters are refused. Empty is absent. */
export function readId(from: JsonObject, name: string, path: string): string | undefined {
  const value = readString(from, name, path);
  if (value === undefined || value === "") return undefined;
  if (value.length > LIMITS.idCharsMax)
    throw invalidField(joinPath(path, name), `must have at most ${LIMITS.idCharsMax} characters`);
  if (hasControlCharacters(value))
    throw invalidField(joinPath(path, name), "must not contain control characters");
  return value;
}

export function hasControlCharacters(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

export function requireId(from: JsonObject, name: string, path: string): string {
  const value = readId(from, name, path);
  if (value === undefined)
    throw invalidField(joinPath(path, name), "is required and must be a non-empty string");
  return value;
}

export const readTaskId = (from: JsonObject, name: string, path: string): TaskId | undefined =>
  readId(from, name, path) as TaskId | undefined;
export const readContextId = (from: JsonObject, name: string, path: string): ContextId | undefined =>
  readId(from, name, path) as ContextId | undefined;

export function readBoolean(from: JsonObject, name: string, path: string): boolean | undefined {
  const value = getMember(from, name);
  if (value === undefined || typeof value === "boolean") return value;
  throw invalidField(joinPath(path, name), "must be true or false");
}

export function readInteger(
  from: JsonObject,
  name: string,
  path: string,
  range: { min: number; max: number },
): number | undefined {
  const value = getMember(from, name);
  if (value === undefined) return undefined;
  // ProtoJSON allows an integer as a string of digits.
  const number = typeof value === "string" && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number) || number < range.min || number > range.max)
    throw invalidField(joinPath(path, name), `must be an integer from ${range.min} to ${range.max}`);
  return number;
}

export function readStrings(from: JsonObject, name: string, path: string): readonly string[] | undefined {
  const value = getMember(from, name);
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.some(one => typeof one !== "string" || !one.isWellFormed()))
    throw invalidField(joinPath(path, name), "must be an array of strings");
  if (value.length > LIMITS.listEntriesMax)
    throw invalidField(joinPath(path, name), `must have at most ${LIMITS.listEntriesMax} entries`);
  return value as readonly string[];
}

/** Free-form JSON that is stored: the depth is limited, because JSON serialisers are recursive. */
export function checkJson(value: Json, path: string, depth = 0): void {
  if (typeof value === "string") {
    if (!value.isWellFormed())
      throw invalidField(path, "must be well-formed Unicode (it has half a surrogate pair)");
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) throw invalidField(path, "has a number that is too large");
  } else if (typeof value === "object" && value !== null) {
    if (depth >= LIMITS.jsonDepthMax)
      throw invalidField(path, `must not be nested deeper than ${LIMITS.jsonDepthMax}`);
    for (const key in value as JsonObject) {
      if (!key.isWellFormed()) throw invalidField(path, "has a name that is not well-formed Unicode");
      checkJson((value as JsonObject)[key] as Json, path, depth + 1);
    }
  }
}

export function readMetadata(from: JsonObject, path: string): JsonObject | undefined {
  const value = readObject(from, "metadata", path);
  if (value) checkJson(value, joinPath(path, "metadata"));
  return value;
}

/** The parts of a message: at least one, not too many. `decodePart` knows the shape of one. */
export function decodeParts(
  from: JsonObject,
  name: string,
  path: string,
  decodePart: (part: JsonObject, path: string) => Part,
): readonly Part[] {
  const value = getMember(from, name);
  const field = joinPath(path, name);
  if (!Array.isArray(value) || value.length === 0)
    throw invalidField(field, "must be an array with at least one part");
  if (value.length > LIMITS.partsMax) throw invalidField(field, `must have at most ${LIMITS.partsMax} parts`);
  return value.map((part: Json, i) => {
    if (!isObject(part)) throw invalidField(`${field}[${i}]`, "must be an object");
    return decodePart(part, `${field}[${i}]`);
  });
}

/** Base64, standard or URL-safe, padded or not; returned in the standard alphabet with padding. */
export function normalizeBase64(text: string, path: string): string {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text) || text.replace(/=+$/, "").length % 4 === 1)
    throw invalidField(path, "must be base64");
  if (!/[-_]/.test(text) && text.length % 4 === 0) return text;
  const standard = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return standard + "=".repeat((4 - (standard.length % 4)) % 4);
}

/** In metadata: the last event that a client has, for clients that cannot set the header Last-Event-ID. */
export const AFTER_SEQUENCE = "afterSequence";

/** The metadata of a request without `afterSequence`, so that a retry of a stream has the same content. */
export function readRequestMetadata(params: JsonObject): JsonObject | undefined {
  const metadata = readMetadata(params, "");
  if (!metadata || getMember(metadata, AFTER_SEQUENCE) === undefined) return metadata;
  const { [AFTER_SEQUENCE]: _, [toSnakeCase(AFTER_SEQUENCE)]: __, ...rest } = metadata;
  return Object.keys(rest).length > 0 ? rest : undefined;
}
