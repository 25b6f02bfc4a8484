import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findPython } from "./interpreter.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "dragoman-test-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function program(...names: readonly string[]): string {
  const path = join(root, ...names);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  return path;
}
const find = (more: { given?: string; file?: string; variables?: Record<string, string> } = {}) =>
  findPython({
    given: more.given,
    file: more.file ?? join(root, "project", "src", "agent.py"),
    folder: join(root, "project"),
    variables: { PATH: join(root, "bin"), ...more.variables },
  });

describe("the Python of a project", () => {
  test("is the one that the config names: a program, a name on the PATH, or a virtual environment", () => {
    const named = program("project", "env", "bin", "python");
    const other = program("bin", "python3.13");
    expect(find({ given: "./env" })?.argv).toEqual([named]);
    expect(find({ given: "./env/bin/python" })?.argv).toEqual([named]);
    expect(find({ given: "python3.13" })?.argv).toEqual(["python3.13"]);
    expect(find({ given: other })?.argv).toEqual([other]);
    expect(find({ given: "./nothing" })).toBeUndefined();
  });

  test("is that of the active virtual environment, then of one beside the file or above it, up to the config", () => {
    program("bin", "python3");
    program(".venv", "bin", "python");
    expect(find()?.argv).toEqual(["python3"]);
    const inProject = program("project", ".venv", "bin", "python");
    expect(find()?.argv).toEqual([inProject]);
    const beside = program("project", "src", "venv", "bin", "python");
    expect(find()?.argv).toEqual([beside]);
    expect(find({ file: "/elsewhere/agent.py" })?.argv).toEqual([inProject]);
    const active = program("active", "bin", "python");
    expect(find({ variables: { VIRTUAL_ENV: join(root, "active") } })?.argv).toEqual([active]);
  });

  test("is started by uv where there is a lock file of uv", () => {
    const project = join(root, "project");
    program("bin", "python3");
    program("project", ".venv", "bin", "python");
    writeFileSync(join(project, "uv.lock"), "");
    expect(find()?.argv).toEqual([join(project, ".venv", "bin", "python")]);
    program("bin", "uv");
    expect(find()?.argv).toEqual(["uv", "run", "--project", project, "python"]);
    expect(find()?.install("langgraph")).toBe(`uv add --project ${project} langgraph`);
  });

  test("is python3 or python on the PATH, and packages are installed into a virtual environment", () => {
    expect(find()).toBeUndefined();
    program("bin", "python");
    expect(find()?.argv).toEqual(["python"]);
    const install = `cd ${join(root, "project")} && python -m venv .venv && .venv/bin/pip install langgraph`;
    expect(find()?.install("langgraph")).toBe(install);
  });
});
