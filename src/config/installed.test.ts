import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const SCRIPT = `
import { loadAgents } from "./node_modules/dragoman/dist/loader/load-agents.js";
const { agents } = await loadAgents([], { cwd: process.cwd(), generation: 1 });
process.stdout.write(agents.map(one => one.definition.name).join(" "));
`;

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-installed-")));
  const folder = join(root, "node_modules/dragoman");
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "examples"])
    cpSync(join(REPOSITORY, name), join(folder, name), { recursive: true });
  for (const name of ["zod", "pino", "commander"])
    symlinkSync(join(REPOSITORY, "node_modules", name), join(root, "node_modules", name));
  const build = ["node_modules/.bin/tsc", "-p", "tsconfig.build.json", "--outDir", join(folder, "dist")];
  spawnSync(process.execPath, build, { cwd: REPOSITORY });
});
afterAll(() => rmSync(root, { recursive: true }));

test("the built and installed server finds its examples, although Node strips no types in node_modules", () => {
  const command = ["--input-type=module", "--eval", SCRIPT];
  const child = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
  expect(child.stderr).toBe("");
  expect(child.stdout).toBe("echo booking countdown reporter research slow");
});
