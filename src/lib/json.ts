export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Removes members that are undefined: an optional member is absent rather than present and undefined. */
export function defined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  const out: Record<string, unknown> = {};
  for (const key in value) if (value[key] !== undefined) out[key] = value[key];
  return out as T;
}

/** Compares two values as JSON: a member that is undefined counts as absent. */
export function isDeepEqual(left: unknown, right: unknown): boolean {
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
    return left === right;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [a, b] = [left, right] as [Record<string, unknown>, Record<string, unknown>];
  return Object.keys({ ...a, ...b }).every(key => isDeepEqual(a[key], b[key]));
}

/** true, "true" and "yes"; false, "false" and "no"; case and surrounding space do not count. undefined: neither. */
export function toBoolean(value: Json | undefined): boolean | undefined {
  const word = typeof value === "string" ? value.trim().toLowerCase() : value;
  if (word === true || word === "true" || word === "yes") return true;
  return word === false || word === "false" || word === "no" ? false : undefined;
}

/**
 * The JSON of a value in one line, as events of a stream have it: JSON may contain U+2028 and U+2029, which some clients read
 * as line ends.
 */
export function toJsonLine(value: Json): string {
  const json = JSON.stringify(value);
  return /[\u2028\u2029]/.test(json)
    ? json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
    : json;
}
