/** Finds agent files by name, glob or folder. */
import { readdirSync, statSync } from "node:fs";
import { glob } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { didYouMean } from "../lib/did-you-mean.ts";
import type { StartupError } from "../lib/startup-error.ts";
import { createLoadError } from "./load-error.ts";
import { EXAMPLES_FOLDER } from "./module-hooks.ts";

const SOURCE = /\.m?[jt]s$/;
/** Types, tests, config, and helpers whose names begin with _ or a dot. */
const NOT_AGENT = /^[._]|\.d\.m?ts$|\.(?:test|spec)\.m?[jt]s$|^dragoman\.config\./;
export const isAgentFile = (path: string): boolean => SOURCE.test(path) && !NOT_AGENT.test(basename(path));

const FILES_MAX = 1_000;
const FIRST_EXAMPLE = "echo.ts";

export async function findFiles(pattern: string, cwd: string): Promise<readonly string[]> {
  const path = resolve(cwd, pattern);
  const kind = statSync(path, { throwIfNoEntry: false });
  if (kind?.isDirectory())
    return listAgentFiles(path, "The folder contains no agent files (.ts, .mts, .js, .mjs)");
  if (kind) return [path];
  if (!/[*?[{]/.test(pattern)) throw missingFile(path);
  const found = await expandGlob(pattern, cwd);
  if (found.length === 0)
    throw createLoadError({
      file: path,
      reason: "No file matches this pattern",
      hint: "Name an existing file, folder or glob (quote a glob, so that the shell does not expand it)",
    });
  return found;
}

/** The bundled agents. The first one is served at `/`. */
export function exampleFiles(): readonly string[] {
  const folder = fileURLToPath(EXAMPLES_FOLDER);
  const files = listAgentFiles(folder, "The bundled examples are missing");
  const first = resolve(folder, FIRST_EXAMPLE);
  return files.includes(first) ? [first, ...files.filter(file => file !== first)] : files;
}

function listAgentFiles(folder: string, reason: string): readonly string[] {
  const names = statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder).sort() : [];
  const files = names.filter(isAgentFile).map(name => resolve(folder, name));
  if (files.length === 0)
    throw createLoadError({ file: folder, reason, hint: "Name an agent file, or create one there" });
  return files;
}

async function expandGlob(pattern: string, cwd: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const name of glob(pattern, { cwd, exclude: ["**/node_modules/**"] })) {
    const path = resolve(cwd, name);
    if (isAgentFile(path) && statSync(path).isFile()) found.push(path);
    if (found.length > FILES_MAX)
      throw createLoadError({ file: path, reason: `${pattern} matches too many files` });
  }
  return found.sort();
}

function missingFile(file: string): StartupError {
  const folder = dirname(file);
  const hint = statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? `Check the spelling${didYouMean(basename(file), readdirSync(folder), 2)}`
    : `The folder ${folder} does not exist either`;
  return createLoadError({ file, reason: "File not found", hint });
}
