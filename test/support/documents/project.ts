/** Folders in which the code blocks of the documents are read, as in a project that has installed this package. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../tidy-tree.ts";
import type { Block } from "./blocks.ts";

const { exports } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
};

/** `./dist/index.js` in package.json is src/index.ts here: nothing is built for a test. */
const toSource = (target: string): string => target.replace("./dist/", "./src/").replace(/\.js$/, ".ts");

export const MODULES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(exports).flatMap(([name, target]) =>
    typeof target === "string" ? [] : [[name, toSource(target.default)]],
  ),
);

/** `node_modules` with everything that this repository has, and with this package as `dragoman`. */
export function installInto(folder: string): void {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  for (const name of readdirSync(`${ROOT}node_modules`).filter(
    one => !one.startsWith(".") && one !== "dragoman",
  ))
    symlinkSync(`${ROOT}node_modules/${name}`, join(modules, name));
  const own = join(modules, "dragoman");
  mkdirSync(own);
  symlinkSync(`${ROOT}src`, join(own, "src"));
  symlinkSync(`${ROOT}examples`, join(own, "examples"));
  writeFileSync(
    join(own, "package.json"),
    JSON.stringify({ name: "dragoman", type: "module", exports: MODULES }),
  );
  writeProgram(join(modules, ".bin/dragoman"), `exec '${process.execPath}' '${ROOT}bin/dragoman.cjs' "$@"`);
}

export function writeProgram(file: string, script: string): void {
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

export function writeBlock(folder: string, { file, text }: Pick<Block, "file" | "text">): string {
  const path = join(folder, file as string);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/**
 * A folder of its own for one block: with the block, and with the other files of its page, of which the nearest above
 * counts where a page shows one name twice.
 */
export function writeAlone(folder: string, block: Block, page: readonly Block[]): string {
  const named = page.filter(one => one.file !== undefined && one !== block);
  const before = named.filter(one => one.line < block.line).reverse();
  for (const one of [...before, ...named.filter(other => other.line > block.line)])
    if (!existsSync(join(folder, one.file as string))) writeBlock(folder, one);
  return writeBlock(folder, { ...block, file: block.file ?? "program.ts" });
}
