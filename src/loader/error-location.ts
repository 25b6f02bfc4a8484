/** Where in which file something went wrong, from what an error tells. */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isUsers, withoutQuery } from "./module-hooks.ts";

export interface Place {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

export function placeOf(error: unknown, file: string, files: readonly string[]): Place {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  return (
    headPlace(stack) ??
    importPlace(error) ??
    framePlace(stack) ??
    namedPlace(error, files) ??
    (error instanceof SyntaxError ? compiledPlace(files) : undefined) ?? { file }
  );
}

/** A compiler's error begins with `FILE:LINE`, the line, and carets below the place. */
function headPlace(stack: string): Place | undefined {
  const lines = stack.split("\n");
  const head = /^((?:file:|[A-Za-z]:|\/).*):(\d+)$/.exec(lines[0] ?? "");
  if (!head) return undefined;
  const caret = lines.find(line => /^\s*\^+\s*$/.test(line));
  const place = { file: toPath(head[1] as string), line: Number(head[2]) };
  return caret === undefined ? place : { ...place, column: caret.indexOf("^") + 1 };
}

/** The innermost frame that is in a file of the user. */
function framePlace(stack: string): Place | undefined {
  for (const line of stack.split("\n")) {
    const frame = /^\s+at (?:.*\()?(?:async )?((?:file:|[A-Za-z]:\\|\/).*?):(\d+):(\d+)\)?$/.exec(line);
    if (!frame) continue;
    const file = toPath(frame[1] as string);
    if (isUsers(pathToFileURL(file).href)) return { file, line: Number(frame[2]), column: Number(frame[3]) };
  }
  return undefined;
}

/** A module that was not found: the line of the import. */
function importPlace(error: unknown): Place | undefined {
  const message = error instanceof Error ? error.message : "";
  const found = /^Cannot find (?:package|module) '(.+?)'(?: imported from |\nRequire stack:\n- )(.+)/.exec(
    message,
  );
  if (!found) return undefined;
  const [name, file] = [found[1] as string, toPath(found[2] as string)];
  if (!isUsers(pathToFileURL(file).href)) return undefined;
  const isIt = (specifier: string) =>
    specifier === name || specifier.startsWith(`${name}/`) || resolve(dirname(file), specifier) === name;
  for (const [at, text] of linesOf(file).entries()) {
    const specifiers = text.matchAll(/["']([^"']+)["']/g);
    for (const match of specifiers)
      if (isIt(match[1] as string)) return { file, line: at + 1, column: match.index + 1 };
  }
  return { file };
}

/** An error that only names the module that was imported: the line where its name is written. */
function namedPlace(error: unknown, files: readonly string[]): Place | undefined {
  const url = /"(file:[^"]+)"/.exec(error instanceof Error ? error.message : "")?.[1];
  const name = url === undefined ? undefined : toPath(url).split(/[\\/]/).at(-1);
  if (name === undefined) return undefined;
  for (const file of files) {
    const line = lineWith(file, text => text.includes(`${name}"`) || text.includes(`${name}'`));
    if (line !== undefined) return { file, line };
  }
  return undefined;
}

/** The first line of a file that has this. */
export function lineWith(file: string, has: (line: string) => boolean): number | undefined {
  const at = linesOf(file).findIndex(has);
  return at === -1 ? undefined : at + 1;
}

export function linesOf(file: string): readonly string[] {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return [];
  return readFileSync(file, "utf8").split("\n");
}

const COMPILE = `
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { SourceTextModule } from "node:vm";
const file = process.argv[1];
const source = readFileSync(file, "utf8");
new SourceTextModule(/ts$/.test(file) ? stripTypeScriptTypes(source) : source, { identifier: file });`;
const COMPILED_FILES_MAX = 20;
const COMPILE_MS_MAX = 5_000;

/** Some syntax errors come without a place; a process that compiles each file by itself, without running it, prints it. */
function compiledPlace(files: readonly string[]): Place | undefined {
  const flags = ["--no-warnings", "--experimental-vm-modules", "--input-type=module", "--eval", COMPILE];
  for (const file of files.slice(0, COMPILED_FILES_MAX)) {
    const options = { encoding: "utf8", timeout: COMPILE_MS_MAX } as const;
    const place = headPlace(spawnSync(process.execPath, [...flags, file], options).stderr ?? "");
    if (place?.file === file) return place;
  }
  return undefined;
}

const toPath = (name: string): string => {
  const path = withoutQuery(name);
  return path.startsWith("file:") ? fileURLToPath(path) : path;
};
