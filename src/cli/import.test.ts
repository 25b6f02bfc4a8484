import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as importFile from "./commands/import.ts";
import { CLI_LIMITS } from "./limits.ts";
import { run } from "./program.ts";
import { createMemoryTerminal } from "./terminal/memory-terminal.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-import-")));
  writeFileSync(join(folder, "a.json"), JSON.stringify({ model: "ollama/llama3.2", goal: "help" }));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function importFiles(...args: readonly string[]) {
  const parts = { tty: false, answers: [], input: "", cwd: folder, fetch, now: () => 0 };
  const terminal = createMemoryTerminal(parts);
  const code = await run(["import", ...args], [importFile], terminal);
  return { code, ...terminal.written };
}

test("the files and the next steps are printed; all was carried over: 0", async () => {
  const { code, out } = await importFiles("arbiter", "a.json", "--out", "new folder");
  expect(code).toBe(0);
  expect(out).toContain("created dragoman.config.ts\n\nNext:\n  cd 'new folder'\n");
  expect(out).toMatch(/ token create --principal NAME\n {2}\S.* serve\n$/);
  expect(existsSync(join(folder, "new folder/dragoman.config.ts"))).toBe(true);
});

test("what is not carried over is listed, and the exit code is 5", async () => {
  writeFileSync(join(folder, "b.json"), JSON.stringify({ model: "openai/x", brevity: "lite" }));
  const { code, out } = await importFiles("arbiter", "b.json");
  expect(code).toBe(5);
  expect(out).toContain("Not carried over, or changed:\n  agent b: brevity has no counterpart\n");
  expect(out).toContain("export OPENROUTER_API_KEY=…  # the API key of OpenRouter\n");
});

test("files that exist are overwritten only with --force", async () => {
  const config = join(folder, "dragoman.config.ts");
  writeFileSync(config, "mine");
  const { code, err } = await importFiles("arbiter", "a.json");
  expect([code, readFileSync(config, "utf8")]).toEqual([1, "mine"]);
  expect(err).toContain(`${folder} already has dragoman.config.ts: nothing was written.`);
  expect((await importFiles("arbiter", "a.json", "--force")).code).toBe(0);
  expect(readFileSync(config, "utf8")).toContain("// Written by: npx dragoman import arbiter a.json\n");
});

test("--json has files, agents, notes and next steps", async () => {
  const { out } = await importFiles("arbiter", "a.json", "--json");
  expect(JSON.parse(out)).toEqual({
    folder,
    files: ["dragoman.config.ts"],
    agents: ["a"],
    notes: [],
    next: [expect.stringContaining("token create"), expect.stringContaining("serve")],
  });
});

test("bad files and unknown systems are errors, and nothing is written", async () => {
  writeFileSync(join(folder, "large.json"), " ".repeat(CLI_LIMITS.importBytesMax + 1));
  for (const [args, message] of [
    [["arbiter", "missing.json"], "missing.json cannot be read: ENOENT"],
    [["arbiter", "."], ". cannot be read: EISDIR"],
    [["arbiter", "large.json"], "large.json is larger than"],
    [["orloj", "a.json"], "a.json has no resource of orloj.dev/v1"],
    [["nope", "a.json"], "Allowed choices are orloj, arbiter."],
  ] as const) {
    const { code, err } = await importFiles(...args);
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  }
  expect(existsSync(join(folder, "dragoman.config.ts"))).toBe(false);
});
