import type { Json } from "../model/index.ts";

/**
 * RFC 8785: one text for one value. Members by the UTF-16 units of their names, numbers and strings as ECMAScript writes
 * them, nothing between them.
 */
export function canonical(value: Json): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${value} is no JSON`);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${quoted(name)}:${canonical(inner as Json)}`).join(",")}}`;
}

function quoted(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("half a character cannot be signed");
  return JSON.stringify(text);
}
