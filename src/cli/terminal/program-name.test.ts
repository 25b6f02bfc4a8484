import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programName } from "./program-name.ts";

let folder: string;
let installed: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-name-")));
  installed = join(folder, "project", "node_modules", "dragoman");
  mkdirSync(installed, { recursive: true });
  mkdirSync(join(folder, "project", "agents"));
  mkdirSync(join(folder, "linked", "node_modules"), { recursive: true });
  mkdirSync(join(folder, "clone", "examples"), { recursive: true });
  symlinkSync(join(folder, "clone"), join(folder, "linked", "node_modules", "dragoman"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const nameIn = (cwd: string, root: string, script = join(root, "bin", "dragoman.cjs")): string =>
  programName({ script, root, cwd: join(folder, cwd) });

test("in a clone, in a project and where a clone is linked, npx finds the program", () => {
  const clone = join(folder, "clone");
  expect(nameIn("clone", clone)).toBe("npx dragoman");
  expect(nameIn("clone/examples", clone)).toBe("npx dragoman");
  expect(nameIn("linked", clone)).toBe("npx dragoman");
  expect(nameIn("project", installed)).toBe("npx dragoman");
  expect(nameIn("project/agents", installed)).toBe("npx dragoman");
});

test("a global installation is started by its name", () => {
  expect(nameIn("", "/usr/lib/node_modules/dragoman", "/usr/bin/dragoman")).toBe("dragoman");
});

test("elsewhere the launcher is started by its path", () => {
  expect(nameIn("", "/opt/my agents/clone")).toBe("node '/opt/my agents/clone/bin/dragoman.cjs'");
  const cache = "/opt/cache/_npx/1/node_modules";
  expect(nameIn("project", `${cache}/dragoman`, `${cache}/.bin/dragoman`)).toBe(
    `node ${cache}/dragoman/bin/dragoman.cjs`,
  );
});
