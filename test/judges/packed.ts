import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/tidy-tree.ts";

/** Builds and packs this package as `npm publish` would, into a folder; returns the archive. */
export function packInto(folder: string): string {
  mkdirSync(folder, { recursive: true });
  execFileSync("npm", ["pack", "--pack-destination", folder, "--loglevel=error"], {
    cwd: ROOT,
    stdio: "pipe",
  });
  const archive = readdirSync(folder).find(name => name.endsWith(".tgz"));
  if (archive === undefined) throw new Error(`npm pack has written no archive into ${folder}`);
  return join(folder, archive);
}
