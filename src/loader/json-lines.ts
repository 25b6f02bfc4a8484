/** The lines of the members of a JSON text, for errors. */

/** By the path of a member: `http.cors`. Lines begin with 1. */
export type JsonLines = ReadonlyMap<string, number>;

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|\n|[^\s{}[\]:,"]+/g;

interface Container {
  readonly path: string;
  readonly isArray: boolean;
  /** The next entry of an array, or the key of the next value of an object. */
  next: string;
  /** The last text of an object, which is a key if a colon follows. */
  text: string;
}

/** `text` must be valid JSON. */
export function findLines(text: string): JsonLines {
  const lines = new Map<string, number>();
  const stack: Container[] = [];
  let line = 1;
  const toPath = (key: string): string => {
    const path = stack.at(-1)?.path ?? "";
    return path === "" ? key : `${path}.${key}`;
  };
  for (const [token] of text.matchAll(TOKEN)) {
    const inner = stack.at(-1);
    if (token === "\n") line += 1;
    else if (token === "{" || token === "[")
      stack.push({ path: inner ? toPath(inner.next) : "", isArray: token === "[", next: "0", text: "" });
    else if (token === "}" || token === "]") stack.pop();
    else if (token === "," && inner?.isArray) inner.next = String(Number(inner.next) + 1);
    else if (token === ":" && inner) {
      inner.next = JSON.parse(inner.text) as string;
      const path = toPath(inner.next);
      // Of members with the same name JSON.parse takes the last one; the first line of a nested one stays.
      if (!lines.has(path)) lines.set(path, line);
    } else if (token.startsWith('"') && inner) inner.text = token;
  }
  return lines;
}
