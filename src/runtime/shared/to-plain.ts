import type { Json } from "../../lib/json.ts";

/** Deeper than any stored value: only a cycle exceeds it. */
const LEVELS_MAX = 200;

/**
 * Converts a value of a library to JSON: bytes to base64, URLs and dates to strings, errors to name and message. Values
 * without a JSON form are left out.
 */
export function toPlain(value: unknown, levels = LEVELS_MAX): Json {
  return convert(value, levels) ?? null;
}

function convert(value: unknown, levels: number): Json | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object") return undefined;
  if (levels === 0) throw new TypeError("The value is nested too deeply, or contains a cycle");
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString("base64");
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (Array.isArray(value)) return value.map(inner => toPlain(inner, levels - 1));
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function") return toPlain(toJSON.call(value), levels - 1);
  const members = Object.entries(value).flatMap(([key, inner]): [string, Json][] => {
    const plain = convert(inner, levels - 1);
    return plain === undefined ? [] : [[key, plain]];
  });
  return Object.fromEntries(members);
}
