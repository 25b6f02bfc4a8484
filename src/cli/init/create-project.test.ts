import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as initFile from "../commands/init.ts";
import { run } from "../program.ts";
import { createMemoryTerminal } from "../terminal/memory-terminal.ts";
import { TEMPLATE_NAMES, TEMPLATES } from "./templates.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-init-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function init(...args: readonly string[]) {
  const terminal = createMemoryTerminal({
    tty: false,
    answers: [],
    input: "",
    cwd: folder,
    fetch,
    now: () => 0,
  });
  const code = await run(["init", ...args], [initFile], terminal);
  return { code, ...terminal.written };
}
const read = (path: string): string => readFileSync(join(folder, path), "utf8");

test.each(TEMPLATE_NAMES)("%s has agent, config, types, a test, README and .gitignore", async template => {
  const { code, out } = await init("my-agent", "--template", template);
  expect(code).toBe(0);
  const files = ["dragoman.config.ts", "tsconfig.json", "test/agent.test.ts", "README.md", ".gitignore"];
  for (const file of [...files, ...Object.keys(TEMPLATES[template].files)]) {
    expect(existsSync(join(folder, "my-agent", file))).toBe(true);
    expect(out).toContain(`created ${file}\n`);
  }
  expect(read("my-agent/README.md")).toMatch(/^# my-agent\n/);
  const manifest = JSON.parse(read("my-agent/package.json"));
  for (const name of TEMPLATES[template].packages) expect(manifest.dependencies[name]).toMatch(/^\d/);
  expect(manifest.dependencies.dragoman).toMatch(/^file:/);
});

test("a manifest that exists keeps its members, and the test of npm init is replaced", async () => {
  const given = {
    name: "mine",
    type: "commonjs",
    scripts: { test: 'echo "Error: no test specified" && exit 1', build: "make" },
    dependencies: { dragoman: "file:../dragoman.tgz", left: "1.0.0" },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(given));
  expect((await init()).code).toBe(0);
  expect(JSON.parse(read("package.json"))).toMatchObject({
    name: "mine",
    type: "module",
    scripts: { build: "make", dev: "dragoman dev", test: 'node --test "test/**/*.test.ts"' },
    dependencies: { dragoman: "file:../dragoman.tgz", left: "1.0.0" },
  });
});

test("files that exist are never overwritten: nothing is written", async () => {
  writeFileSync(join(folder, "README.md"), "mine");
  const { code, err } = await init();
  expect(code).toBe(1);
  expect(err).toContain(`${folder} already has README.md: nothing was written.`);
  expect(read("README.md")).toBe("mine");
  expect(existsSync(join(folder, "package.json"))).toBe(false);
});

test("an unknown template is an error that lists the others", async () => {
  const { code, err } = await init("x", "--template", "nope");
  expect(code).toBe(1);
  expect(err).toContain(`Allowed choices are ${TEMPLATE_NAMES.join(", ")}.`);
});
