import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = new URL("../../node_modules/.judges", import.meta.url).pathname;

/**
 * Installs packages into a folder of their own and returns that folder; undefined, after a loud line, where they cannot
 * be installed. Tests that need the packages are then skipped: `describe.skipIf(folder === undefined)`.
 * `packages` are exact, as in `openai@6.1.0`; a folder that holds them already is used as it is.
 */
export function installPackages(name: string, packages: readonly string[]): string | undefined {
  const folder = join(FOLDER, name);
  const marker = join(folder, `installed-${packages.join("+").replaceAll(/[^\w.+@-]/g, "_")}`);
  if (existsSync(marker)) return folder;
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const flags = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
    execFileSync("npm", ["install", ...flags, ...packages], {
      cwd: folder,
      stdio: "pipe",
      timeout: 240_000,
    });
    writeFileSync(marker, "");
    return folder;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`SKIPPED: ${name} could not be installed (${packages.join(", ")}): ${reason}\n`);
    return undefined;
  }
}
