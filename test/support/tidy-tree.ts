import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The tree as the tidy test reads it: files, and code without comments and texts. */

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Created by tools, or by running the server. */
const NOT_OURS = new Set(["node_modules", "dist", "coverage", ".git", ".dragoman"]);

export interface TreeFile {
  /** From the root of the repository: `src/operation/send.ts`. */
  readonly path: string;
  readonly text: string;
}

/** All files of the repository below a folder, in order of their names. */
export function filesBelow(folder: string): readonly TreeFile[] {
  const found: TreeFile[] = [];
  for (const entry of readdirSync(`${ROOT}${folder}`, { withFileTypes: true })) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (NOT_OURS.has(entry.name) || entry.name.endsWith(".tgz")) continue;
    if (entry.isDirectory()) found.push(...filesBelow(path));
    else if (entry.isFile()) found.push(readTree(path));
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}

export const readTree = (path: string): TreeFile => ({ path, text: readFileSync(`${ROOT}${path}`, "utf8") });

export interface Source extends TreeFile {
  /** Without comments. */
  readonly bare: string;
  /** Without comments, and with blanks for the content of quotes, templates and regular expressions. */
  readonly code: string;
}

export function toSource(file: TreeFile): Source {
  const bare = [...file.text];
  const code = [...file.text];
  for (const { kind, from, to } of spansOf(file.text)) {
    blank(code, from, to);
    if (kind === "comment") blank(bare, from, to);
  }
  return { ...file, bare: bare.join(""), code: code.join("") };
}

/** Line ends stay, so that positions stay. */
function blank(chars: string[], from: number, to: number): void {
  for (let at = from; at < to; at++) if (chars[at] !== "\n") chars[at] = " ";
}

interface Span {
  readonly kind: "comment" | "text";
  readonly from: number;
  readonly to: number;
}

/** The ranges of comments and texts: a lexer that knows only as much of the language as this needs. */
function spansOf(whole: string): readonly Span[] {
  // Characters outside the first plane count twice in a string and once in the array of characters above.
  const text = [...whole].map(one => (one.length === 1 ? one : " ")).join("");
  const spans: Span[] = [];
  /** The depth in braces at which each open template continues. */
  const templates: number[] = [];
  let depth = 0;
  let before = "";

  const add = (kind: Span["kind"], from: number, to: number): number => {
    spans.push({ kind, from, to });
    return to;
  };
  const template = (from: number): number => {
    const end = endOf(text, from, /[`\\]|\$\{/g);
    add("text", from, end);
    if (text[end] === "$") templates.push(depth);
    before = "`";
    return end + (text[end] === "$" ? 2 : 1);
  };

  for (let at = 0; at < text.length; ) {
    const two = text.slice(at, at + 2);
    const char = text[at] as string;
    if (two === "//" || (at === 0 && two === "#!")) at = add("comment", at, lineEnd(text, at));
    else if (two === "/*") at = add("comment", at, text.indexOf("*/", at) + 2);
    else if (char === '"' || char === "'") {
      before = char;
      at = add("text", at + 1, endOf(text, at + 1, char === '"' ? /["\\]/g : /['\\]/g)) + 1;
    } else if (char === "`") at = template(at + 1);
    else if (char === "}" && templates.at(-1) === depth) {
      templates.pop();
      at = template(at + 1);
    } else if (char === "/" && isOperand(before)) {
      before = ")";
      at = add("text", at + 1, endOf(text, at + 1, /[/\\[]/g)) + 1;
    } else {
      if (char === "{") depth += 1;
      if (char === "}") depth -= 1;
      const word = /[\w$]/.test(char) ? wordAt(text, at) : char;
      if (word.trim() !== "") before = word;
      at += word.length;
    }
  }
  return spans;
}

const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
};

function wordAt(text: string, at: number): string {
  const word = /[\w$]+/y;
  word.lastIndex = at;
  return word.exec(text)?.[0] as string;
}

/** The next match of the pattern; escaped characters, and classes of a regular expression, are skipped. */
function endOf(text: string, from: number, pattern: RegExp): number {
  for (let at = from; ; ) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) return text.length;
    if (found[0] === "\\") at = found.index + 2;
    else if (found[0] === "[") at = endOf(text, found.index + 1, /[\]\\]/g) + 1;
    else return found.index;
  }
}

const WORDS_BEFORE_OPERANDS = new Set(
  "return typeof case in of void yield await throw new else do".split(" "),
);

/** Whether a slash after this begins a regular expression and does not divide. */
const isOperand = (before: string): boolean =>
  before === "" || WORDS_BEFORE_OPERANDS.has(before) || /^[([{,;=:!&|?+\-*%<>~^}]$/.test(before);

export const lineOf = (text: string, at: number): number => text.slice(0, at).split("\n").length;

/** `src/operation/send.ts:12: text of the line` for each match of the pattern. */
export function placesOf(file: TreeFile, text: string, pattern: RegExp): readonly string[] {
  const lines = file.text.split("\n");
  return [...text.matchAll(pattern)].map(found => {
    const line = lineOf(text, found.index);
    return `${file.path}:${line}: ${lines[line - 1]?.trim()}`;
  });
}

export interface Import {
  readonly from: string;
  readonly line: number;
  readonly how: "type" | "static" | "lazy";
}

const STATIC = /^(import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm;
const LAZY = /\bimport\(\s*"([^"]+)"\s*\)/g;

export function importsOf(source: Source): readonly Import[] {
  const found: Import[] = [];
  for (const { 2: type, 3: from, index } of source.bare.matchAll(STATIC))
    found.push({ from: from as string, line: lineOf(source.bare, index), how: type ? "type" : "static" });
  for (const { 1: from, index } of source.bare.matchAll(LAZY)) {
    // `import("node:stream").Duplex` is a type.
    const how = /await\s+$/.test(source.bare.slice(0, index)) ? "lazy" : "type";
    found.push({ from: from as string, line: lineOf(source.bare, index), how });
  }
  return found;
}
