import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { filesBelow, ROOT, type TreeFile } from "./tidy-tree.ts";

/** The documents as the tidy test reads them: headings, tables, links, and commands. */

export const DOCUMENTS: readonly TreeFile[] = filesBelow("").filter(file => file.path.endsWith(".md"));

export function documentOf(path: string): TreeFile {
  const found = DOCUMENTS.find(file => file.path === path);
  if (!found) throw new Error(`${path} does not exist`);
  return found;
}

/** The text below a heading, up to the next one of its level or above. */
export function sectionOf(file: TreeFile, heading: string): string {
  const lines = file.text.split("\n");
  const from = lines.findIndex(line => /^#+ /.test(line) && line.replace(/^#+ /, "") === heading);
  if (from === -1) throw new Error(`${file.path} has no heading "${heading}"`);
  const rank = (lines[from] as string).indexOf(" ");
  const end = lines.findIndex((line, at) => at > from && /^#+ /.test(line) && line.indexOf(" ") <= rank);
  return lines.slice(from + 1, end === -1 ? undefined : end).join("\n");
}

export function headingsOf(file: TreeFile): readonly string[] {
  return withoutBlocks(file.text)
    .split("\n")
    .filter(line => /^#+ /.test(line))
    .map(line => line.replace(/^#+ /, ""));
}

/** The rows of the tables in a text, without their heads, each as its cells. */
export function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split("\n").map(line => line.trim());
  return lines.filter((line, at) => line.startsWith("|") && !isHead(lines, at)).map(toCells);
}

/** The same with the heads, without the rules below them. */
export const tableOf = (text: string): readonly (readonly string[])[] =>
  text
    .split("\n")
    .map(line => line.trim())
    .filter(line => line.startsWith("|") && !isRule(line))
    .map(toCells);

const isRule = (line: string | undefined): boolean => /^\|[\s|:-]+\|$/.test(line ?? "");
const isHead = (lines: readonly string[], at: number): boolean => isRule(lines[at]) || isRule(lines[at + 1]);

/** `\|` is a bar in a cell. */
const toCells = (line: string): readonly string[] =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim().replaceAll("\\|", "|"));

const withoutBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, "");

/** Links to missing files of the repository. */
export function deadLinks(file: TreeFile): readonly string[] {
  const links = withoutBlocks(file.text).matchAll(/\]\(([^)\s]+)\)/g);
  return [...links].map(found => found[1] as string).filter(link => !isAlive(file, link));
}

function isAlive(file: TreeFile, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return true;
  const [name, anchor] = link.split("#") as [string, string | undefined];
  const path = targetOf(file, name);
  if (!existsSync(`${ROOT}${path}`)) return false;
  if (anchor === undefined) return true;
  const target = DOCUMENTS.find(one => one.path === path);
  return target !== undefined && headingsOf(target).some(heading => slugOf(heading) === anchor);
}

const targetOf = (file: TreeFile, name: string): string =>
  name === "" ? file.path : normalize(join(dirname(file.path), name));

/** As GitHub creates it. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** The documents of the repository that this one links to. */
export function linkedFrom(file: TreeFile): readonly string[] {
  const links = withoutBlocks(file.text).matchAll(/\]\(([^)\s#]+)/g);
  return [...links].map(found => targetOf(file, found[1] as string));
}

/** Names of files in backticks: `src/operation/send.ts`. A text with a star or a placeholder is no name. */
export function namedFiles(file: TreeFile): readonly string[] {
  const names = file.text.matchAll(/`((?:src|test|docs|examples|bench)\/[\w./-]*[\w/])`/g);
  return [...names].map(found => found[1] as string).filter(name => !/\bNAME\b/.test(name));
}

export interface TypedCommand {
  readonly file: string;
  /** One command as a reader would type it, without comments and pipes. */
  readonly command: string;
}

/** Lines of shell blocks, and words in backticks that begin like one of our commands. */
export function commandsIn(file: TreeFile): readonly TypedCommand[] {
  const blocks = [...file.text.matchAll(/^```(?:sh|bash|console)\n([\s\S]*?)^```/gm)].map(found => found[1]);
  const lines = blocks.flatMap(block => (block as string).replaceAll("\\\n", " ").split("\n"));
  const inline = [...withoutBlocks(file.text).matchAll(/`((?:npm|npx|dragoman) [^`]+)`/g)].map(
    found => found[1],
  );
  return [...lines, ...inline]
    .map(line =>
      (line as string)
        .replace(/^\$ /, "")
        .replace(/\s+#.*$/, "")
        .trim(),
    )
    .filter(command => command !== "")
    .map(command => ({ file: file.path, command }));
}
