/** LangGraph's own base of checkpointers, from where the graph has it: what is kept must come back as the graph's own classes. */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { getCallSites } from "node:util";
import { isRecord, wrong } from "../shared/options.ts";
import type { GraphConfig } from "./graph.ts";

export interface Library {
  /** Knows how messages and other objects are written and read, and what is derived from the rest. */
  readonly BaseCheckpointSaver: new () => {
    readonly serde: Serde;
    getNextVersion(current: undefined): number | string;
  };
  /** Where writes that are no values of channels stand among those of a task. */
  readonly WRITES_IDX_MAP: Readonly<Record<string, number>>;
  getCheckpointId(config: GraphConfig): string;
}
export interface Serde {
  dumpsTyped(value: unknown): Promise<readonly [string, Uint8Array]>;
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>;
}

const GRAPH = "@langchain/langgraph";
const LIBRARY = "@langchain/langgraph-checkpoint";
/** Some package managers show a package only to those who depend on it. */
const WAYS: readonly (readonly string[])[] = [[GRAPH, LIBRARY], ["langchain", GRAPH, LIBRARY], [LIBRARY]];

/** The file of whoever called into this folder: from there the packages of an author can be seen. */
export function callingFile(): string | undefined {
  const own = dirname(toPath(import.meta.url));
  const files = getCallSites(10)
    .map(site => site.scriptName)
    .filter(name => name !== "" && !name.startsWith("node:"));
  return files.find(file => dirname(toPath(file)) !== own);
}

/** Its package.json. `places`: files from where it may be seen, the best first. */
export function findLibrary(places: readonly string[]): string {
  for (const place of places)
    for (const way of WAYS) {
      const manifest = follow(toPath(place), way);
      if (manifest !== undefined) return manifest;
    }
  throw wrong(
    `${GRAPH} was not found from ${places.map(toPath).join(" nor from ")}, so the state of the graph cannot be kept. ` +
      `Install it there (npm install ${GRAPH} @langchain/core), or compile the graph with a checkpointer of its own`,
  );
}

const toPath = (name: string): string => {
  const bare = name.replace(/\?.*$/, "");
  return bare.startsWith("file:") ? fileURLToPath(bare) : bare;
};

/** From one package to the next; the last one's package.json. */
function follow(from: string, way: readonly string[]): string | undefined {
  let at: string | undefined = from;
  for (const name of way) at = at === undefined ? undefined : find(name, at);
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

export async function loadLibrary(manifest: string): Promise<Library> {
  const library = (await load(manifest)) as Library;
  if (typeof library.BaseCheckpointSaver === "function" && isRecord(library.WRITES_IDX_MAP)) return library;
  throw new Error(
    `${manifest} is none that this server knows; install ${GRAPH} 1.x, or compile the graph with a checkpointer of its own`,
  );
}

/** The form in which the graph itself has it: two forms of it in one process are two sets of classes. */
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
