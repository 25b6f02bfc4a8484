import { isObject, type Json } from "../lib/json.ts";

/** Texts of one member, at most: `"chapters[*].text"` may name many. */
const TEXTS_MAX = 100;

/** The texts at a path such as `"title"`, `"chapters[*].text"`, `"tags[-1]"`, `"*"` or `"$"` (the whole value). */
export function textsAt(value: Json, path: string): readonly string[] {
  if (path === "$" || path === "") return [JSON.stringify(value)];
  let found: readonly Json[] = [value];
  for (const token of path.match(/\[[^\]]*\]|[^.[\]]+/g) ?? [])
    found = found.flatMap(one => membersAt(one, token)).slice(0, TEXTS_MAX);
  return found.flatMap(toText);
}

function membersAt(value: Json, token: string): readonly Json[] {
  if (token === "*" || token === "[*]")
    return Array.isArray(value) ? value : token === "*" && isObject(value) ? Object.values(value) : [];
  if (token.startsWith("[")) {
    const index = /^\[-?\d{1,6}\]$/.test(token) ? Number(token.slice(1, -1)) : Number.NaN;
    const member = Array.isArray(value) ? (value as readonly Json[]).at(index) : undefined;
    return Number.isNaN(index) || member === undefined ? [] : [member];
  }
  return isObject(value) && Object.hasOwn(value, token) ? [value[token] as Json] : [];
}

function toText(value: Json): readonly string[] {
  if (value === null || value === "") return [];
  return [typeof value === "object" ? JSON.stringify(value) : String(value)];
}
