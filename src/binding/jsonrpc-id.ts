import type { Json } from "../lib/json.ts";
import { Fault, LIMITS } from "../model/index.ts";

/** The id of a JSON-RPC request as JSON text, exactly as it came. `text`: the whole request. */
export function readId(id: Json | undefined, text: string): string | undefined {
  if (id === undefined) return undefined;
  if (id === null) return "null";
  if (typeof id === "string" && id.length <= LIMITS.idCharsMax && id.isWellFormed())
    return JSON.stringify(id);
  if (typeof id === "number" && Number.isFinite(id)) {
    const source = Number.isSafeInteger(id) ? String(id) : sourceOfId(text);
    if (source && source.length <= LIMITS.idCharsMax) return source;
  }
  const message = `id must be a string or a number of at most ${LIMITS.idCharsMax} characters, or null`;
  throw new Fault("invalid-request", message, { field: "id" });
}

/** The id of a body that is otherwise not read; undefined: it has none, or is larger than the headers of a request may be. */
export function findId(body: Buffer): string | undefined {
  if (body.length > LIMITS.headerBytesMax) return undefined;
  try {
    const text = body.toString("utf8");
    return readId((JSON.parse(text) as { id?: Json } | null)?.id, text);
  } catch {
    return undefined;
  }
}

/**
 * The text of the number that is the envelope's own `id`: a double would change large integers. Walks the text once,
 * without recursion, because a body may be nested as deep as it is long. The text is known to be JSON.
 */
export function sourceOfId(text: string): string | null {
  let depth = 0;
  let found: string | null = null;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") depth -= 1;
    else if (char === '"') {
      const end = endOfString(text, i);
      if (depth === 1 && isIdKey(text, i, end)) found = numberAfter(text, end) ?? found;
      i = end;
    }
  }
  return found;
}

/** The index of the closing quote. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charAt(i) !== '"') i += text.charAt(i) === "\\" ? 2 : 1;
  return i;
}

/** A member name, not a value; it may be spelled with escapes. */
function isIdKey(text: string, start: number, end: number): boolean {
  return (
    end - start <= 13 &&
    JSON.parse(text.slice(start, end + 1)) === "id" &&
    /^\s*:/.test(text.slice(end + 1, end + 100))
  );
}

function numberAfter(text: string, end: number): string | null {
  const colon = text.indexOf(":", end);
  return /^\s*(-?\d[\d.eE+-]*)/.exec(text.slice(colon + 1, colon + 2_000))?.[1] ?? null;
}
