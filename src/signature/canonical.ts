import type { Json } from "../lib/json.ts";

/** RFC 8785: members sorted by UTF-16 units, numbers and strings as ECMAScript writes them, no white space. */
export function toCanonicalJson(value: Json): string {
  const pieces: string[] = [];
  write(value, pieces);
  return pieces.join("");
}

/** Pieces are joined once: joining at every level would copy deep values as often. */
function write(value: Json, pieces: string[]): void {
  if (typeof value === "string") pieces.push(quoted(value));
  else if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${value} is not JSON`);
  else if (typeof value !== "object" || value === null) pieces.push(JSON.stringify(value));
  else if (Array.isArray(value)) writeAll("[]", value, inner => write(inner, pieces), pieces);
  else {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    const writeMember = ([name, inner]: [string, Json]): void => {
      pieces.push(quoted(name), ":");
      write(inner, pieces);
    };
    writeAll("{}", members, writeMember, pieces);
  }
}

function writeAll<T>(around: string, all: readonly T[], writeOne: (one: T) => void, pieces: string[]): void {
  pieces.push(around[0] as string);
  all.forEach((one, i) => {
    if (i > 0) pieces.push(",");
    writeOne(one);
  });
  pieces.push(around[1] as string);
}

function quoted(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("A lone surrogate cannot be signed");
  return JSON.stringify(text);
}
