import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { quoteForShell } from "./terminal.ts";

export interface ProgramPlace {
  /** The script that was started: a link in a folder of programs, the launcher or the sources. */
  readonly script: string;
  /** The folder of this package. */
  readonly root: string;
  readonly cwd: string;
}

/** How the user starts this program again in the same folder, for commands that are shown to be copied. */
export function programName({ script, root, cwd }: ProgramPlace): string {
  if (isFoundByNpx(root, cwd)) return "npx dragoman";
  const isGlobalLink = basename(script).replace(/\.cmd$/, "") === "dragoman" && !isInstalled(script);
  return isGlobalLink ? "dragoman" : `node ${quoteForShell(join(root, "bin", "dragoman.cjs"))}`;
}

/** npx runs the program of the package that it is in, and programs of packages in node_modules of this folder or of one above. */
function isFoundByNpx(root: string, cwd: string): boolean {
  const below = relative(root, cwd);
  if (!isInstalled(root) && below !== ".." && !below.startsWith(`..${sep}`)) return true;
  for (let folder = cwd; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", "dragoman");
    if (existsSync(candidate)) return realpathSync(candidate) === root;
    if (folder === dirname(folder)) return false;
  }
}

const isInstalled = (path: string): boolean => path.split(sep).includes("node_modules");
