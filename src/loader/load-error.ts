/** Why a file of the user did not load: file, place, reason and cure. */
import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { linesOf, type Place, placeOf } from "./error-location.ts";

/** Of the line that is shown. */
const LINE_CHARS_MAX = 120;

export interface FailureFacts {
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly reason: string;
  readonly cure?: string | undefined;
  readonly cause?: unknown;
}

export class LoadFailure extends Error {
  readonly file: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly reason: string;
  readonly cure: string | undefined;
  constructor(facts: FailureFacts) {
    super(format(facts), facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = "LoadFailure";
    this.file = facts.file;
    this.line = facts.line;
    this.column = facts.column;
    this.reason = facts.reason;
    this.cure = facts.cure;
  }
}

function format({ file, line, column, reason, cure }: FailureFacts): string {
  const place = [file, line, line && column].filter(part => part !== undefined).join(":");
  const code = line === undefined ? undefined : linesOf(file)[line - 1]?.slice(0, LINE_CHARS_MAX);
  return [
    `Cannot load ${place}`,
    ...indented(reason),
    ...(code === undefined ? [] : [`    ${line} | ${code}`]),
    ...(cure === undefined ? [] : indented(`Cure: ${cure}`)),
  ].join("\n");
}

const indented = (text: string): readonly string[] => text.split("\n").map(line => `  ${line}`);

/** What an import threw; `files` are those that it had come to. */
export function toLoadFailure(error: unknown, file: string, files: readonly string[]): LoadFailure {
  const place = placeOf(error, file, files);
  const reason = reasonOf(error);
  const within = place.file === file ? "" : ` (imported by ${file})`;
  return new LoadFailure({ ...place, reason: reason + within, cure: cureOf(error, place), cause: error });
}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (error instanceof SyntaxError || /^ERR_/.test(codeOf(error))) return message;
  return `It threw while it was imported: ${message}`;
}

const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [/enum/, 'write a constant instead: const Color = { red: "red" } as const'],
  [/namespace|module declaration/, "export functions and constants from a file of their own instead"],
  [/parameter propert/, "declare the field in the class and assign it in the constructor"],
];
const STRIPPED =
  'Types are removed, not compiled, so only what vanishes with them may be used ("erasableSyntaxOnly": true in tsconfig.json shows it in the editor)';

function cureOf(error: unknown, place: Place): string | undefined {
  const message = messageOf(error);
  switch (codeOf(error)) {
    case "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX": {
      const instead = UNSUPPORTED.find(([kind]) => kind.test(message))?.[1];
      return instead === undefined ? STRIPPED : `${STRIPPED}; ${instead}`;
    }
    case "ERR_MODULE_NOT_FOUND":
    case "MODULE_NOT_FOUND":
      return missingModuleCure(message, place);
    case "ERR_AGENT_DEFINITION":
      return 'At least this: agent({ name: "my-agent", async *run(task, ctx) { yield ctx.text("hello"); } })';
    case "ERR_IMPORT_ATTRIBUTE_MISSING":
      return 'Say what it is: import data from "./data.json" with { type: "json" }';
    case "ERR_UNKNOWN_FILE_EXTENSION":
      return "Agent files are .ts, .mts, .js or .mjs";
    case "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING":
      return "Put the file outside node_modules, or install a package that ships JavaScript";
  }
  return error instanceof SyntaxError ? syntaxCure(message) : undefined;
}

function syntaxCure(message: string): string {
  const name = /does not provide an export named '(.+?)'/.exec(message)?.[1];
  if (name !== undefined)
    return `If ${name} is a type, import it as one: import type { ${name} } from …; otherwise export it there`;
  if (/outside a module|Unexpected token 'export'/.test(message))
    return 'Put "type": "module" into the nearest package.json, or name the file .mts or .mjs';
  return "Correct this line; what is wrong may also be just before it";
}

/** What does not work by itself. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  "@langchain/langgraph": ["@langchain/core"],
};
const EXTENSIONS = [".ts", ".js", ".mts", ".mjs", "/index.ts", "/index.js"];

function missingModuleCure(message: string, place: Place): string | undefined {
  const name = /^Cannot find (?:package|module) '(.+?)'/.exec(message)?.[1];
  if (name === undefined) return undefined;
  if (message.startsWith("Cannot find package") || /^[^./\\]/.test(name)) {
    const root = /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] as string;
    return `npm install ${[root, ...(COMPANIONS[root] ?? [])].join(" ")} (in ${packageFolder(place.file)})`;
  }
  const bare = name.replace(/\.[cm]?[jt]sx?$/, "");
  const there = EXTENSIONS.map(extension => bare + extension).find(path => existsSync(path));
  if (there === undefined) return `There is no file ${name}: check the spelling`;
  return `Write the whole name of the file: "${asSpecifier(relative(dirname(place.file), there))}"`;
}

const asSpecifier = (path: string): string => {
  const name = path.replaceAll("\\", "/");
  return name.startsWith(".") ? name : `./${name}`;
};

/** Where npm would put it: the nearest folder with a package.json, or else the file's own. */
function packageFolder(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(resolve(folder, "package.json"))) return folder;
    if (folder === dirname(folder)) return dirname(file);
  }
}
