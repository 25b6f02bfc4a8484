import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = new URL("../../node_modules/.judges", import.meta.url).pathname;

/** LangGraph for Python, and what the agent of the LangSmith documentation imports. */
export const LANGGRAPH_PACKAGES = ["langgraph==1.2.22", "openai==3.51.0", "aiohttp==3.14.5"];

/**
 * Creates a virtual environment with these packages and returns its Python; undefined, after a loud line, where that is
 * not possible. Tests that need it are then skipped. An environment that exists already is used as it is.
 */
export function installPython(name: string, packages: readonly string[]): string | undefined {
  const folder = join(FOLDER, `python-${name}`);
  const python = join(folder, "bin", "python");
  const marker = join(folder, `installed-${packages.join("+").replaceAll(/[^\w.+=-]/g, "_")}`);
  if (existsSync(marker)) return python;
  mkdirSync(FOLDER, { recursive: true });
  return underLock(`${folder}.lock`, () => {
    if (existsSync(marker)) return python;
    return install(folder, python, packages, marker);
  });
}

function install(
  folder: string,
  python: string,
  packages: readonly string[],
  marker: string,
): string | undefined {
  try {
    rmSync(folder, { recursive: true, force: true });
    execFileSync("python3", ["-m", "venv", folder], { stdio: "pipe", timeout: 400_000 });
    const flags = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    execFileSync(python, [...flags, ...packages], { stdio: "pipe", timeout: 400_000 });
    writeFileSync(marker, "");
    return python;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`SKIPPED: ${packages.join(", ")} could not be installed for Python: ${reason}\n`);
    return undefined;
  }
}

/** Test files of several workers want the same environment at once. */
function underLock<T>(file: string, work: () => T): T {
  for (let tries = 0; tries < 6_000; tries++) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      break;
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
  try {
    return work();
  } finally {
    rmSync(file, { force: true });
  }
}
