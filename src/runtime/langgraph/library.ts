/** Loads LangGraph's checkpointer base class from the packages of the graph: stored objects must become instances of the graph's own classes. */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { getCallSites } from "node:util";
import { definitionError } from "../../agent/definition.ts";
import { isRecord } from "../shared/options.ts";
import type { GraphConfig } from "./graph.ts";

export interface CheckpointLibrary {
  /** Serializes messages and other objects. */
  readonly BaseCheckpointSaver: new () => {
    readonly serde: Serde;
    getNextVersion(current: undefined): number | string;
  };
  /** The indexes of special channels among the writes of a task. */
  readonly WRITES_IDX_MAP: Readonly<Record<string, number>>;
  getCheckpointId(config: GraphConfig): string;
}
export interface Serde {
  dumpsTyped(value: unknown): Promise<readonly [string, Uint8Array]>;
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>;
}

const GRAPH = "@langchain/langgraph";
const LIBRARY = "@langchain/langgraph-checkpoint";
/** Some package managers hide a package from packages that do not depend on it. */
const PACKAGE_PATHS: readonly (readonly string[])[] = [
  [GRAPH, LIBRARY],
  ["langchain", GRAPH, LIBRARY],
  [LIBRARY],
];

/** All code of this server: in a build, that of this folder may be in another file. */
const OWN_FOLDER = fileURLToPath(new URL("../../", import.meta.url));

/** The file that has called into this server: the author's packages are resolved from there. */
export function callingFile(): string | undefined {
  const files = getCallSites(10)
    .map(site => site.scriptName)
    .filter(name => name !== "" && !name.startsWith("node:"));
  return files.find(file => !toPath(file).startsWith(OWN_FOLDER));
}

/** The path of its package.json. `files`: where the resolution starts, in order of preference. */
export function findLibrary(files: readonly string[]): string {
  for (const file of files)
    for (const packages of PACKAGE_PATHS) {
      const manifest = resolveChain(toPath(file), packages);
      if (manifest !== undefined) return manifest;
    }
  throw definitionError(
    `${GRAPH} was not found from ${files.map(toPath).join(" nor from ")}, so the state of the graph cannot be stored. ` +
      `Install it there (npm install ${GRAPH} @langchain/core), or compile the graph with a checkpointer of its own`,
  );
}

const toPath = (name: string): string => {
  const bare = name.replace(/\?.*$/, "");
  return bare.startsWith("file:") ? fileURLToPath(bare) : bare;
};

/** Resolves each package from the one before; returns the last package.json. */
function resolveChain(from: string, packages: readonly string[]): string | undefined {
  let at: string | undefined = from;
  for (const name of packages) at = at === undefined ? undefined : find(name, at);
  return at;
}

function find(name: string, from: string): string | undefined {
  try {
    const found = findPackageJSON(name, pathToFileURL(from));
    return found === undefined ? undefined : realpathSync(found);
  } catch {
    return undefined;
  }
}

export async function loadLibrary(manifest: string): Promise<CheckpointLibrary> {
  const library = (await load(manifest)) as CheckpointLibrary;
  if (typeof library.BaseCheckpointSaver === "function" && isRecord(library.WRITES_IDX_MAP)) return library;
  throw new Error(
    `${manifest} is not supported; install ${GRAPH} 1.x, or compile the graph with a checkpointer of its own`,
  );
}

/** In the module format that the graph uses: CommonJS and ESM in one process would be two sets of classes. */
async function load(manifest: string): Promise<unknown> {
  const require = createRequire(manifest);
  const common = resolve(dirname(manifest), entryOf(manifest, "require"));
  if (require.cache[common]) return require(common);
  const url = pathToFileURL(resolve(dirname(manifest), entryOf(manifest, "import"))).href;
  return import(url);
}

function entryOf(manifest: string, form: "import" | "require"): string {
  const { exports, main } = JSON.parse(readFileSync(manifest, "utf8")) as Record<string, unknown>;
  const root = isRecord(exports) ? (exports["."] ?? exports) : exports;
  const chosen = isRecord(root) ? (root[form] ?? root.default) : root;
  const entry = isRecord(chosen) ? chosen.default : chosen;
  return typeof entry === "string" ? entry : typeof main === "string" ? main : "index.js";
}
