import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Children } from "./children.ts";
import { THIS_TREE } from "./contenders.ts";

/** The tree of `--against`: a folder with a checkout, or a commit that is unpacked into a folder of its own. */
export function openTree(folderOrRef: string, children: Children, parent: string): string {
  if (existsSync(join(folderOrRef, "src/cli/main.ts"))) return resolve(folderOrRef);
  const commit = findCommit(folderOrRef);
  const folder = children.createFolder(parent);
  const archive = git("archive", "--format=tar", commit);
  run("tar", ["-x", "-C", folder], { input: archive });
  installPackages(folder);
  return folder;
}

function findCommit(ref: string): string {
  try {
    return git("rev-parse", "--verify", "--quiet", `${ref}^{commit}`).toString().trim();
  } catch {
    throw new Error(`--against needs a commit, or a folder with a checkout of Dragoman; "${ref}" is neither`);
  }
}

/** The same versions are linked; others are installed, from the registry that npm is configured for. */
function installPackages(folder: string): void {
  const isSame = readLock(folder).equals(readLock(THIS_TREE));
  if (isSame) symlinkSync(join(THIS_TREE, "node_modules"), join(folder, "node_modules"));
  else run("npm", ["ci", "--silent", "--no-audit", "--no-fund"], { cwd: folder });
}

const readLock = (tree: string): Buffer => readFileSync(join(tree, "package-lock.json"));

const git = (...args: string[]): Buffer => run("git", ["-C", THIS_TREE, ...args], {});

/** More than any archive of this repository. */
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024;

function run(program: string, args: string[], options: { input?: Buffer; cwd?: string }): Buffer {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...options,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args[0]} failed: ${stderr}`);
  return stdout;
}
