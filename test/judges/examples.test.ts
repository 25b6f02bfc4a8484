/** The checks of the examples in a project that installed the packed package, and the one that needs Python packages. */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempFolder } from "../support/server.ts";
import { ROOT } from "../support/tidy-tree.ts";
import { packInto } from "./packed.ts";
import { installPython, LANGGRAPH_PACKAGES } from "./python.ts";

const IN_PYTHON = "langgraph-python/check.ts";
const CHECKS = [
  "_check.ts",
  ...readdirSync(join(ROOT, "examples"))
    .filter(name => !name.includes("."))
    .map(name => `${name}/check.ts`),
];

const run = async (file: string, env: Readonly<Record<string, string>> = {}): Promise<string> => {
  const options = { env: { ...process.env, NODE_OPTIONS: "", ...env } };
  return (await promisify(execFile)(process.execPath, [file], options)).stdout;
};

describe("in a project with the packed package", () => {
  let project: ReturnType<typeof tempFolder>;
  beforeAll(() => {
    project = tempFolder();
    const packed = join(project.path, "packed");
    const archive = packInto(packed);
    execFileSync("tar", ["-xf", archive, "-C", packed]);
    // What npm would install beside it is in this repository.
    const modules = join(project.path, "node_modules");
    mkdirSync(modules);
    for (const name of readdirSync(join(ROOT, "node_modules")).filter(one => !one.startsWith(".")))
      symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
    rmSync(join(modules, "dragoman"), { force: true });
    cpSync(join(packed, "package"), join(modules, "dragoman"), { recursive: true });
    writeFileSync(join(project.path, "package.json"), JSON.stringify({ private: true, type: "module" }));
    cpSync(join(modules, "dragoman/examples"), join(project.path, "examples"), { recursive: true });
  });
  afterAll(() => project.remove());

  it.each(CHECKS.filter(check => check !== IN_PYTHON))("%s passes", async check => {
    expect(await run(join(project.path, "examples", check))).toBe("ok\n");
  });
});

const python = installPython("langgraph", LANGGRAPH_PACKAGES);

describe.skipIf(python === undefined)("with packages of Python", () => {
  it(`${IN_PYTHON} passes`, async () => {
    const env = { VIRTUAL_ENV: join(python as string, "../..") };
    expect(await run(join(ROOT, "examples", IN_PYTHON), env)).toBe("ok\n");
  });
});
