/** The code blocks of the documents: what they are, what they are called, and why one is not executed. */
import { DOCUMENTS, slugOf } from "../tidy-docs.ts";
import type { TreeFile } from "../tidy-tree.ts";

export interface Block {
  /** `docs/guide/push.md`. */
  readonly page: string;
  readonly line: number;
  /** The heading above it, as in a link. */
  readonly section: string;
  readonly language: string;
  readonly text: string;
  /** The name in its first line (`// agents/hello.ts`, `# agent.py`) or in the comment above it. */
  readonly file: string | undefined;
  readonly note: Note | undefined;
}

/** A comment above a block, which GitHub does not show: `<!-- not run: it needs Docker -->`. */
export interface Note {
  readonly kind: (typeof KINDS)[number];
  readonly reason: string;
}

const KINDS = [
  "not run",
  "not called",
  "checked in",
  "until its first output",
  "exits with 1",
  "exits with 3",
  "file",
] as const;

const NOTE = new RegExp(`^<!-- (${KINDS.join("|")}): (.+) -->$`);
const FENCE = /^( *)(`{3,})(.*)$/;
const NAME = /^(?:\/\/|#) ([\w@./[\]-]+\.\w+|Dockerfile|Caddyfile)$/;

/**
 * Pages whose blocks are executed. Those of ARCHITECTURE.md, AGENTS.md and of the decisions are not for users; those of
 * docs/reference/api are declarations of src.
 */
const isForUsers = ({ path }: TreeFile): boolean =>
  path === "README.md" ||
  /^docs\/(?:guide|operate|migrate|reference(?!\/api\/)|dialects)\//.test(path) ||
  /^examples\/.*README/.test(path);

export const PAGES: readonly TreeFile[] = DOCUMENTS.filter(isForUsers);

export const BLOCKS: readonly Block[] = PAGES.flatMap(blocksOf);

export const placeOf = ({ page, line }: Block): string => `${page}:${line}`;

export function blocksOf({ path, text }: TreeFile): readonly Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  let section = "";
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    if (/^#+ /.test(line)) section = slugOf(line.replace(/^#+ /, ""));
    const open = FENCE.exec(line);
    if (!open) continue;
    const [, indent = "", fence = "", info = ""] = open;
    const end = lines.indexOf(indent + fence, at + 1);
    if (end === -1) throw new Error(`${path}:${at + 1}: the code block has no end`);
    const content = lines.slice(at + 1, end).map(one => one.slice(indent.length));
    const note = noteAbove(lines, at);
    blocks.push({
      page: path,
      line: at + 1,
      section,
      language: info.trim(),
      text: `${content.join("\n")}\n`,
      file: note?.kind === "file" ? note.reason : NAME.exec(content[0] ?? "")?.[1],
      note: note?.kind === "file" ? undefined : note,
    });
    at = end;
  }
  return blocks;
}

function noteAbove(lines: readonly string[], at: number): Note | undefined {
  const above = lines[at - 1]?.trim() === "" ? lines[at - 2] : lines[at - 1];
  const found = NOTE.exec(above?.trim() ?? "");
  if (found) return { kind: found[1] as Note["kind"], reason: found[2] as string };
  if (above?.startsWith("<!--")) throw new Error(`line ${at}: unknown comment ${above}`);
  return undefined;
}

export const isRun = ({ note }: Block): boolean => note?.kind !== "not run" && note?.kind !== "checked in";

export const isAgent = ({ language, file }: Block): boolean =>
  language === "ts" && file !== undefined && /^(?:agents\/[\w-]+|agent)\.ts$/.test(file);

export const isConfig = ({ language, file }: Block): boolean =>
  language === "ts" && file === "dragoman.config.ts";

/** Neither an agent nor a config nor a module of one: a program that is started. */
export const isProgram = (block: Block): boolean =>
  block.language === "ts" && !isAgent(block) && !isConfig(block) && !isModule(block);

/** A file that another block or a framework imports, such as a graph. */
const isModule = ({ file, text }: Block): boolean => file !== undefined && /^export /m.test(text);
