/** Why a file of the user did not load: file, line, reason and hint. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { StartupError } from "../lib/startup-error.ts";
import { isUserFile, withoutQuery } from "./module-hooks.ts";

interface SourceLocation {
  readonly file: string;
  readonly line?: number | undefined;
}

export interface LoadErrorFacts extends SourceLocation {
  readonly reason: string;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

const LINE_CHARS_MAX = 120;

export function createLoadError(facts: LoadErrorFacts): StartupError {
  const { file, line, reason, hint } = facts;
  const code = line === undefined ? undefined : readLines(file)[line - 1]?.slice(0, LINE_CHARS_MAX);
  const message = [
    `Cannot load ${file}${line === undefined ? "" : `:${line}`}`,
    ...indent(reason),
    ...(code === undefined ? [] : [`    ${line} | ${code}`]),
    ...(hint === undefined ? [] : indent(`Fix: ${hint}`)),
  ].join("\n");
  return new StartupError(message, facts);
}

const indent = (text: string): readonly string[] => text.split("\n").map(line => `  ${line}`);

/** The first line of a file that matches. */
export function findLine(file: string, matches: (line: string) => boolean): number | undefined {
  const at = readLines(file).findIndex(matches);
  return at === -1 ? undefined : at + 1;
}

function readLines(file: string): readonly string[] {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return [];
  return readFileSync(file, "utf8").split("\n");
}

/** One import statement, as the module hooks saw it. */
export interface ImportRecord {
  readonly specifier: string;
  /** The URL of the importing module. */
  readonly importer: string | undefined;
  /** undefined: the module was not found. */
  readonly url: string | undefined;
  readonly error?: unknown;
}

/** The import of a file and of all that it imports, as far as it went. */
export interface ImportTrace {
  readonly file: string;
  readonly imports: readonly ImportRecord[];
  /** The module that was read last: if it does not compile, Node's error does not name it. */
  readonly lastLoaded: string | undefined;
}

/** Explains what an import threw. */
export function toLoadError(error: unknown, trace: ImportTrace): StartupError {
  const missing = trace.imports.find(one => one.url === undefined && one.error === error);
  const location = locate(error, missing, trace);
  const isNested = location.file !== trace.file;
  return createLoadError({
    ...location,
    reason: `${describe(error)}${isNested ? ` (imported by ${trace.file})` : ""}`,
    hint: missing ? missingModuleHint(missing.specifier, location.file) : hintFor(error),
    cause: error,
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");

function describe(error: unknown): string {
  const isOfNode = error instanceof SyntaxError || /^ERR_|^MODULE_NOT_FOUND$/.test(codeOf(error));
  return isOfNode ? messageOf(error) : `The module threw an error: ${messageOf(error)}`;
}

function locate(error: unknown, missing: ImportRecord | undefined, trace: ImportTrace): SourceLocation {
  const message = messageOf(error);
  const inStack = missing ? undefined : fromStack(error);
  if (inStack) return inStack;
  const found =
    missing ?? trace.imports.find(({ url }) => url !== undefined && message.includes(withoutQuery(url)));
  if (found?.importer !== undefined && isUserFile(found.importer)) {
    const file = toPath(found.importer);
    const spellings = [`"${found.specifier}"`, `'${found.specifier}'`];
    return { file, line: findLine(file, line => spellings.some(spelling => line.includes(spelling))) };
  }
  if (error instanceof SyntaxError && trace.lastLoaded !== undefined)
    return findSyntaxError(trace.lastLoaded);
  return { file: trace.file };
}

/** `FILE:LINE` at the head of a compiler's error, or the innermost stack frame in a file of the user. */
const STACK_LINE = /^(?:\s+at (?:.*\()?(?:async )?)?((?:file:|[A-Za-z]:\\|\/).*?):(\d+)(?::\d+)?\)?$/;

function fromStack(error: unknown): SourceLocation | undefined {
  for (const line of error instanceof Error ? (error.stack ?? "").split("\n") : []) {
    const [, name, number] = STACK_LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const file = toPath(name);
    if (isUserFile(pathToFileURL(file).href)) return { file, line: Number(number) };
  }
  return undefined;
}

/** V8 reports a syntax error in JavaScript without its line. The parser for TypeScript reports the line. */
function findSyntaxError(url: string): SourceLocation {
  const file = toPath(url);
  try {
    stripTypeScriptTypes(readFileSync(file, "utf8"), { sourceUrl: url });
  } catch (error) {
    return fromStack(error) ?? { file };
  }
  return { file };
}

const toPath = (name: string): string => {
  const path = withoutQuery(name);
  return path.startsWith("file:") ? fileURLToPath(path) : path;
};

// ---- hints ---------------------------------------------------------------------------------------------------

const HINTS: Readonly<Record<string, string>> = {
  ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX:
    'Node removes types and does not compile: write an object with "as const" instead of an enum, a file instead of a ' +
    'namespace, fields that the constructor assigns instead of parameter properties ("erasableSyntaxOnly": true in ' +
    "tsconfig.json shows such places in the editor)",
  ERR_AGENT_DEFINITION:
    'At least this: agent({ name: "my-agent", async *run(task, ctx) { yield ctx.text("hello"); } })',
  ERR_IMPORT_ATTRIBUTE_MISSING: 'Add the type: import data from "./data.json" with { type: "json" }',
  ERR_UNKNOWN_FILE_EXTENSION: "Agent files are .ts, .mts, .js or .mjs",
  ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING:
    "Move the file out of node_modules, or install a package that ships JavaScript",
};

function hintFor(error: unknown): string | undefined {
  const known = HINTS[codeOf(error)];
  if (known !== undefined || !(error instanceof SyntaxError)) return known;
  const name = /does not provide an export named '(.+?)'/.exec(error.message)?.[1];
  if (name !== undefined)
    return `If ${name} is a type, import it with: import type { ${name} } from …; otherwise export it there`;
  if (/outside a module|Unexpected token 'export'/.test(error.message))
    return 'Put "type": "module" into the nearest package.json, or name the file .mts or .mjs';
  return "Correct this line or the one before it";
}

/** Packages that need others beside them. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  "@langchain/langgraph": ["@langchain/core"],
};
const EXTENSIONS = [".ts", ".js", ".mts", ".mjs", "/index.ts", "/index.js"];

function missingModuleHint(specifier: string, importer: string): string {
  if (!/^(?:[./\\]|file:)/.test(specifier)) {
    const root = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] as string;
    return `npm install ${[root, ...(COMPANIONS[root] ?? [])].join(" ")} (in ${packageFolder(importer)})`;
  }
  const path = specifier.startsWith("file:")
    ? fileURLToPath(specifier)
    : resolve(dirname(importer), specifier);
  const bare = path.replace(/\.[cm]?[jt]sx?$/, "");
  const existing = EXTENSIONS.map(extension => bare + extension).find(existsSync);
  if (existing === undefined) return `File not found: ${path}; check the spelling`;
  const name = relative(dirname(importer), existing).replaceAll("\\", "/");
  return `Write the full file name: "${name.startsWith(".") ? name : `./${name}`}"`;
}

/** The folder where npm installs: the nearest one with a package.json, or else that of the file. */
function packageFolder(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(resolve(folder, "package.json"))) return folder;
    if (folder === dirname(folder)) return dirname(file);
  }
}
