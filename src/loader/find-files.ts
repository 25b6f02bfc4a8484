/** From what a user names (files, globs, folders, nothing) to agent files. */
import { readdirSync, statSync } from "node:fs";
import { glob } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { hint } from "../lib/did-you-mean.ts";
import { LoadFailure } from "./load-error.ts";
import { EXAMPLES_FOLDER } from "./module-hooks.ts";

/** Code that can be an agent. */
const SOURCE = /\.m?[jt]s$/;
/** Beside agents: types, tests, config, and helpers whose names begin with _ or a dot. */
const NO_AGENT = /^[._]|\.d\.m?ts$|\.(?:test|spec)\.m?[jt]s$|^dragoman\.config\./;
const isAgentFile = (path: string): boolean => SOURCE.test(path) && !NO_AGENT.test(basename(path));

const FILES_MAX = 1_000;
const FIRST_EXAMPLE = "echo.ts";

export async function findFiles(pattern: string, cwd: string): Promise<readonly string[]> {
  const path = resolve(cwd, pattern);
  const kind = statSync(path, { throwIfNoEntry: false });
  if (kind?.isDirectory()) return filesOf(path, `The folder has no agent files (.ts, .mts, .js, .mjs)`);
  if (kind) return [path];
  if (!/[*?[{]/.test(pattern)) throw missing(path);
  const found = await matches(pattern, cwd);
  if (found.length === 0) throw noMatch(path);
  return found;
}

/** The agents that come with the server, the plainest first: it is the one that answers at `/`. */
export function exampleFiles(): readonly string[] {
  const folder = fileURLToPath(EXAMPLES_FOLDER);
  const files = filesOf(folder, "The bundled examples are not there");
  const first = resolve(folder, FIRST_EXAMPLE);
  return files.includes(first) ? [first, ...files.filter(file => file !== first)] : files;
}

function filesOf(folder: string, reason: string): readonly string[] {
  const names = statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder).sort() : [];
  const files = names.filter(isAgentFile).map(name => resolve(folder, name));
  if (files.length === 0)
    throw new LoadFailure({ file: folder, reason, cure: "Name an agent file, or put one there" });
  return files;
}

async function matches(pattern: string, cwd: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const name of glob(pattern, { cwd, exclude: ["**/node_modules/**"] })) {
    const path = resolve(cwd, name);
    if (isAgentFile(path) && statSync(path).isFile()) found.push(path);
    if (found.length > FILES_MAX)
      throw new LoadFailure({ file: path, reason: `${pattern} matches too many files` });
  }
  return found.sort();
}

function noMatch(file: string): LoadFailure {
  return new LoadFailure({
    file,
    reason: "No file matches this pattern",
    cure: "Name an existing file, folder or glob (quote a glob, so that the shell leaves it alone)",
  });
}

function missing(file: string): LoadFailure {
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return new LoadFailure({
      file,
      reason: "There is no such file",
      cure: `There is no folder ${folder} either`,
    });
  const meant = hint(basename(file), readdirSync(folder), 2);
  const cure = `Check the spelling${meant}`;
  return new LoadFailure({ file, reason: "There is no such file", cure });
}
