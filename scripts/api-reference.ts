/** Writes docs/reference/api: one page for each module of the package, with its names as the types declare them. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Node } from "typescript/unstable/ast";
import { isClassDeclaration, isFunctionDeclaration, isVariableDeclaration } from "typescript/unstable/ast/is";
import {
  API,
  type Checker,
  type Project,
  SymbolFlags,
  type Symbol as TypeSymbol,
} from "typescript/unstable/sync";

const ROOT = new URL("..", import.meta.url).pathname;
export const FOLDER = join(ROOT, "docs/reference/api");

/** The pages by file name. */
export function createReference(): ReadonlyMap<string, string> {
  const api = new API({ cwd: ROOT });
  try {
    const config = join(ROOT, "tsconfig.json");
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (!project) throw new Error(`${config} is no project`);
    const modules = readModules();
    const pages = modules.map(module => [fileOf(module.name), toPage(module, project)] as const);
    return new Map([["README.md", toIndex(modules)], ...pages]);
  } finally {
    api.close();
  }
}

interface PackageModule {
  /** "dragoman/ports" */
  readonly name: string;
  readonly source: string;
}

/** The modules that package.json exports. */
function readModules(): readonly PackageModule[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  return Object.entries(exports).flatMap(([name, target]) => {
    if (typeof target === "string") return [];
    const source = target.default.replace("./dist/", "src/").replace(/\.js$/, "");
    return [{ name: name.replace(".", "dragoman"), source: join(ROOT, `${source}.ts`) }];
  });
}

const fileOf = (name: string): string => `${name.replaceAll("/", "-")}.md`;

const NOTE = "<!-- Written by `npm run reference` from the types; do not edit. -->";

const toIndex = (modules: readonly PackageModule[]): string =>
  [
    "# API reference",
    NOTE,
    "The modules of the package, with every name that they export. The [guides](../../guide/getting-started.md) explain how they are used.",
    modules.map(({ name }) => `- [\`${name}\`](${fileOf(name)})`).join("\n"),
    "",
  ].join("\n\n");

function toPage({ name, source }: PackageModule, { program, checker }: Project): string {
  const file = program.getSourceFile(source);
  const module = file && checker.getSymbolAtLocation(file);
  if (!file || !module) throw new Error(`${relative(ROOT, source)} is no module`);
  const names = checker
    .getExportsOfModule(module)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(symbol => toSection(symbol, checker));
  const intro = /^\/\*\* (.*?) \*\/\n/s.exec(file.text)?.[1]?.replaceAll(/\s*\n \* ?/g, " ") ?? "";
  return [`# ${name}`, NOTE, ...(intro ? [intro] : []), ...names, ""].join("\n\n");
}

/** A name with its comment and its declaration. */
function toSection(exported: TypeSymbol, checker: Checker): string {
  const isAlias = (exported.flags & SymbolFlags.Alias) !== 0;
  const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
  const node = symbol.declarations[0]?.resolve();
  if (!node) throw new Error(`${exported.name} has no declaration`);
  const comment = symbol.getDocumentationComment(checker).trim();
  const renamed = symbol.name === exported.name ? "" : `Another name of \`${symbol.name}\`.`;
  const code = `\`\`\`ts\n${toDeclaration(node, symbol, checker)}\n\`\`\``;
  return [`## ${exported.name}`, renamed, comment, code].filter(text => text !== "").join("\n\n");
}

function toDeclaration(node: Node, symbol: TypeSymbol, checker: Checker): string {
  if (isVariableDeclaration(node)) {
    const type = checker.getTypeOfSymbol(symbol);
    return `const ${symbol.name}: ${type ? checker.typeToString(type) : "unknown"};`;
  }
  const text = withoutComment(node.getSourceFile().text.slice(node.pos, node.end));
  if (isFunctionDeclaration(node) && node.body)
    return `${text.slice(0, text.length - (node.body.end - node.body.getStart())).trimEnd()};`;
  return isClassDeclaration(node) ? toClass(node) : text;
}

/** Without its own comment, which stands above the code, and without `export`. */
const withoutComment = (text: string): string =>
  text
    .replace(/^(?:\s*(?:\/\*[\s\S]*?\*\/|\/\/[^\n]*))*\s*/, "")
    .replace(/^export (?:declare )?/, "")
    .trim();

/** The signatures of the public members. */
function toClass(node: Node & { readonly members: readonly Node[] }): string {
  const source = node.getSourceFile().text;
  const head = withoutComment(source.slice(node.pos, node.members[0]?.pos ?? node.end));
  const members = node.members.flatMap(member => {
    const { body } = member as { body?: Node };
    const text = source.slice(member.pos, body ? body.getStart() : member.end).trim();
    return /^(?:\/\*[\s\S]*?\*\/\s*)?(?:readonly |override |static )*#/.test(text) ? [] : [toSignature(text)];
  });
  return [head, ...members.map(member => `  ${member}`), "}"].join("\n");
}

const toSignature = (text: string): string => `${text.replace(/ = [^;]*;?$/, "").replace(/;$/, "")};`;

if (import.meta.main) {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of createReference()) writeFileSync(join(FOLDER, name), text);
  process.stdout.write(`${readdirSync(FOLDER).length} pages in ${relative(ROOT, FOLDER)}\n`);
}
