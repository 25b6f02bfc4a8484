/** Module resolution: `dragoman` is this server for agent files in any folder, and each generation is imported again. */
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

/** The sources run unbuilt; a build is JavaScript. */
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
  "dragoman/client": ownModule("client/index"),
  "dragoman/client/grpc": ownModule("client/grpc/index"),
  "dragoman/react": ownModule("react/index"),
  "dragoman/webhook": ownModule("webhook/index"),
  "dragoman/store": ownModule("store/index"),
  "dragoman/testing": ownModule("testing/index"),
  "dragoman/testing/contracts": ownModule("testing/contracts/index"),
};

const GENERATION = /[?&]generation=(\d+)/;
const INSTALLED = /\/node_modules\//;
/** Node strips no types in node_modules: the bundled examples of an installed server are read under this scheme. */
const EXAMPLE_SCHEME = "dragoman-example:";

/** Neither a file of this server nor of an installed package. */
export const isUserFile = (url: string): boolean =>
  url.startsWith("file:") && !url.startsWith(OWN_FOLDER) && !INSTALLED.test(url);

export const withoutQuery = (url: string): string => url.replace(/\?.*$/, "");

export function withGeneration(url: string, generation: string | number): string {
  if (Number(generation) === 0 || GENERATION.test(url)) return url;
  return `${url}${url.includes("?") ? "&" : "?"}generation=${generation}`;
}

const HOOKS = Symbol.for("dragoman.hooks");

/** Agents may import modules at any time: the hooks are registered once and stay. */
export function installHooks(): void {
  const shared = globalThis as { [HOOKS]?: ModuleHooks };
  shared[HOOKS] ??= registerHooks({ resolve, load });
}

const resolve: ResolveHookSync = (specifier, context, nextResolve) => {
  if (Object.hasOwn(OWN_MODULES, specifier))
    return { url: OWN_MODULES[specifier] as string, format: OWN_FORMAT, shortCircuit: true };
  const found = resolveSource(specifier, context, nextResolve);
  if (isInstalledExample(found.url)) return { url: toExample(found.url), shortCircuit: true };
  if (!isUserFile(found.url)) return found;
  const generation = GENERATION.exec(context.parentURL ?? "")?.[1] ?? 0;
  return { ...found, ...formatOf(found), url: withGeneration(found.url, generation) };
};

/** TypeScript imports a source by the name of its compiled file: `./tools.js` may mean `./tools.ts`. */
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

/** Statements that CommonJS cannot contain; `import(…)` and `import.meta` are none of them. */
const MODULE_SYNTAX =
  /^(?:import\s*["'{*]|import\s+\w|export\s*[{*]|export\s+(?:default|const|let|var|function|async|class|type|interface)\b)/m;

/**
 * `npm init` writes "type": "commonjs", or no type, into package.json, with which a module fails to load or gives a warning.
 * A file that contains module syntax is loaded as a module.
 */
function formatOf({ url, format }: ResolveFnOutput): { readonly format?: string } {
  const path = withoutQuery(url);
  if (!/\.[jt]s$/.test(path) || (format && !format.startsWith("commonjs"))) return {};
  if (!MODULE_SYNTAX.test(readFileSync(fileURLToPath(path), "utf8"))) return {};
  return { format: path.endsWith(".ts") ? "module-typescript" : "module" };
}
