/** Imports one file of the user and lists the files that it imports. */
import { existsSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { didYouMean } from "../lib/did-you-mean.ts";
import { StartupError } from "../lib/startup-error.ts";
import { createLoadError, type ImportRecord, toLoadError } from "./load-error.ts";
import { installHooks, isUserFile, withGeneration, withoutQuery } from "./module-hooks.ts";

export interface ImportedFile {
  readonly module: Readonly<Record<string, unknown>>;
  /** The file and its imports outside node_modules and outside this server. */
  readonly files: readonly string[];
}

/** A top-level `await` that never ends must not block the start forever. */
const IMPORT_MS_MAX = 30_000;

export async function importFile(file: string, generation: number): Promise<ImportedFile> {
  installHooks();
  if (generation > 0) clearCommonJsCache();
  const imports: ImportRecord[] = [];
  let lastLoaded: string | undefined;
  const recorder = registerHooks({
    resolve(specifier, context, nextResolve) {
      const importer = context.parentURL;
      try {
        const found = nextResolve(specifier, context);
        imports.push({ specifier, importer, url: found.url });
        return found;
      } catch (error) {
        imports.push({ specifier, importer, url: undefined, error });
        throw error;
      }
    },
    load(url, context, nextLoad) {
      if (isUserFile(url)) lastLoaded = url;
      return nextLoad(url, context);
    },
  });
  try {
    const url = withGeneration(pathToFileURL(file).href, generation);
    const module = await withTimeout(file, import(url));
    const urls = imports.flatMap(({ url }) => (url !== undefined && isUserFile(url) ? [url] : []));
    return { module, files: [...new Set([file, ...urls.map(toPath)])] };
  } catch (error) {
    throw error instanceof StartupError ? error : toLoadError(error, { file, imports, lastLoaded });
  } finally {
    recorder.deregister();
  }
}

const toPath = (url: string): string => fileURLToPath(withoutQuery(url));

/** CommonJS modules are cached by path: the query with the generation does not count. */
function clearCommonJsCache(): void {
  const { cache } = createRequire(import.meta.url);
  for (const path of Object.keys(cache)) if (isUserFile(pathToFileURL(path).href)) delete cache[path];
}

async function withTimeout<T>(file: string, importing: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const reason = `The import did not finish within ${IMPORT_MS_MAX / 1_000} seconds`;
    const hint = "Move a top-level `await` into the agent's run function";
    timer = setTimeout(() => reject(createLoadError({ file, reason, hint })), IMPORT_MS_MAX);
  });
  try {
    return await Promise.race([importing, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

export interface ImportedValue {
  readonly value: unknown;
  readonly file: string;
  /** See `ImportedFile`. */
  readonly files: readonly string[];
}

/** Imports `./file.ts:name`; without a name, the default export. */
export async function importReference(
  reference: string,
  cwd: string,
  generation: number,
): Promise<ImportedValue> {
  const [, path = reference, name = "default"] = /^(.+\.[cm]?[jt]s):([\w$]+)$/.exec(reference) ?? [];
  const file = resolve(cwd, path);
  if (!existsSync(file))
    throw createLoadError({ file, reason: "File not found", hint: "Check the spelling" });
  const { module, files } = await importFile(file, generation);
  if (Object.hasOwn(module, name)) return { value: module[name], file, files };
  const names = Object.keys(module);
  throw createLoadError({
    file,
    reason: `The file has no export "${name}"${didYouMean(name, names)}`,
    hint: `Name one of its exports: ${names.join(", ") || "it has none"}`,
  });
}
