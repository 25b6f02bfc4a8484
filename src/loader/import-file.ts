/** Imports one file of the user, and tells which files that took. */
import { createRequire, registerHooks } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { LoadFailure, toLoadFailure } from "./load-error.ts";
import { installHooks, isUsers, withGeneration, withoutQuery } from "./module-hooks.ts";

export interface Imported {
  readonly module: Readonly<Record<string, unknown>>;
  /** The file, and what it imports outside node_modules and outside this server. */
  readonly files: readonly string[];
}

/** A file that waits at its top level for something that never comes must not hold up the server for ever. */
const IMPORT_MS_MAX = 30_000;

export async function importFile(file: string, generation: number): Promise<Imported> {
  installHooks();
  if (generation > 0) forgetCommonJs();
  const files = new Set([file]);
  const recording = registerHooks({
    resolve(specifier, context, nextResolve) {
      const found = nextResolve(specifier, context);
      if (isUsers(found.url)) files.add(pathOf(found.url));
      return found;
    },
  });
  try {
    const url = withGeneration(pathToFileURL(file).href, generation);
    return { module: await inTime(file, import(url)), files: [...files] };
  } catch (error) {
    throw error instanceof LoadFailure ? error : toLoadFailure(error, file, [...files]);
  } finally {
    recording.deregister();
  }
}

const pathOf = (url: string): string => fileURLToPath(withoutQuery(url));

/** CommonJS is cached by path, whatever a URL's query says. */
function forgetCommonJs(): void {
  const { cache } = createRequire(import.meta.url);
  for (const path of Object.keys(cache)) if (isUsers(pathToFileURL(path).href)) delete cache[path];
}

async function inTime<T>(file: string, importing: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const reason = `It did not finish loading in ${IMPORT_MS_MAX / 1_000} seconds`;
    const cure = "Move what waits (a top-level `await`) into the agent's run function";
    timer = setTimeout(() => reject(new LoadFailure({ file, reason, cure })), IMPORT_MS_MAX);
  });
  try {
    return await Promise.race([importing, late]);
  } finally {
    clearTimeout(timer);
  }
}
