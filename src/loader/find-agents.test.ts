import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findAgents } from "./find-agents.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dragoman-find-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("the folder agents is found", () => {
  mkdirSync(join(folder, "agents"));
  writeFileSync(join(folder, "other.ts"), "");
  expect(findAgents(folder)).toBe("agents");
});

test("the examples are served in a folder without programs, and in a clone of this package", () => {
  expect(findAgents(folder)).toBeUndefined();
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["package.json", "README.md", "vitest.config.ts", "dragoman.config.ts", ".env"])
    writeFileSync(join(folder, name), "");
  expect(findAgents(folder)).toBeUndefined();
  expect(findAgents(fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, ""))).toBeUndefined();
});

test("in a folder with programs the user names the agent; a file that may be one is suggested", () => {
  mkdirSync(join(folder, "src"));
  expect(() => findAgents(folder)).toThrow(
    `No agents found in ${folder}: it has no dragoman.config.ts, no langgraph.json and no folder agents/.`,
  );
  writeFileSync(join(folder, "main.py"), "");
  expect(() => findAgents(folder)).toThrow("npx dragoman serve FILE");
  writeFileSync(join(folder, "hello.ts"), "");
  expect(() => findAgents(folder)).toThrow("npx dragoman serve hello.ts");
});
