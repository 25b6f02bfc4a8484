/** How modules are found: `dragoman` is this server wherever an agent file lies, and a new generation is imported afresh. */
import { readFileSync } from "node:fs";
import {
  type LoadHookSync,
  type ModuleHooks,
  type ResolveFnOutput,
  type ResolveHookContext,
  type ResolveHookSync,
  registerHooks,
} from "node:module";
import { fileURLToPath } from "node:url";

/** The sources run as they are; built, they are JavaScript. */
const EXTENSION = import.meta.url.endsWith(".ts") ? "ts" : "js";
const OWN_FORMAT = EXTENSION === "ts" ? "module-typescript" : "module";
const OWN_FOLDER = new URL("../", import.meta.url).href;
export const EXAMPLES_FOLDER = new URL("../../examples/", import.meta.url).href;
const ownModule = (file: string): string => new URL(`../${file}.${EXTENSION}`, import.meta.url).href;
const OWN_MODULES: Readonly<Record<string, string>> = {
  dragoman: ownModule("index"),
  "dragoman/ports": ownModule("ports/index"),
  "dragoman/langgraph": ownModule("runtime/langgraph/index"),
  "dragoman/ai-sdk": ownModule("runtime/ai-sdk/index"),
  "dragoman/openai": ownModule("runtime/openai/index"),
  "dragoman/process": ownModule("runtime/process/index"),
  "dragoman/remote": ownModule("runtime/remote/index"),
  "dragoman/webhook": ownModule("webhook/index"),
};

const GENERATION = /[?&]generation=(\d+)/;
const INSTALLED = /\/node_modules\//;
/** Bundled examples of an installed server: Node strips no types below node_modules, so they are read under this scheme. */
const EXAMPLE_SCHEME = "dragoman-example:";

/** Whether it is a file of the user: neither ours nor installed. */
export const isUsers = (url: string): boolean =>
  url.startsWith("file:") && !url.startsWith(OWN_FOLDER) && !INSTALLED.test(url);

export const withoutQuery = (url: string): string => url.replace(/\?.*$/, "");

export function withGeneration(url: string, generation: string | number): string {
  if (Number(generation) === 0 || GENERATION.test(url)) return url;
  return `${url}${url.includes("?") ? "&" : "?"}generation=${generation}`;
}

const HOOKS = Symbol.for("dragoman.hooks");

/** Hooks belong to the process and stay, because an agent may import something at any time: they are put in once. */
export function installHooks(): void {
  const shared = globalThis as { [HOOKS]?: ModuleHooks };
  shared[HOOKS] ??= registerHooks({ resolve, load });
}

const resolve: ResolveHookSync = (specifier, context, nextResolve) => {
  if (Object.hasOwn(OWN_MODULES, specifier))
    return { url: OWN_MODULES[specifier] as string, format: OWN_FORMAT, shortCircuit: true };
  const found = resolveSource(specifier, context, nextResolve);
  if (isInstalledExample(found.url)) return { url: toExample(found.url), shortCircuit: true };
  if (!isUsers(found.url)) return found;
  const generation = GENERATION.exec(context.parentURL ?? "")?.[1] ?? 0;
  return { ...found, ...formatOf(found), url: withGeneration(found.url, generation) };
};

/** TypeScript's own way to import a source is by the name that it has when it is compiled: `./tools.js` may mean `./tools.ts`. */
function resolveSource(
  specifier: string,
  context: ResolveHookContext,
  nextResolve: Parameters<ResolveHookSync>[2],
): ResolveFnOutput {
  try {
    return nextResolve(specifier, context);
  } catch (error) {
    if (!/^\.{1,2}\/.*\.m?js$/.test(specifier) || !/\.m?ts(?:\?|$)/.test(context.parentURL ?? ""))
      throw error;
    try {
      return nextResolve(specifier.replace(/js$/, "ts"), context);
    } catch {
      throw error;
    }
  }
}

const load: LoadHookSync = (url, context, nextLoad) => {
  if (!url.startsWith(EXAMPLE_SCHEME)) return nextLoad(url, context);
  const source = readFileSync(new URL(url.slice(EXAMPLE_SCHEME.length), EXAMPLES_FOLDER));
  return { format: "module-typescript", source, shortCircuit: true };
};

const isInstalledExample = (url: string): boolean => url.startsWith(EXAMPLES_FOLDER) && INSTALLED.test(url);
const toExample = (url: string): string => EXAMPLE_SCHEME + withoutQuery(url).slice(EXAMPLES_FOLDER.length);

/** At the start of a line and not `import(…)` or `import.meta`: what CommonJS cannot contain. */
const MODULE_SYNTAX =
  /^(?:import\s*["'{*]|import\s+\w|export\s*[{*]|export\s+(?:default|const|let|var|function|async|class|type|interface)\b)/m;

/**
 * `npm init` writes "type": "commonjs", or nothing, into a package.json, and a newcomer's agent beside it would fail or give
 * a warning. A file that can only be a module is one.
 */
function formatOf({ url, format }: ResolveFnOutput): { readonly format?: string } {
  const path = withoutQuery(url);
  if (!/\.[jt]s$/.test(path) || (format && !format.startsWith("commonjs"))) return {};
  if (!MODULE_SYNTAX.test(readFileSync(fileURLToPath(path), "utf8"))) return {};
  return { format: path.endsWith(".ts") ? "module-typescript" : "module" };
}
